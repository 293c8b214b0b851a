"""A head on [CLS] fine-tuned on people's scores, on years that it has not seen, as BERTHA was tried.

``python -m benchmarks.learned_metric DATASET WORK --encoder ENCODER --train YEAR... --test YEAR...`` trains on the
captions that several people judged (or ``--kind single``) of some years of a build of ``trecvid-vtt``, and prints
Pearson's r with people, of captions and of systems, on the other years, beside that of the plain similarity of the same
encoder and of metrics of words. The metric is written into WORK, and a run that was cut off goes on there.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from vttdata.evaluate.evaluation import load_metrics
from vttdata.evaluate.learned.pair_model import HEAD
from vttdata.evaluate.learned.training import JudgedCaptions, TrainingSettings, train_metric
from vttdata.evaluate.meta.agreement import METRIC_DRAWS
from vttdata.evaluate.meta.comparison import compare_set, score_metrics
from vttdata.evaluate.meta.fusion import year_of
from vttdata.evaluate.meta.inputs import read_inputs
from vttdata.evaluate.metric import MetricInputs

METRICS = ("learned", "sentence-similarity", "bleu", "rouge-l", "cider-d", "chrf")
COLUMNS = ("learned", "sentence-similarity", "bleu4", "rouge-l", "cider-d", "chrf")


class Agreement(NamedTuple):
    """Agreement with people on one set: r of each column over captions, its interval, and over systems.

    `p` is that of Williams' test of the learned metric being better than the plain similarity, over captions.
    """

    name: str
    captions: int
    r: dict[str, tuple[float, float | None, float | None]]
    r_of_systems: dict[str, float]
    p: float


def try_on_years(
    dataset: str, work: Path, encoder: str, train: Sequence[str], test: Sequence[str], kind: str, epochs: int
) -> Iterator[Agreement]:
    """Train on some years, unless that was done in `work` before, and yield the agreement on each of the others."""
    # Most captions of systems are not judged, and a model takes its time for each.
    judged = (table.without((), people=True) for table in read_inputs([dataset]).judgments)
    tables = {year_of(table.name): table.select(table.judged) for table in judged if table.name.endswith(kind)}
    if not (work / HEAD).exists():
        settings = TrainingSettings(encoder=encoder, cross_encoder=True, epochs=epochs)
        train_metric([JudgedCaptions.of(tables[year]) for year in train], [], work, settings)
    models = {"learned": str(work), "sentence-similarity": encoder}
    families = load_metrics(METRICS, "ptb-3.4.1", work / "cache", MetricInputs(models=models), {})
    for year in test:
        columns = {name: of for name, of in score_metrics(tables[year], families, {}).items() if name in COLUMNS}
        report = compare_set(tables[year], columns, seed=0, draws=METRIC_DRAWS, cache=work / "cache")
        levels = {name: agreement.human[report.headline.human] for name, agreement in report.metrics.items()}
        by_caption = {name: of["caption"]["pearson"] for name, of in levels.items()}
        yield Agreement(
            report.name,
            report.captions,
            {name: (found.score, found.low, found.high) for name, found in by_caption.items()},
            {name: of["system"]["pearson"].score for name, of in levels.items()},
            report.williams["caption"]["learned"]["sentence-similarity"],
        )


def main() -> None:
    """Train, compare and print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset")
    parser.add_argument("work", type=Path)
    parser.add_argument("--encoder", required=True)
    parser.add_argument("--train", nargs="+", required=True, metavar="YEAR")
    parser.add_argument("--test", nargs="+", required=True, metavar="YEAR")
    parser.add_argument("--kind", choices=["multiple", "single"], default="multiple")
    parser.add_argument("--epochs", type=int, default=2)
    options = parser.parse_args()
    print(f"| judged | captions | {' | '.join(COLUMNS)} | p (Williams) |\n|---|--:|{'--:|' * (len(COLUMNS) + 1)}")
    for found in try_on_years(**vars(options)):
        cells = []
        for name in COLUMNS:
            r, low, high = found.r[name]
            interval = "" if low is None or high is None else f" ({low:.3f}-{high:.3f})"
            cells.append(f"{r:.3f}{interval}, {found.r_of_systems[name]:.3f}")
        print(f"| {found.name} | {found.captions:,} | {' | '.join(cells)} | {found.p:.3g} |", flush=True)


if __name__ == "__main__":
    main()
