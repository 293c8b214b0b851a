"""Score predictions on a dataset (``vttdata evaluate``)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click

from vttdata.cli.exit_codes import DONE
from vttdata.cli.options import (
    FILE,
    Command,
    Names,
    argument,
    columns_option,
    config_option,
    dataset_argument,
    json_option,
    metric_inputs_options,
    metric_option,
    option,
    read_metric_inputs,
    seed_option,
    split_option,
)
from vttdata.cli.terminal import print_result
from vttdata.errors import VttdataError
from vttdata.evaluate.conventions import MEANINGS, meanings
from vttdata.files.output_file import HTML, check_output_file, write_whole


@click.command(
    "evaluate",
    cls=Command,
    notes=[
        "Predictions are matched with exactly the items of the split: missing, doubled and unknown ones are refused "
        "with their first ids. Intervals resample whole sources, since clips of one video are not independent. The "
        "signature in the last line names everything that a score depends on; state it beside the score.",
        "Names of scores: " + " ".join(meanings(MEANINGS)).replace("`", "'"),
    ],
    examples=[
        "vttdata evaluate vttdata/msrvtt captions.json",
        "vttdata evaluate vttdata/msrvtt similarity.npz --train-split train --against other.npz",
        "vttdata evaluate vttdata/activitynet-foil scores.csv",
        "vttdata evaluate vttdata/charades-sta spans.csv --task grounding",
        "vttdata evaluate vttdata/tempcompass answers.json --config questions/yes_no --rules tempcompass-1",
        "vttdata evaluate vttdata/tempcompass answers.csv --columns question_id=key --columns prediction=says",
        "vttdata evaluate vttdata/msrvtt --baseline category-caption",
        "vttdata evaluate vttdata/tempcompass --conditions answers --out gains",
    ],
)
@dataset_argument
@argument(
    "predictions",
    "[PREDICTIONS]",
    "Captions: COCO results (JSON), JSON lines, CSV or TSV with video_id and caption. Retrieval: .npz with similarity "
    "(queries x videos), query_ids and video_ids, or a TREC run. Foils: a table with foil_id, true_score and "
    "foil_score, or foil_id and preferred (true, foil, tie). Grounding: a table with video_id, start and end. Dense "
    "captioning: the challenge's JSON, or a table with video_id, start, end and sentence. "
    "Questions: a table with question_id (or video_id and question) and prediction, or a folder of such files.",
    type=FILE,
    required=False,
)
@option(
    "--task NAME",
    "What the predictions are: captioning, dense-captioning, detailed-captions, retrieval, foils, grounding, moments, "
    "questions or open-answers.",
    type=Names("task", "vttdata.evaluate.tasks:TASKS.files"),
    show_default="by the dataset and the file",
)
@split_option("The split whose items are scored.", show_default="test, or the only one")
@config_option(
    "clips, or a protocol; of a set of foils foils or paragraphs; questions, or questions/KIND.",
    show_default="clips; foils of a set of foils; questions of a dataset of them",
)
@metric_option(
    "A metric, or one of its columns, such as bleu4 or t2v/r@1; may be repeated.",
    show_default="bleu, rouge-l, cider-d and chrf; all of other tasks",
)
@option(
    "--against OTHER",
    "Predictions of another system, or a baseline: report differences with intervals and tests; or the folder of an "
    "earlier evaluation, for intervals alone.",
)
@option(
    "--train-split NAME",
    "What the system was trained on: a split, another benchmark or dataset, or a file of ids or URLs; may be repeated. "
    "Scores are given apart for leaked items, which share a source, time or pictures with it, and clean ones.",
    multiple=True,
)
@option(
    "--baseline NAME",
    "Score a baseline instead of a file.",
    type=Names("baseline", "vttdata.evaluate.baselines:BASELINES.files"),
)
@option(
    "--conditions DIR",
    "Instead of PREDICTIONS: those of a model in several conditions, a file for each, such as first.jsonl, or a folder "
    "for each model; may be repeated.",
    type=FILE,
    multiple=True,
    group="Conditions",
)
@option(
    "--stimuli DIR",
    "What 'vttdata stimuli' wrote: the page shows it; without --conditions, the built-in observers answer from it.",
    type=FILE,
    group="Conditions",
)
@option("--human", "Score the human captions too, each against the others of its clip.", is_flag=True)
@option("--out DIR", "Write evaluation.json and the values of all items into this folder.", type=FILE)
@option("--page FILE", "Write the scores, and the best and worst items, as a page for the browser (.html).", type=FILE)
@json_option
@option("--all", "Print the scores that few read, too, such as the nDCG of retrieval.", name="every", is_flag=True)
@option(
    "--missing",
    "Refuse missing predictions, or score them at the bottom.",
    type=click.Choice(["refuse", "worst"]),
    default="refuse",
    group="Items",
)
@option(
    "--unknown",
    "Refuse predictions about other items, or leave them out.",
    type=click.Choice(["refuse", "ignore"]),
    default="refuse",
    group="Items",
)
@option(
    "--relevance FILE",
    "Of retrieval: judgments of relevance in TREC's format (query 0 video relevance).",
    type=FILE,
    group="Items",
)
@option(
    "--rules NAME",
    "Of questions: the rules that read answers in free text, such as tempcompass-1 or first-word-1.",
    type=Names("rules", "vttdata.evaluate.answers:RULES.keys"),
    show_default="standard-2",
    group="Items",
)
@option(
    "--permuted FILE",
    "Of questions: answers to the same questions with their options in another order, which the column options says; "
    "reports agreement and circular accuracy; may be repeated.",
    type=FILE,
    multiple=True,
    group="Items",
)
@option(
    "--errata FILE",
    "Of questions: errors that 'vttdata audit --errata' wrote; accuracy-without-errata leaves the questions out.",
    type=FILE,
    group="Items",
)
@option(
    "--strip",
    "Of captioning: strip captions of reasoning (<think>), special tokens and a prompt that all of them repeat.",
    is_flag=True,
    group="Items",
)
@columns_option("tables of predictions")
@option(
    "--tokenizer NAME",
    "Of captioning metrics: ptb-3.4.1, unicode or none.",
    show_default="ptb-3.4.1 for English, else unicode",
    group="Computation",
)
@seed_option("Seed of the resampling.")
@metric_inputs_options
def command(
    dataset: str,
    predictions: Path | None,
    baseline: str | None,
    out: Path | None,
    page: Path | None,
    as_json: bool,
    every: bool,
    conditions: tuple[Path, ...],
    stimuli: Path | None,
    **options: Any,
) -> int:
    """Score captions, rankings, foil choices, spans or answers.

    Captioning, retrieval, telling true captions from foils, temporal grounding, or questions, on exactly the items of
    the benchmark; with intervals, differences to another system, scores of items that leak from training, and tables by
    category and length; of questions with what is reachable without videos. With --conditions, what the video adds to
    text, to one frame and to frames out of order.
    """
    from vttdata.evaluate.evaluation import EvaluationSettings, evaluate
    from vttdata.evaluate.report import check_folder

    if page is not None:
        check_output_file(page, HTML)
    if conditions or stimuli is not None:
        if predictions is not None or baseline is not None:
            raise VttdataError("--conditions and --stimuli take the place of PREDICTIONS and --baseline.")
        outputs = Outputs(out, page, as_json)
        return evaluate_by_condition(dataset, conditions, stimuli, outputs, options)
    if (predictions is None) == (baseline is None):
        raise VttdataError("Give either a file of predictions or --baseline NAME.")
    if out is not None:
        check_folder(out)
    inputs = read_metric_inputs(options)
    selection = {name: options.pop(name) for name in ("split", "metrics", "against", "train_split")}
    settings = EvaluationSettings(inputs=inputs, **options)
    report = evaluate(dataset, predictions, baseline=baseline, settings=settings, **selection)
    shown = report if every or selection["metrics"] else report.read_first
    if out is not None:
        report.write(out)
    if page is not None:
        from vttdata.load.lookup import find_dataset
        from vttdata.report.evaluation_report import evaluation_page

        write_whole(page, evaluation_page(shown, find_dataset(dataset), inputs.videos))
    print_result(report.as_json(), shown.sections(), as_json=as_json)
    return DONE


class Outputs(NamedTuple):
    """Where a report goes: a folder, a page, and whether it is printed as JSON."""

    out: Path | None
    page: Path | None
    as_json: bool


def evaluate_by_condition(
    dataset: str,
    folders: Sequence[Path],
    stimuli: Path | None,
    outputs: Outputs,
    options: dict[str, Any],
) -> int:
    """Score predictions in several conditions, or those of the built-in observers.

    `options` are those of the command.
    """
    from vttdata.dataset.stimuli import read_conditions
    from vttdata.evaluate.conditions import FOLDER, evaluate_conditions
    from vttdata.evaluate.evaluation import EvaluationSettings
    from vttdata.evaluate.report import check_folder
    from vttdata.load.lookup import find_dataset

    inputs = read_metric_inputs(options)
    unused = {"against": None, "train_split": (), "human": False, "permuted": (), "missing": "refuse"}
    for name, default in unused.items():
        if options.pop(name) not in (default, None):
            option_name = name.replace("_", "-")
            raise VttdataError(
                f"--{option_name} is not for scores by condition; items without predictions are left out."
            )
    if outputs.out is not None:
        check_folder(outputs.out, FOLDER)
    if stimuli is not None:
        read_conditions(stimuli)
    folder, split, metrics = find_dataset(dataset), options.pop("split"), options.pop("metrics")
    settings = EvaluationSettings(inputs=inputs, **options)
    chosen = {"split": split, "metrics": metrics, "settings": settings}
    if folders:
        report = evaluate_conditions(folder, folders, **chosen)
    else:
        from vttdata.evaluate.observers import observe_conditions

        assert stimuli is not None
        report = observe_conditions(folder, stimuli, **chosen)
    if outputs.out is not None:
        report.write(outputs.out)
    if outputs.page is not None:
        from vttdata.report.conditions_page import conditions_page

        write_whole(outputs.page, conditions_page(report, stimuli))
    print_result(report.as_json(), report.sections(), as_json=outputs.as_json)
    return DONE
