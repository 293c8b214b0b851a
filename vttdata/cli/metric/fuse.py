"""Fuse metrics linearly (``vttdata metric fuse``)."""

from __future__ import annotations

from pathlib import Path

import click

from vttdata.cli.exit_codes import DONE
from vttdata.cli.options import (
    Command,
    human_option,
    json_option,
    judgments_argument,
    metric_inputs_options,
    metric_option,
    read_metric_inputs,
    scores_option,
    seed_option,
)
from vttdata.cli.terminal import print_result
from vttdata.errors import VttdataError


@click.command(
    "fuse",
    cls=Command,
    notes=[
        "A set of judgments is of the year in its name. The gain is that over the single metric which agrees best on "
        "the tested set; published coefficients are those of Lebron et al. (LREC 2022)."
    ],
    examples=[
        "vttdata metric fuse vttdata/trecvid-vtt",
        "vttdata metric fuse vttdata/trecvid-vtt --metric cider-d --metric sentence-similarity --scores ours.csv",
    ],
)
@judgments_argument
@metric_option(
    "A column of a captioning metric, such as bleu4; may be repeated.",
    show_default="bleu4, cider-d, meteor and rouge-l",
)
@scores_option
@json_option
@human_option
@seed_option("Seed of the draws of videos.")
@metric_inputs_options
def command(
    judgments: tuple[str, ...],
    metrics: tuple[str, ...],
    scores: tuple[Path, ...],
    as_json: bool,
    human: bool,
    seed: int,
    **options: object,
) -> int:
    """Join metrics into one by linear regression on people's scores.

    The fusion is tried on other years. Coefficients have intervals over videos and stand beside the published ones.
    """
    from vttdata.evaluate.meta.fusion import METRICS, fuse_metrics, score_columns, select_scored
    from vttdata.evaluate.meta.inputs import read_inputs

    columns = metrics or (() if scores else METRICS)
    inputs = read_metric_inputs(options)
    sets = []
    for table in read_inputs(judgments).judgments:
        counted = table.without((), people=not human)
        scored = score_columns(counted, columns, scores, inputs)
        sets.append(select_scored(counted, scored, list(scored), seed=seed))
    if not sets:
        raise VttdataError("A fusion is fitted on judgments by people, and there are none.")
    fusion = fuse_metrics(sets, list(scored))
    print_result(fusion.as_json(), fusion.sections(), as_json=as_json)
    return DONE
