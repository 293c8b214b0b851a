"""Score predictions on a dataset: match them with its items, compute columns, and report their estimates."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from vttdata.dataset.foils.statistics import read_worst_attacks
from vttdata.dataset.front_matter import read_layout
from vttdata.dataset.question_errors import read_question_errors
from vttdata.errors import VttdataError, list_choices
from vttdata.evaluate.answers import DEFAULT_RULES
from vttdata.evaluate.baseline import Setting, load_baseline
from vttdata.evaluate.columns import ScoreColumn
from vttdata.evaluate.conventions import PRINTED, is_compared
from vttdata.evaluate.epochs import score_file
from vttdata.evaluate.estimates import Estimator
from vttdata.evaluate.items import UPLOADED, Items, ItemsT, read_item_protocol
from vttdata.evaluate.metric import CaptioningMetric, MetricInputs, load_metric
from vttdata.evaluate.predictions import (
    ItemCounts,
    MatchRule,
    Missing,
    NamedColumns,
    Unknown,
    read_relevance,
    read_strict_json,
)
from vttdata.evaluate.report import EVALUATIONS, NOT_COMPARABLE, Difference, Evaluation, MetricScores
from vttdata.evaluate.stored_items import ITEMS, read_stored_columns
from vttdata.evaluate.task import OPTIONS, EvaluationTask, Scoring, guess_task, load_evaluation_task
from vttdata.evaluate.training_overlap import find_shared_items
from vttdata.json_types import JsonObject
from vttdata.load.local_builds import builds_folder, folder_of_videos
from vttdata.load.lookup import find_dataset
from vttdata.recipe.packaged import reported_protocols
from vttdata.statistics.bootstrap import DRAWS
from vttdata.text.language import LANGUAGE_NAMES, primary_language
from vttdata.text.tokenizers import tokenizer_for
from vttdata.version import __version__

# Below these, what an interval bears is said.
_FEW_ITEMS, _FEW_SOURCES = 100, 10


@dataclass(frozen=True, slots=True)
class EvaluationSettings:
    """How predictions are read and scored.

    Fields:
        task: what is predicted, see `vttdata.evaluate.tasks`; by default ``foils`` for a set of foils, ``retrieval``
            for matrices and runs, ``questions`` for a dataset of them, else ``captioning``.
        config: ``clips`` or a protocol; ``foils`` or ``paragraphs`` of a set of foils; ``questions`` or
            ``questions/KIND``.
        missing: ``refuse`` missing predictions, or score them ``worst``.
        unknown: ``refuse`` predictions about other items, or ``ignore`` them.
        tokenizer: of the captioning metrics, see `vttdata.text.tokenizers`; by default ``ptb-3.4.1`` for English and
            where the language is unknown, else ``unicode``.
        relevance: judgments of relevance for retrieval, in TREC's format.
        rules: by which free answers to questions are read, see `vttdata.evaluate.answers.RULES`.
        permuted: files of answers to the same questions with their options in other orders.
        errata: table of errors of questions, see `vttdata.dataset.question_errors`, without which they are scored too.
        strip: score captions without reasoning, special tokens and a repeated prompt.
        columns: name -> what the column is called in tables of predictions, such as ``prediction`` -> ``model_says``.
        human: score the human captions too, each against the others of its clip.
        seed: of the resampling.
        draws: number of bootstrap draws.
        cache: folder in which metrics keep costly results by content, at most 1 GiB; by default ``.metrics`` in
            ``VTTDATA_HOME``.
        inputs: models, videos and features of metrics that use them; videos are by default those of the dataset on this
            machine.
    """

    task: str | None = None
    config: str | None = None
    missing: Missing = "refuse"
    unknown: Unknown = "refuse"
    tokenizer: str | None = None
    relevance: str | os.PathLike[str] | None = None
    rules: str | None = None
    permuted: Sequence[str | os.PathLike[str]] = ()
    errata: str | os.PathLike[str] | None = None
    strip: bool = False
    columns: Mapping[str, str] = field(default_factory=dict)
    human: bool = False
    seed: int = 0
    draws: int = DRAWS
    cache: Path | None = None
    inputs: MetricInputs = field(default_factory=MetricInputs)


def evaluate(
    dataset: str | os.PathLike[str],
    predictions: str | os.PathLike[str] | None = None,
    *,
    baseline: str | None = None,
    split: str | None = None,
    metrics: Sequence[str] = (),
    against: str | os.PathLike[str] | None = None,
    train_split: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None = None,
    settings: EvaluationSettings = EvaluationSettings(),
) -> Evaluation:
    """Score the predictions of a system on a dataset.

    Args:
        dataset: dataset folder, build folder, or name.
        predictions: file of captions (COCO results, JSON lines, CSV, TSV), of similarities (``.npz``, ``.npy``), a run
            (TREC), scores of pairs, or spans (CSV, TSV, JSON lines); None for a baseline.
        baseline: name of a baseline to score instead of a file, see `vttdata.evaluate.baselines`; for foils also that
            of a captioning metric, which judges the texts by their references.
        split: by default ``test``, or the only one.
        metrics: captioning metrics, by default BLEU, ROUGE-L, CIDEr-D and chrF; of other tasks the columns to report,
            by default all.
        against: predictions of another system on the same items, a baseline, or an ``evaluation.json`` that was
            written before, or its folder.
        train_split: what the system was trained on: a split, another dataset, a file of ids or URLs, or several.
        settings: how predictions are read and scored.

    Raises:
        VttdataError: if the dataset or a file cannot be read, predictions do not match the items, or no metric can be
            computed; the message says what to do.
    """
    folder = find_dataset(dataset)
    if (predictions is None) == (baseline is None):
        raise VttdataError("Give either predictions or the name of a baseline.")
    predicted = None if predictions is None else Path(predictions)
    name = settings.task or guess_task(folder, predicted, baseline)
    if settings.seed < 0 or settings.draws < 1:
        raise VttdataError(
            f"The seed must not be negative, and there must be a draw, not {settings.seed} and {settings.draws}."
        )
    task = load_evaluation_task(name)
    items = task.read_items(folder, config=settings.config or task.default_config, split=split)
    training = [train_split] if isinstance(train_split, (str, os.PathLike)) else list(train_split or ())
    used = {
        "train_split": bool(training),
        "human": settings.human,
        "relevance": settings.relevance is not None,
        "rules": settings.rules is not None,
        "permuted": bool(settings.permuted),
        "errata": settings.errata is not None,
        "strip": settings.strip,
    }
    for option, reason in OPTIONS.items():
        if used[option] and option not in task.options:
            raise VttdataError(reason)
    other = None if against is None else _find_other(Path(against), name)
    # A protocol of pairs or questions lists these, and not clips.
    protocol = read_item_protocol(settings.config or "", "")[1] if items.clip_config == items.config else None
    shared, training_notes = find_shared_items(folder, items, training, protocol)
    unavailable: dict[str, str] = {}
    names = (metrics or task.default_metrics) if task.default_metrics else ()
    scoring = prepare_scoring(name, folder, items, names, settings, unavailable)
    if predicted is not None:
        scored = score_file(task, predicted, scoring)
    else:
        scored = task.from_baseline(baseline or "", scoring)
    unavailable |= scored.failed
    families = [metric for metric in scoring.metrics if metric.name not in scored.failed]
    columns = _choose_columns(scored.columns, metrics, families)
    estimator = Estimator(items, settings.seed, settings.draws)
    scores = estimator.score_columns(columns, shared)
    groups = estimator.score_groups({key: column for key, column in columns.items() if "-verbatim/" not in key})
    findings = [*items.notes, *scored.findings, *training_notes]
    if len(items.source_ids) == 1:
        findings.append("All items are of one source, so there are no intervals.")
    findings += describe_gains(scores)
    findings += describe_few(items, scores)
    stated = {"relevance": "judged"} if settings.relevance is not None else dict(scored.settings)
    if UPLOADED in groups:
        findings.append(
            "Years of upload differ in more than what a model may have seen: items of other years can be written in "
            "another way and show other things, so a lower score of later ones is no proof of contamination."
        )
    signature = signature_of(items, name, scored.counts, families, stated)
    differences: dict[str, Difference] = {}
    comparison: list[str] = []
    if other is not None:
        differences, comparison = _compare(other, columns, scores, signature, task, scoring, estimator)
    people = task.score_human_ceiling(scored, scoring) if settings.human else {}
    estimates = estimator.estimate({key: column for key, column in people.items() if key[1] in columns})
    return Evaluation(
        dataset=items.dataset,
        version=items.version,
        config=items.config,
        split=items.split,
        task=name,
        signature=signature,
        items=scored.counts,
        scores=scores,
        other="" if other is None else _name_system(other, predicted),
        against=differences,
        comparison=comparison,
        groups=groups,
        human={column: {who: estimates[who, column] for who in ("human", "system")} for column in columns if people},
        leaks={kind: int(flags.sum()) for kind, flags in shared.items()},
        blind=read_worst_attacks(folder).get(items.config),
        unavailable=unavailable,
        answers=scored.answers,
        not_understood=scored.not_understood,
        texts=scored.texts,
        findings=findings,
        reported=_find_reported(folder, items, name),
        columns=columns,
        item_set=items,
    )


def describe_few(items: Items, scores: Mapping[str, MetricScores]) -> list[str]:
    """Return a sentence on what the interval of the first printed score bears, where items or sources are few."""
    number, sources = len(items.ids), len(items.source_ids)
    name = next((name for name in PRINTED if name in scores and math.isfinite(scores[name].all.low)), None)
    if name is None or (number >= _FEW_ITEMS and sources >= _FEW_SOURCES):
        return []
    printed, score = PRINTED[name], scores[name].all
    return [
        f"{number:,} items of {sources:,} sources are few: a system whose {printed.name} is "
        f"{printed.format(score.low)} to {printed.format(score.high)} may be as good as this one. --against OTHER "
        f"compares two systems on the same items more closely; state a score alone from {_FEW_ITEMS} items and "
        f"{_FEW_SOURCES} sources on."
    ]


def describe_gains(scores: Mapping[str, MetricScores]) -> list[str]:
    """Return a sentence on each gain over what is reached without videos that is not above 0 with its interval."""
    gains = {name: scored.all for name, scored in scores.items() if "gain-over-" in name}
    return [
        f"{name} is {gain.score:.4f}, and its interval, {gain.low:.4f} to {gain.high:.4f}, "
        f"{'holds' if gain.high >= 0 else 'is below'} 0: no sign that the system uses the videos."
        for name, gain in gains.items()
        if gain.low <= 0
    ]


def _find_reported(folder: Path, items: Items, task: str) -> Mapping[str, str]:
    """Return the protocols by which papers report a task in place of the splits of a dataset; see `Evaluation`."""
    known = reported_protocols(items.dataset, task) if items.config == "clips" else {}
    configs = read_layout(folder, needs=None).files if known else {}
    return {called: called for called in known.values() if called in configs} or known


def prepare_scoring(
    task: str,
    folder: Path,
    items: ItemsT,
    metrics: Sequence[str],
    settings: EvaluationSettings,
    unavailable: dict[str, str],
) -> Scoring[ItemsT]:
    """Return what predictions are scored with; metrics that cannot be computed are put into `unavailable`.

    Raises:
        VttdataError: if no metric can be computed, or a column is named that no table of predictions has.
    """
    known = load_evaluation_task(task).columns
    unknown = next((column for column in settings.columns if column not in known), None)
    if unknown is not None:
        choices = f"choose from {list_choices(unknown, known)}" if known else "they are no table"
        raise VttdataError(f"--columns {unknown}=...: predictions of {task} have no such column; {choices}.")
    cache, languages = settings.cache or builds_folder() / ".metrics", items.languages
    tokenizer = settings.tokenizer or choose_tokenizer(languages)
    inputs = name_local_videos(settings.inputs, [folder])
    if others := name_other_languages(languages):
        for name in [name for name in metrics if load_metric(name, tokenizer, cache, inputs).english_only]:
            unavailable[name] = f"{name} scores English captions, and those of {folder} are {others}."
        if metrics and set(metrics) <= unavailable.keys():
            raise VttdataError(next(iter(unavailable.values())))
        metrics = [name for name in metrics if name not in unavailable]
    return Scoring(
        task=task,
        items=items,
        metrics=load_metrics(metrics, tokenizer, cache, inputs, unavailable) if metrics else [],
        rule=MatchRule(settings.missing, settings.unknown),
        tokenizer=tokenizer,
        cache=cache,
        relevance=read_relevance(Path(settings.relevance)) if settings.relevance is not None else None,
        inputs=inputs,
        setting=Setting(items, folder, settings.seed, settings.inputs.features),
        rules=settings.rules or DEFAULT_RULES,
        permuted=[Path(path) for path in settings.permuted],
        errata=read_question_errors(Path(settings.errata)) if settings.errata is not None else {},
        strip=settings.strip,
        columns=NamedColumns(settings.columns),
    )


def choose_tokenizer(languages: Sequence[str]) -> str:
    """Return the tokenizer of the references' language, the one for all languages where there are several.

    Undetermined ones do not count beside others.
    """
    known = [language for language in languages if primary_language(language) is not None]
    names = {tokenizer_for(language) for language in known or languages} or {tokenizer_for("en")}
    return names.pop() if len(names) == 1 else "unicode"


def name_other_languages(languages: Sequence[str]) -> str:
    """Return the names of those languages that are known and not English, for a sentence; empty without any."""
    codes = sorted({code for language in languages if (code := primary_language(language)) not in (None, "en", "eng")})
    return " and ".join(LANGUAGE_NAMES.get(code, f"in the language '{code}'") for code in codes)


def name_local_videos(inputs: MetricInputs, datasets: Sequence[Path]) -> MetricInputs:
    """Name the video files of datasets on this machine where no others are named."""
    folders = [folder for dataset in datasets for folder in (folder_of_videos(dataset), dataset / "videos")]
    local = [folder for folder in folders if folder is not None and folder.is_dir()]
    return inputs if inputs.videos else dataclasses.replace(inputs, videos=local)


def load_metrics(
    names: Sequence[str], tokenizer: str, cache: Path | None, inputs: MetricInputs, unavailable: dict[str, str]
) -> list[CaptioningMetric]:
    """Return each metric that one of the names asks for once; what cannot be computed is put into `unavailable`."""
    metrics: dict[str, CaptioningMetric] = {}
    for name in names:
        metric = load_metric(name, tokenizer, cache, inputs)
        reason = metric.unavailable()
        if reason is not None:
            unavailable[name] = reason
        else:
            metrics.setdefault(metric.name, metric)
    if not metrics:
        raise VttdataError(next(iter(unavailable.values())))
    return list(metrics.values())


def _choose_columns(
    columns: Mapping[str, ScoreColumn], names: Sequence[str], metrics: Sequence[CaptioningMetric]
) -> dict[str, ScoreColumn]:
    """Return the columns that were asked for: by their own names, or by that of their family; all by default."""
    families = {column: metric.name for metric in metrics for column in metric.columns}
    chosen = {name: column for name, column in columns.items() if not names or {name, families.get(name)} & set(names)}
    unknown = [name for name in names if name not in columns and name not in families.values()]
    if unknown and not metrics:
        raise VttdataError(f"Unknown metric {unknown[0]!a}; choose from {list_choices(unknown[0], columns)}.")
    return chosen


def _find_other(path: Path, task: str) -> Path | str:
    """Return predictions or a report to compare with, which a folder may hold, or the name of a baseline.

    Raises:
        VttdataError: if it is neither.
    """
    if path.is_dir() and (path / EVALUATIONS[0]).is_file():
        return path / EVALUATIONS[0]
    if path.exists():
        return path
    with contextlib.suppress(VttdataError):
        if load_baseline(str(path)).task == task:
            return str(path)
    raise VttdataError(f"{path}: there are no such predictions to compare with, and no such baseline of {task}.")


def _name_system(other: Path | str, predicted: Path | None) -> str:
    """Return what another system is called: a baseline, or after its file or folder, apart from `predicted`."""
    if isinstance(other, str):
        return other
    path = other.resolve()
    path = path.parent if path.name == EVALUATIONS[0] else path
    is_alike = predicted is not None and path.stem == predicted.resolve().stem
    return f"{path.parent.name}/{path.stem}" if is_alike else path.stem


def _compare(
    other: Path | str,
    columns: Mapping[str, ScoreColumn],
    scores: Mapping[str, MetricScores],
    signature: str,
    task: EvaluationTask[ItemsT],
    scoring: Scoring[ItemsT],
    estimator: Estimator,
) -> tuple[dict[str, Difference], list[str]]:
    """Compare with another system's predictions or report, or a baseline; also return what a reader should know.

    Raises:
        VttdataError: if there is no score of the same rows in common.
    """
    is_json = isinstance(other, Path) and other.suffix.lower() == ".json"
    report = read_strict_json(Path(other)) if is_json else None
    # Other JSON holds captions.
    if isinstance(report, dict) and isinstance(report.get("signature"), str) and isinstance(report.get("scores"), dict):
        stored = estimator.compare_stored(columns, read_stored_columns(Path(other).with_name(ITEMS)))
        differences, notes = _compare_report(scores, report, signature, stored)
        return differences, [*notes, "Of a stored evaluation there are no p-values; give its predictions for these."]
    scoring = dataclasses.replace(scoring, columns=scoring.columns._replace(any_table=True))
    scored = score_file(task, other, scoring) if isinstance(other, Path) else task.from_baseline(other, scoring)
    compared = {name: column for name, column in columns.items() if is_compared(name, columns)}
    common = {
        name: column
        for name, column in compared.items()
        if name in scored.columns and np.array_equal(column.items, scored.columns[name].items)
    }
    if not common:
        raise VttdataError(
            "The two systems have no score of the same queries in common, so they cannot be compared; predict for the "
            "same queries."
        )
    notes = []
    counts = scored.counts
    if counts.missing or counts.unknown:
        notes.append(f"{other}: {counts.missing:,} predictions are missing and {counts.unknown:,} unknown.")
    absent = [name for name in compared if name not in common]
    if absent:
        notes.append(f"Not compared, since {other} has no such scores of the same queries: {', '.join(absent)}.")
    return estimator.compare(common, scored.columns), notes


def _compare_report(
    scores: Mapping[str, MetricScores], report: JsonObject, signature: str, stored: Mapping[str, Difference]
) -> tuple[dict[str, Difference], list[str]]:
    """Subtract the scores of a report; without its items, which give those `stored`, there is no interval."""
    nan = float("nan")
    differences = {}
    for name, ours in scores.items():
        other = report["scores"].get(name)
        estimate = other.get("all") if isinstance(other, dict) else None
        value = estimate.get("score") if isinstance(estimate, dict) else None
        if isinstance(value, (int, float)):
            without_items = Difference(ours.all.score - value, nan, nan, nan, nan, other=value)
            differences[name] = stored.get(name, without_items)
    if not differences:
        return {}, ["The other report has none of these scores, so nothing is compared."]
    # Comparable signatures name the same items, and the metrics that are in both in the same version.
    (items, *metrics), (other_items, *others) = signature.split(" "), report["signature"].split(" ")
    of_other = {metric.partition("|")[0]: metric for metric in others}
    no_items = [] if stored else ["The other report has no values of single items, so differences have no interval."]
    if all(of_other.get(name.partition("|")[0], name) == name for name in metrics):
        if items == other_items:
            return differences, no_items
        if stored and (versions := _other_version(items, other_items)):
            return differences, [versions]
    return differences, [
        f"{NOT_COMPARABLE}: the signatures differ. This one is {signature}; the other one is {report['signature']}."
    ]


def _other_version(items: str, other_items: str) -> str:
    """Return what a difference between two versions of a dataset means; empty if the items differ otherwise."""
    parts, others = (dict(part.split(":", 1) for part in text.split("|")) for text in (items, other_items))
    names = [part["data"].rpartition("@")[0] for part in (parts, others)]
    fixed = ("task", "config", "split", "missing")
    if names[0] != names[1] or any(parts[key] != others[key] for key in fixed):
        return ""
    return (
        f"The other report is of {others['data']}, {others['n']} items, and this one of {parts['data']}, {parts['n']} "
        "items: for the same predictions, differences are what the new version of the dataset changes."
    )


def signature_of(
    items: Items, task: str, counts: ItemCounts, metrics: Sequence[CaptioningMetric], stated: Mapping[str, str]
) -> str:
    """Return the line that names all that scores depend on; `stated` is what the task adds."""
    parts = {
        "vttdata": __version__,
        "task": task,
        "data": f"{items.dataset}@{items.version}",
        "config": items.config,
        "split": items.split,
        "n": counts.expected,
        "items": items.digest,
        "missing": counts.missing,
    }
    parts |= items.facts
    parts |= stated
    first = "|".join(f"{key}:{value}" for key, value in parts.items())
    return " ".join([first, *(metric.signature() for metric in metrics)])
