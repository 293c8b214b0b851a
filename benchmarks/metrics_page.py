"""Write the tables of docs/metrics.md and its picture: metrics against people, and against altered captions.

Run `python benchmarks/metrics_page.py FLICKR8K [--metric NAME]... [--scores FILE]...` after the datasets were built:

    vttdata build trecvid-vtt
    vttdata build activitynet-foil
    vttdata build msrvtt-degraded

FLICKR8K is the folder with ExpertAnnotations.txt, CrowdFlowerAnnotations.txt and Flickr8k.token.txt. Scores and results
are kept in VTTDATA_HOME, so that a second run takes seconds. Of each set the page has the table of one score by people;
`vttdata metric test --out` writes the report with all tables.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from vttdata.evaluate.meta import ComparisonSettings, evaluate_metrics
from vttdata.evaluate.meta.judgments import EXPERT

DOCS = Path(__file__).resolve().parents[1] / "docs"
DATASETS = ("vttdata/trecvid-vtt", "FLICKR8K", "vttdata/activitynet-foil", "vttdata/msrvtt-degraded")
METRICS = ("bleu1", "bleu4", "rouge-l", "cider-d", "chrf", "meteor")
# Twenty choices of Flickr8k's references take METEOR's program hours.
CURVE_METRICS = ("bleu4", "rouge-l", "cider-d")

# Raw scores are left out where there are z-scores.
_OMITTED = re.compile(
    r"^#### (?:Williams' test|Alignment|Agreement with raw scores(?=[^#]*^#### Agreement with z))[^#]*", re.MULTILINE
)
_REPORT = re.compile(r"(<!-- report -->\n).*?(<!-- end -->)", re.DOTALL)


def main() -> None:
    """Compute the report, and put it into the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("flickr8k", help="folder of Flickr8k's judgments and captions")
    parser.add_argument("--metric", action="append", default=[], help="instead of the usual ones; may be repeated")
    parser.add_argument("--scores", action="append", default=[], help="anybody's scores; may be repeated")
    options = parser.parse_args()
    sources = [options.flickr8k if name == "FLICKR8K" else name for name in DATASETS]
    report = evaluate_metrics(sources, options.metric or METRICS, options.scores)
    experts = Path(options.flickr8k) / EXPERT
    curves = evaluate_metrics([DATASETS[0], experts], CURVE_METRICS, settings=ComparisonSettings(curve=True))
    references = {found.name: found.references for found in curves.sets}
    for found in report.sets:
        found.references.update(references.get(found.name, {}))
    page = DOCS / "metrics.md"
    text = page.read_text(encoding="utf-8")
    tables = _OMITTED.sub("", report.as_markdown(depth=3))
    page.write_text(_REPORT.sub(lambda match: f"{match[1]}\n{tables}\n{match[2]}", text), encoding="utf-8")
    (DOCS / "metrics.svg").write_text(report.as_svg(), encoding="utf-8")


if __name__ == "__main__":
    main()
