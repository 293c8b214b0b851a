"""What the video adds: scores of the same items in several conditions, and differences that are paired by item.

Conditions are those of `vttdata.conditions.CONDITIONS`. The gain over the best single frame is the least of the
differences to each single frame, see `Estimate.of_minimum`. Of frames that are equally good one is best by chance, so
that the gain itself is low by some standard error, and its interval is not. In simulations (`benchmarks/null.py`), a
frame that is chosen on the other sources, or anew in each draw of sources, has intervals that are too short.
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from vttdata.conditions import CONDITIONS, SINGLE_FRAMES
from vttdata.dataset.protocol_file import Protocol
from vttdata.errors import VttdataError, list_choices
from vttdata.evaluate.columns import ScoreColumn
from vttdata.evaluate.estimates import Estimator
from vttdata.evaluate.evaluation import EvaluationSettings, prepare_scoring, signature_of
from vttdata.evaluate.items import Items
from vttdata.evaluate.predictions import ItemCounts, Matched, MatchRule
from vttdata.evaluate.report import Estimate, plain_values, replace_report, report_folder
from vttdata.evaluate.task import EvaluationTask, Scoring, guess_task, load_evaluation_task
from vttdata.files.results import Bar, Bars, Result, ResultColumn, ResultTable, Section
from vttdata.json_types import JsonObject
from vttdata.statistics.arrays import Flags
from vttdata.statistics.scores import ColumnScores

BEST_FRAME = "best frame"
"""Condition of the best single frame."""

GAINS: Mapping[str, tuple[str, str]] = {
    "visual": ("all", "text"),
    "temporal": ("muted", BEST_FRAME),
    "order": ("muted", "shuffled"),
    "direction": ("muted", "reversed"),
    "motion": ("muted", "frozen"),
    "sound": ("all", "muted"),
    "own video": ("all", "other"),
    "visual, of frames": ("frames", "text"),
    "temporal, of frames": ("frames", BEST_FRAME),
    "order, of frames": ("frames", "shuffled-frames"),
    "direction, of frames": ("frames", "reversed-frames"),
}
"""Gain -> the two conditions whose difference it is; ``all`` stands for ``muted`` where there is no such prediction."""

NEEDING_VIDEO, NEEDING_TIME = "items-needing-video", "items-needing-time"
_FALSE_SHARE = 0.05
_REPORT, _ITEMS = "conditions.json", "items.jsonl"
FOLDER = report_folder("scores by condition", _REPORT, _ITEMS, f"{NEEDING_VIDEO}.json", f"{NEEDING_TIME}.json")

Columns = Mapping[str, ScoreColumn]


@dataclass(frozen=True, slots=True)
class ModelScores:
    """Scores of one model.

    Fields:
        scores: condition -> score.
        gains: gain -> difference, on the items that both of its conditions have.
        groups: grouping, such as ``type`` -> group -> gain -> difference.
    """

    scores: Mapping[str, Estimate]
    gains: Mapping[str, Estimate]
    groups: Mapping[str, Mapping[str, Mapping[str, Estimate]]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ConditionsReport(Result):
    """Scores by condition of one or several models.

    Fields:
        dataset, version, config, split, task: what was scored.
        metric: column of the scores.
        signature: one line that names all that scores depend on.
        models: name -> scores.
        filters: name of a list -> items that need the video, or more than one frame; see `find_needing`.
        by_chance: name of a list -> number of items that would be on it if all models guessed; only where that is
            known.
        findings: sentences on what a reader of the scores should know.
        columns: model -> condition -> values of all items.
        items: what was predicted for.
    """

    dataset: str
    version: str
    config: str
    split: str
    task: str
    metric: str
    signature: str
    models: Mapping[str, ModelScores]
    filters: Mapping[str, Protocol]
    by_chance: Mapping[str, float]
    findings: Sequence[str]
    columns: Mapping[str, Columns] = field(repr=False)
    items: Items = field(repr=False)

    def as_json(self) -> JsonObject:
        """Return plain values, without those of single items; NaN is None."""
        names = [item.name for item in dataclasses.fields(self) if item.name not in ("columns", "items", "filters")]
        plain: JsonObject = plain_values({name: getattr(self, name) for name in names})
        filters = {
            name: {"items": len(found.splits[self.split]), "of": len(self.items.ids), "protocol": found.label}
            for name, found in self.filters.items()
        }
        return plain | {"filters": filters}

    def sections(self) -> Iterator[Section]:
        """Yield the scores and gains of each model, then the lists of items, and what a reader should know."""
        head = f"{self.dataset} {self.version}, {self.task} on {self.config}/{self.split}: {self.metric} by condition"
        yield Section(
            "Scores by condition", [f"{head}, {len(self.items.ids):,} items of {len(self.items.source_ids):,} sources."]
        )
        for name, model in self.models.items():
            rows: list[list[object]] = [[key, CONDITIONS[key], one.items, one] for key, one in model.scores.items()]
            bars = Bars([Bar.of(key, one) for key, one in model.scores.items()], self.metric, ("condition", "score"))
            table = ResultTable(("condition", "shown", "items", ResultColumn("score", 4)), rows, f"Scores of {name}")
            sentence = "Scores and gains have 95 % intervals over sources."
            yield Section(name, [sentence], table=table, figures=[bars])
            if model.gains:
                rows = [
                    [gain, " - ".join(self.compared(name, gain)), one.items, one] for gain, one in model.gains.items()
                ]
                columns: tuple[ResultColumn | str, ...] = ("gain", "difference of", "items", ResultColumn("mean", 4))
                yield Section("What the video adds", table=ResultTable(columns, rows), depth=1)
            for grouping, groups in model.groups.items():
                shown = list(model.gains)[:5]
                rows = []
                for group, gains in groups.items():
                    number = max((one.items for one in gains.values()), default=0)
                    rows.append([group, number, *(gains[gain].score if gain in gains else None for gain in shown)])
                columns = (grouping, "items", *(ResultColumn(gain, 4) for gain in shown))
                yield Section(f"Gains by {grouping}", table=ResultTable(columns, rows), depth=1)
        for name, found in self.filters.items():
            kept, number = len(found.splits[self.split]), len(self.items.ids)
            chance = self.by_chance.get(name)
            guessed = f"; guessing alone would list {chance:,.1f}" if chance is not None else ""
            yield Section(
                name, [f"{kept:,} of {number:,} items ({found.label}){guessed}. {found.about['description']}"]
            )
        yield Section("Conditions", [*self.findings, f"Signature: {self.signature}"])

    def compared(self, model: str, gain: str) -> tuple[str, str]:
        """Return the two conditions whose difference a gain of a model is."""
        more, less = GAINS[gain]
        return _whole(self.columns[model], more), less

    def write(self, folder: Path) -> None:
        """Write the report, the values of every item, and the lists of items as protocol files; replace earlier ones.

        Raises:
            VttdataError: if the folder holds anything else, or cannot be written.
        """
        with replace_report(folder, FOLDER, self.as_json()) as partial:
            for name, found in self.filters.items():
                found.write(partial / f"{name}.json")
            with (partial / _ITEMS).open("w", encoding="utf-8", newline="\n") as stream:
                for model, columns in self.columns.items():
                    for condition, column in columns.items():
                        ids = (self.items.ids[index] for index in column.items)
                        for item, value in zip(ids, column.scores.items.tolist(), strict=True):
                            row = {"item": item, "model": model, "condition": condition, "value": value}
                            stream.write(json.dumps(row, ensure_ascii=False) + "\n")


def evaluate_conditions(
    dataset: Path,
    folders: Sequence[Path],
    *,
    split: str | None = None,
    metrics: Sequence[str] = (),
    settings: EvaluationSettings | None = None,
) -> ConditionsReport:
    """Score predictions of models by condition, and estimate what the video adds.

    Args:
        dataset: dataset folder.
        folders: of a model's predictions, a file for each condition (see `find_models`), or of such folders.
        split: by default ``test``, or the only one.
        metrics: a column, by default the accuracy, recall at 1 of text-to-video retrieval, or CIDEr-D.
        settings: how predictions are read and scored. Items without a prediction are left out of its condition.

    Raises:
        VttdataError: if a folder or file cannot be read, or predictions are about other items.
    """
    settings, models = settings or EvaluationSettings(), find_models(folders)
    name = settings.task or guess_task(dataset, next(iter(next(iter(models.values())).values())), None)
    task = load_evaluation_task(name)
    metric = choose_metric(task, metrics)
    scoring = prepare_conditions(dataset, name, metric, split, settings)
    # What is no prediction of single items must be complete.
    lenient = dataclasses.replace(scoring, rule=MatchRule("worst", scoring.rule.unknown))
    columns: dict[str, dict[str, ScoreColumn]] = {model: {} for model in models}
    findings = list(scoring.items.notes)
    for model, files in models.items():
        for condition in filter(files.__contains__, CONDITIONS):
            predictions = task.read_predictions(files[condition], lenient)
            rule = lenient if isinstance(predictions, Matched) else scoring
            column, notes = score_predictions(task, rule, predictions, metric, str(files[condition]))
            columns[model][condition] = column
            findings += [f"{model}, {condition}: {note}" for note in notes]
    return report_conditions(scoring, columns, metric, settings, findings)


def prepare_conditions(
    dataset: Path, task: str, metric: str, split: str | None, settings: EvaluationSettings
) -> Scoring[Any]:
    """Return what predictions of a task are scored with in every condition."""
    loaded = load_evaluation_task(task)
    items = loaded.read_items(dataset, config=settings.config or loaded.default_config, split=split)
    return prepare_scoring(task, dataset, items, [metric] if loaded.default_metrics else (), settings, {})


def choose_metric(task: EvaluationTask[Any], metrics: Sequence[str]) -> str:
    """Return the one column that is scored.

    Raises:
        VttdataError: if several are named, or none and the task has no default.
    """
    chosen = metrics or ([task.headline] if task.headline is not None else [])
    if len(chosen) != 1:
        raise VttdataError("Scores by condition are those of one metric; name one with --metric.")
    return chosen[0]


def find_models(folders: Sequence[Path]) -> dict[str, dict[str, Path]]:
    """Return model -> condition -> file of predictions; a folder of files is a model, one of folders has several.

    A file is named after its condition, ``first.jsonl``, or ends in it, as the logs of tasks that `vttdata export
    --stimuli` writes do.

    Raises:
        VttdataError: if a folder has no predictions, a file is of no condition, or a condition has two.
    """
    found: dict[str, dict[str, Path]] = {}
    for folder in folders:
        if not folder.is_dir():
            raise VttdataError(f"{folder}: is not a folder of predictions, one file for each condition.")
        inner = sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
        if inner and (beside := [path.name for path in _files(folder)]):
            raise VttdataError(
                f"{folder}: holds folders, each of a model, and the file {beside[0]!a} of none; move it."
            )
        for each in inner or [folder]:
            # That of ``.`` is empty.
            name = each.resolve().name
            if name in found:
                raise VttdataError(f"{each}: another model is called {name!a} too; rename a folder.")
            found[name] = _condition_files(each)
    return found


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))


def _condition_files(folder: Path) -> dict[str, Path]:
    files: dict[str, Path] = {}
    for path in _files(folder):
        stem = re.sub(r"[\W_]+", "-", path.stem)
        fitting = [name for name in CONDITIONS if stem == name or stem.endswith(f"-{name}")]
        if not fitting:
            raise VttdataError(f"{path}: is named after no condition; choose from {list_choices(stem, CONDITIONS)}.")
        condition = max(fitting, key=len)
        if condition in files:
            raise VttdataError(f"{path}: {files[condition].name} holds predictions in '{condition}' too.")
        files[condition] = path
    if not files:
        raise VttdataError(f"{folder}: holds no predictions, a file for each condition, such as first.jsonl.")
    return files


def score_predictions(
    task: EvaluationTask[Any], scoring: Scoring[Any], predictions: Any, metric: str, location: str
) -> tuple[ScoreColumn, list[str]]:
    """Return the column of predictions on the items that they are about, and sentences on those that count for nothing.

    Raises:
        VttdataError: if there is no such column, it is no mean of which more is better, or nothing is predicted.
    """
    scored = task.score(predictions, scoring)
    if metric not in scored.columns:
        choices = list_choices(metric, scored.columns)
        raise VttdataError(f"{location}: has no score {metric!a}; choose from {choices}.")
    column, notes = scored.columns[metric], []
    if not isinstance(column.scores, ColumnScores) or column.lower_is_better:
        raise VttdataError(f"{metric} is no mean or sum over items of which more is better; choose another metric.")
    if unread := scored.answers.get("not_understood"):
        notes.append(f"{unread:,} answers, which no rule understood, are wrong.")
    if isinstance(predictions, Matched):
        given = np.array([value is not None for value in predictions.values])
        if not given.any():
            raise VttdataError(f"{location}: has no prediction for any item.")
        column = _restrict(column, given)
        if not given.all():
            notes.append(
                f"{(~given).sum():,} of {len(given):,} items have no prediction and are left out of this condition and "
                "of its differences."
            )
    return column, notes


def report_conditions(
    scoring: Scoring[Any],
    columns: Mapping[str, Columns],
    metric: str,
    settings: EvaluationSettings,
    findings: Sequence[str] = (),
) -> ConditionsReport:
    """Estimate the scores and gains of models from their columns, model -> condition -> column."""
    items = scoring.items
    estimator, notes = Estimator(items, settings.seed, settings.draws), list(findings)
    models = {}
    for name, of_model in columns.items():
        models[name] = estimate_gains(estimator, of_model)
        lacking = [gain for gain in GAINS if gain not in models[name].gains]
        if lacking and len(of_model) > 1:
            notes.append(f"{name}: not computed, for want of predictions in their conditions: {'; '.join(lacking)}.")
    if len(items.source_ids) == 1:
        notes.append("All items are of one source, so there are no intervals.")
    filters: dict[str, Protocol] = {}
    by_chance: dict[str, float] = {}
    task = load_evaluation_task(scoring.task)
    if task.solves_items:
        filters, by_chance = _find_filters(items, columns, task.guessing(items, metric), notes)
    stated = {
        "metric": metric,
        "conditions": "+".join(dict.fromkeys(name for each in columns.values() for name in each)),
    }
    every = [_flags(column, items) for of_model in columns.values() for column in of_model.values()]
    complete = int(np.logical_and.reduce(every).sum())
    counts = ItemCounts(len(items.ids), complete, len(items.ids) - complete)
    return ConditionsReport(
        dataset=items.dataset,
        version=items.version,
        config=items.config,
        split=items.split,
        task=scoring.task,
        metric=metric,
        signature=signature_of(items, scoring.task, counts, scoring.metrics, stated),
        models=models,
        filters=filters,
        by_chance=by_chance,
        findings=notes,
        columns=columns,
        items=items,
    )


def estimate_gains(estimator: Estimator, columns: Columns) -> ModelScores:
    """Estimate the scores of a model's columns, by condition, and its gains, on all items and by group."""
    items = estimator.items
    compared: dict[str, tuple[ScoreColumn, list[ScoreColumn]]] = {}
    for gain, (more, less) in GAINS.items():
        first = columns.get(more if gain == "sound" else _whole(columns, more))
        others = [columns[name] for name in (SINGLE_FRAMES if less == BEST_FRAME else (less,)) if name in columns]
        if first is None or not others:
            continue
        # The best frame is that of the same items.
        shared = np.logical_and.reduce([_flags(column, items) for column in (first, *others)])
        if shared.any():
            compared[gain] = _restrict(first, shared), [_restrict(other, shared) for other in others]
    selections: dict[tuple[str, str], Flags] = {("", ""): np.ones(len(items.ids), np.bool_)}
    selections |= {
        (grouping, group): flags for grouping, groups in estimator.groups().items() for group, flags in groups.items()
    }
    groups: dict[str, dict[str, dict[str, Estimate]]] = {}
    for (grouping, group), differences in estimator.differences(compared, selections).items():
        groups.setdefault(grouping, {})[group] = differences
    gains = groups.pop("")[""]
    return ModelScores(estimator.estimate(columns), gains, groups if gains else {})


class Needing(NamedTuple):
    """Items that need what a condition shows.

    Fields:
        items: flags, ``(n,)``; none where more than 5 % of them could be false.
        by: by how many more models they are solved in that condition; 1 where no item is listed.
        reverse: number of items of which the reverse holds, which is how many are expected to be listed falsely.
    """

    items: Flags
    by: int
    reverse: int


def find_needing(shown: Flags, without: Sequence[Flags]) -> Needing:
    """Find items that several models solve in one condition and not in others, such as without the video.

    Counted is by how many more models an item is solved in the condition than in any of the others. If the condition
    helped on no item more than one of the others, both could change places: as many items would be solved by so many
    more models in that other one, and neither in the condition nor in the rest. The number of these estimates how many
    items are listed falsely (Barber and Candes, Annals of Statistics 2015, with the others as knockoffs), whatever the
    rates of guessing are and however alike models are. Listed are the items of the smallest difference with which it is
    at most 5 % of them.

    Args:
        shown: whether each model solves each item in the condition, models x items.
        without: the same in each of the other conditions.
    """
    solved = shown.sum(axis=0) - np.logical_or.reduce(without).sum(axis=0)
    exchanged = [
        other.sum(axis=0) - np.logical_or.reduce([shown, *without[:number], *without[number + 1 :]]).sum(axis=0)
        for number, other in enumerate(without)
    ]
    reverse = [int(sum((each >= by).sum() for each in exchanged)) for by in range(1, len(shown) + 1)]
    for by, falsely in enumerate(reverse, 1):
        listed = solved >= by
        if falsely + 1 <= _FALSE_SHARE * listed.sum():
            return Needing(listed, by, falsely)
    return Needing(np.zeros(len(solved), np.bool_), 1, reverse[0])


def _find_filters(
    items: Items, columns: Mapping[str, Columns], chance: Sequence[float] | None, notes: list[str]
) -> tuple[dict[str, Protocol], dict[str, float]]:
    """Return the lists of items that need the video, and more than one frame, and how many guessing would list."""
    filters, by_chance = {}, {}
    for title, conditions in ((NEEDING_VIDEO, ("text",)), (NEEDING_TIME, ("text", *SINGLE_FRAMES))):
        shown = [each for each in conditions if any(each in of_model for of_model in columns.values())]
        if not any(each in SINGLE_FRAMES for each in shown) and title == NEEDING_TIME:
            continue
        models = {name: found for name, found in columns.items() if {"all", *shown} <= found.keys()}
        if lacking := [name for name in columns if name not in models]:
            notes.append(
                f"{title}: models without predictions in all, {', '.join(shown)} do not count: {', '.join(lacking)}."
            )
        if not models or not shown:
            continue
        used = [found[each] for found in models.values() for each in ("all", *shown)]
        tried = np.logical_and.reduce([_flags(column, items) for column in used])
        if not tried.all():
            notes.append(
                f"{title}: {(~tried).sum():,} of {len(items.ids):,} items, without a prediction by every model in "
                "every condition used, are not listed."
            )
        right = {
            each: np.array([_right(found[each], items) for found in models.values()]) & tried
            for each in ("all", *shown)
        }
        needing = find_needing(right["all"], [right[each] for each in shown])
        expected = None
        if chance is not None:
            shares = [chance[index] for index in np.flatnonzero(tried).tolist()]
            expected = sum(_chance_of_difference(share, len(models), len(shown), needing.by) for share in shares)
        number, others = int(needing.items.sum()), " or ".join(shown)
        if not number:
            solved = int(
                (right["all"].sum(axis=0) > np.logical_or.reduce([right[each] for each in shown]).sum(axis=0)).sum()
            )
            guessed = f", and guessing alone would give {expected:,.1f}" if expected is not None else ""
            needed = math.ceil((needing.reverse + 1) / _FALSE_SHARE)
            notes.append(
                f"{title}: no item is listed. {solved:,} of {tried.sum():,} items are solved by more models in all "
                f"than in {others}, {needing.reverse:,} the other way round{guessed}. A list of which at most 5 % are "
                f"false takes {needed:,} such items: add items or models; --page FILE shows those on which conditions "
                "differ."
            )
            continue
        about: dict[str, object] = {"dataset": items.dataset, "version": items.version, "config": items.table}
        about["description"] = (
            f"Items that at least {needing.by} more of {len(models)} models solve in all than in {others}; of "
            f"{needing.reverse:,} items the reverse holds, so that at most 5 % are expected to be listed falsely."
        )
        about["models"] = list(models)
        kept = [items.ids[index] for index in np.flatnonzero(needing.items).tolist()]
        filters[title] = Protocol(title, {items.split: kept}, about)
        if expected is not None:
            by_chance[title] = expected
    return filters, by_chance


def _chance_of_difference(share: float, models: int, others: int, by: int) -> float:
    """Return how often models that guess solve an item by at least so many more in one condition than in any other."""
    elsewhere = 1 - (1 - share) ** others
    step = [elsewhere * (1 - share), share * elsewhere + (1 - share) * (1 - elsewhere), share * (1 - elsewhere)]
    reached = np.ones(1)
    for _ in range(models):
        reached = np.convolve(reached, step)
    return float(reached[models + by :].sum())


def _right(column: ScoreColumn, items: Items) -> Flags:
    """Return the items all of whose rows are right; those without a row are not."""
    right = _flags(column, items)
    right[column.items[column.scores.items < 1]] = False
    return right


def _flags(column: ScoreColumn, items: Items) -> Flags:
    flags = np.zeros(len(items.ids), np.bool_)
    flags[column.items] = True
    return flags


def _restrict(column: ScoreColumn, kept: Flags) -> ScoreColumn:
    """Return the rows of a column whose items are flagged."""
    rows, scores = kept[column.items], column.scores
    assert isinstance(scores, ColumnScores)
    queries = None if column.queries is None else [name for name, row in zip(column.queries, rows, strict=True) if row]
    chosen = ColumnScores(scores.items[rows], scores.statistics[rows], scores.formula)
    return dataclasses.replace(column, scores=chosen, items=column.items[rows], queries=queries)


def _whole(columns: Columns, condition: str) -> str:
    """Return ``all`` in place of ``muted`` where there are no predictions without sound."""
    return "all" if condition == "muted" and "muted" not in columns else condition
