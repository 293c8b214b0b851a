"""Compare metrics with people (``vttdata metric test``)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click

from vttdata.cli.exit_codes import DONE
from vttdata.cli.options import (
    DATASET,
    POSITIVE,
    Command,
    argument,
    columns_option,
    json_option,
    judgment_options,
    metric_inputs_options,
    metric_option,
    option,
    out_option,
    quiet_option,
    read_metric_inputs,
    scores_option,
    seed_option,
)
from vttdata.cli.terminal import print_result


def parse_scale(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[float, float] | None:
    """Return the ends of a scale such as ``1-5``."""
    if value is None:
        return None
    match = re.fullmatch(r"(\d{1,6}(?:\.\d{1,6})?)-(\d{1,6}(?:\.\d{1,6})?)", value, re.ASCII)
    if match is None or float(match[1]) >= float(match[2]):
        raise click.BadParameter(f"{value[:40]!a} is not a scale such as 1-5.", context, parameter)
    return float(match[1]), float(match[2])


@click.command(
    "test",
    cls=Command,
    notes=[
        "A table of judgments has the columns video_id (or item) and score, and if known system, candidate, "
        "annotator, z and references. Whether ids lead to the captions that were judged is checked where neighbouring "
        "captions are known. Scores and results are kept by content, so that a second run takes seconds; intervals "
        "draw whole videos, and systems are as they are."
    ],
    examples=[
        "vttdata metric test vttdata/trecvid-vtt --metric cider-d --metric meteor --out metrics",
        "vttdata metric test judgments.csv --scores ours.csv",
        "vttdata metric test vatex-eval --drift 1-5",
        "vttdata metric test flickr8k vttdata/activitynet-foil vttdata/msrvtt-degraded --metric bleu4",
        "vttdata metric test scores --candidates campaign/manifest.csv --references vttdata/msrvtt",
    ],
)
@argument(
    "judgments",
    "JUDGMENTS...",
    "Of each set: a dataset with judgments, a folder of 'people score', Flickr8k's folder with its judgments, or a "
    "table. A set of foils, or a dataset with captions, tests metrics without people: they should prefer true "
    "captions to foils, degraded, doubled and cut captions, and those of other videos.",
    type=DATASET,
    nargs=-1,
    required=True,
)
@metric_option(
    "A captioning metric, or one of its columns, such as bleu4; may be repeated.",
    show_default="bleu, rouge-l, cider-d and chrf without --scores",
)
@scores_option
@columns_option("tables of judgments, scores, candidates and references")
@out_option("Write metrics.json, metrics.md and metrics.svg into this folder.", required=False)
@json_option
@seed_option("Seed of the draws of videos.")
@option("--curve", "Measure agreement with fewer references, too.", is_flag=True)
@option(
    "--drift LOW-HIGH",
    "Measure agreement on five sets of drifting quality, too; LOW and HIGH are the ends of people's scale, such as "
    "1-5 or 0-100.",
    callback=parse_scale,
)
@judgment_options("The split of a dataset without judgments.")
@option("--draws N", "Number of draws for intervals.", type=POSITIVE, default=1000, group="Computation")
@metric_inputs_options
@quiet_option
def command(judgments: tuple[str, ...], out: Path | None, as_json: bool, quiet: bool, **options: Any) -> int:
    """Compare caption metrics, yours too, with people's scores.

    Pearson, Spearman and Kendall (tau-b, tau-c) over all captions, within videos, within systems and over systems, of
    raw and standardised scores; pairwise accuracy with ties; Williams' tests; a ranking over sets; and how often a
    metric prefers a true caption to one that was made worse.
    """
    from vttdata.evaluate.meta import ComparisonSettings, evaluate_metrics
    from vttdata.evaluate.meta.metric_report import COMPARISON
    from vttdata.evaluate.report import check_folder
    from vttdata.pipeline.progress import BuildProgress, Progress

    if out is not None:
        check_folder(out, COMPARISON)
    inputs = read_metric_inputs(options)
    files = {name: options.pop(name) for name in ("metrics", "scores", "candidates", "references")}

    def count(steps: int) -> Progress:
        return Progress("metrics and sets", steps, BuildProgress(quiet=quiet))

    settings = ComparisonSettings(inputs=inputs, progress=count, **options)
    report = evaluate_metrics(judgments, **files, settings=settings)
    if out is not None:
        report.write(out)
    print_result(report.as_json(), report.sections(), as_json=as_json)
    return DONE
