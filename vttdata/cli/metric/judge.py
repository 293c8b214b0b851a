"""Correct the scores of a judge by people's ratings (``vttdata metric judge``)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vttdata.cli.exit_codes import DONE
from vttdata.cli.options import (
    DATASET,
    FILE,
    Command,
    argument,
    json_option,
    judgment_options,
    metric_inputs_options,
    metric_option,
    option,
    out_option,
    read_metric_inputs,
    seed_option,
)
from vttdata.cli.terminal import print_result
from vttdata.errors import VttdataError

if TYPE_CHECKING:
    from vttdata.evaluate.meta.next_round import NextRound


@click.command(
    "judge",
    cls=Command,
    notes=[
        "The estimate of a system's mean is that of people's ratings, moved by the judge's mean over all captions less "
        "that over the rated ones, as strongly as makes its interval shortest (prediction-powered inference): a judge "
        "of any quality and scale leaves it unbiased where the rated captions are a random part of the system's. "
        "Differences are paired by video. A system needs 20 rated captions for an interval.",
        "A table of verdicts has the columns item (or video_id), system, score, judge, revision, prompt_digest and "
        "date, and if known repeat, position and caption. A revision fixes the model: a date, a version or a digest; "
        "'latest' and bare names are refused.",
        "With --assign the JUDGMENTS are rounds of one campaign, each of captions that were drawn from all: they are "
        "pooled, and FILE gets the captions of the next round, most of systems whose order is not decided yet. Without "
        "JUDGMENTS it gets the first round's. 'vttdata people make rate-scale FILE' asks people. With a chance of 5 % "
        "in all, however often one looks, a pair of equal systems is taken for decided.",
        "Controls need no people: --make-controls writes controls.csv, which the judge scores (item is the control's "
        "id, system is empty), and the key to it; then DIR is one of the JUDGMENTS.",
    ],
    examples=[
        "vttdata metric judge vttdata/trecvid-vtt --verdicts verdicts.csv --out judged",
        "vttdata metric judge scores --candidates campaign/manifest.csv --references vttdata/msrvtt --metric cider-d",
        "vttdata metric judge --verdicts verdicts.csv --assign round1.csv",
        "vttdata metric judge scores1 scores2 --verdicts verdicts.csv --assign round3.csv --number 300",
        "vttdata metric judge vttdata/msrvtt-degraded --make-controls controls",
        "vttdata metric judge controls scores --verdicts verdicts.csv",
    ],
)
@argument(
    "judgments",
    "[JUDGMENTS]...",
    "Sets of judgments, as of 'metric test', and folders of controls.",
    type=DATASET,
    nargs=-1,
)
@option("--verdicts FILE", "Verdicts of a judge.", type=FILE)
@metric_option("A captioning metric that is the judge; may be repeated.", show_default="none")
@out_option("Write judge.json and judge.md into this folder.", required=False)
@json_option
@option(
    "--target population|items",
    "Means over videos like these, of which the captions' are a sample, or over exactly these captions.",
    type=click.Choice(["population", "items"]),
    default="population",
)
@option("--assign FILE", "Write the captions that people should rate next into this table.", type=FILE)
@option("--number N", "Captions of a round, of all systems.", type=click.IntRange(min=2), default=300)
@option("--make-controls DIR", "Write controls of a dataset for a judge into this folder, and stop.", type=FILE)
@seed_option("Seed of the order of controls, and of the draws of videos.")
@judgment_options("The split of a dataset for controls.")
@metric_inputs_options
def command(
    judgments: tuple[str, ...], out: Path | None, as_json: bool, make_controls: Path | None, **options: Any
) -> int:
    """Estimate what people would say of systems from a judge's scores of all captions and people's of some.

    Says of each system the judge's mean, people's and the corrected one with intervals, which share of ratings that
    takes, and how far judge and people agree; ranks systems; and checks a judge by itself: controls, the same captions
    again, places and lengths.
    """
    from vttdata.evaluate.meta.comparison import ComparisonSettings
    from vttdata.evaluate.meta.judging import JUDGED, judge_systems
    from vttdata.evaluate.meta.next_round import NextRound
    from vttdata.evaluate.report import check_folder

    if make_controls is not None:
        if not judgments:
            raise VttdataError("Name the dataset of which controls are made.")
        _make_controls(judgments, make_controls, split=options["split"], seed=options["seed"])
        return DONE
    if out is not None:
        check_folder(out, JUDGED)
    file, number = options.pop("assign"), options.pop("number")
    next_round = None if file is None else NextRound(file, number, options["seed"])
    if not judgments:
        print(_begin(next_round, options["verdicts"], options["candidates"]))
        return DONE
    inputs = read_metric_inputs(options)
    given = {name: options.pop(name) for name in ("verdicts", "metrics", "target", "candidates", "references")}
    report = judge_systems(
        judgments, **given, settings=ComparisonSettings(inputs=inputs, **options), next_round=next_round
    )
    if out is not None:
        report.write(out)
    print_result(report.as_json(), report.sections(), as_json=as_json)
    return DONE


def _begin(next_round: NextRound | None, verdicts: Path | None, candidates: Path | None) -> str:
    from vttdata.evaluate.meta.inputs import read_candidates
    from vttdata.evaluate.meta.next_round import captions_of
    from vttdata.evaluate.meta.verdicts import read_judges

    if next_round is None:
        raise VttdataError("Name sets of judgments; a first round of captions for people is written by --assign.")
    if candidates is not None:
        return next_round.begin(read_candidates(candidates))
    if verdicts is None:
        raise VttdataError("A first round is drawn from the captions of --candidates or --verdicts; name one of them.")
    judges = read_judges(verdicts)
    fixed = "".join(f" Keep the verdicts of {judge.name} as they are: {judge.digest()}." for judge in judges)
    return next_round.begin(captions_of(judges, verdicts)) + fixed


def _make_controls(judgments: tuple[str, ...], out: Path, *, split: str | None, seed: int) -> None:
    from vttdata.evaluate.meta.controls import CONTROLS, KEY, make_controls
    from vttdata.load.lookup import find_dataset

    if len(judgments) > 1:
        raise VttdataError("Controls are made of one dataset.")
    counts = make_controls(find_dataset(judgments[0]), out, split=split, seed=seed)
    pairs = ", ".join(f"{test} {number:,}" for test, number in counts.items())
    print(f"{out / CONTROLS} is for the judge, {out / KEY} for you alone; pairs: {pairs}.")
