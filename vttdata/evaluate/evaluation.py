"""Score predictions on a dataset: match them with its items, compute columns, and report their estimates."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from vttdata.dataset.foils.statistics import read_worst_attacks
from vttdata.errors import VttdataError, list_choices
from vttdata.evaluate.baseline import Setting
from vttdata.evaluate.columns import ScoreColumn
from vttdata.evaluate.estimates import Estimator
from vttdata.evaluate.items import Items
from vttdata.evaluate.metric import CaptioningMetric, MetricInputs, load_metric
from vttdata.evaluate.predictions import ItemCounts, MatchRule, Missing, Unknown, read_relevance, read_strict_json
from vttdata.evaluate.report import Difference, Evaluation, MetricScores
from vttdata.evaluate.task import OPTIONS, EvaluationTask, Scoring, guess_task, load_evaluation_task
from vttdata.evaluate.training_overlap import find_shared_items
from vttdata.load.local_builds import builds_folder, folder_of_videos
from vttdata.load.lookup import find_dataset
from vttdata.statistics.bootstrap import DRAWS
from vttdata.statistics.scores import ColumnScores
from vttdata.text.tokenizers import tokenizer_for
from vttdata.version import __version__


def evaluate(
    dataset: str | os.PathLike[str],
    predictions: str | os.PathLike[str] | None = None,
    *,
    task: str | None = None,
    split: str | None = None,
    config: str | None = None,
    metrics: Sequence[str] = (),
    against: str | os.PathLike[str] | None = None,
    train_split: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None = None,
    baseline: str | None = None,
    missing: Missing = "refuse",
    unknown: Unknown = "refuse",
    tokenizer: str | None = None,
    relevance: str | os.PathLike[str] | None = None,
    human: bool = False,
    seed: int = 0,
    draws: int = DRAWS,
    cache: Path | None = None,
    inputs: MetricInputs | None = None,
) -> Evaluation:
    """Score the predictions of a system on a dataset.

    Args:
        dataset: dataset folder, build folder, or name.
        predictions: file of captions (COCO results, JSON lines, CSV, TSV), of similarities (``.npz``, ``.npy``), a run
            (TREC), scores of pairs, or spans (CSV, TSV, JSON lines); None for a baseline.
        task: what is predicted, see `vttdata.evaluate.tasks`; by default ``foils`` for a set of foils, ``retrieval``
            for matrices and runs, else ``captioning``.
        split: by default ``test``, or the only one.
        config: ``clips`` or a protocol; ``foils`` or ``paragraphs`` of a set of foils.
        metrics: captioning metrics, by default BLEU, ROUGE-L, CIDEr-D and chrF; of other tasks the columns to report,
            by default all.
        against: predictions of another system on the same items, or an ``evaluation.json`` written before.
        train_split: what the system was trained on: a split, another dataset, a file of ids or URLs, or several.
        baseline: name of a baseline to score instead of a file, see `vttdata.evaluate.baselines`; for foils also that
            of a captioning metric, which judges the texts by their references.
        missing: ``refuse`` missing predictions, or score them ``worst``.
        unknown: ``refuse`` predictions about other items, or ``ignore`` them.
        tokenizer: of the captioning metrics, see `vttdata.text.tokenizers`; by default ``ptb-3.4.1`` for English and
            where the language is unknown, else ``unicode``.
        relevance: judgments of relevance for retrieval, in TREC's format.
        human: score the human captions too, each against the others of its clip.
        seed: of the resampling.
        draws: number of bootstrap draws.
        cache: folder in which metrics keep costly results by content, at most 1 GiB; by default ``.metrics`` in
            ``VTTDATA_HOME``.
        inputs: models, videos and features of metrics that use them; videos are by default those of the dataset on this
            machine.

    Raises:
        VttdataError: if the dataset or a file cannot be read, predictions do not match the items, or no metric can be
            computed; the message says what to do.
    """
    folder = find_dataset(dataset)
    if (predictions is None) == (baseline is None):
        raise VttdataError("Give either predictions or the name of a baseline.")
    predicted = None if predictions is None else Path(predictions)
    name = task or guess_task(folder, predicted, baseline)
    if seed < 0 or draws < 1:
        raise VttdataError(f"The seed must not be negative, and there must be a draw, not {seed} and {draws}.")
    chosen = load_evaluation_task(name)
    items = chosen.read_items(folder, config=config or chosen.default_config, split=split)
    training = [train_split] if isinstance(train_split, (str, os.PathLike)) else list(train_split or ())
    used = {"train_split": bool(training), "human": human, "relevance": relevance is not None}
    for option, reason in OPTIONS.items():
        if used[option] and option not in chosen.options:
            raise VttdataError(reason)
    if against is not None and not Path(against).is_file():
        raise VttdataError(f"{os.fspath(against)}: there is no such file of predictions to compare with.")
    shared, training_notes = find_shared_items(folder, items, training)
    cache = cache or builds_folder() / ".metrics"
    unavailable: dict[str, str] = {}
    tokenizer = tokenizer or choose_tokenizer(items.languages)
    inputs = name_local_videos(inputs or MetricInputs(), [folder])
    names = (metrics or chosen.default_metrics) if chosen.default_metrics else ()
    families = load_metrics(names, tokenizer, cache, inputs, unavailable) if names else []
    judgments = read_relevance(Path(relevance)) if relevance is not None else None
    rule, setting = MatchRule(missing, unknown), Setting(items, folder, seed)
    scoring = Scoring(name, items, families, rule, tokenizer, cache, judgments, inputs, setting)
    if predicted is not None:
        scored = chosen.score(chosen.read_predictions(predicted, scoring), scoring)
    else:
        scored = chosen.from_baseline(baseline or "", scoring)
    unavailable |= scored.failed
    families = [metric for metric in families if metric.name not in scored.failed]
    columns = _choose_columns(scored.columns, metrics, families)
    estimator = Estimator(items, seed, draws)
    scores = estimator.score_columns(columns, shared)
    findings = [*items.notes, *scored.findings, *training_notes]
    if len(items.source_ids) == 1:
        findings.append("All items are of one source, so there are no intervals.")
    signature = _signature(items, name, scored.counts, families, relevance=relevance is not None)
    differences: dict[str, Difference] = {}
    if against is not None:
        differences, notes = _compare(Path(against), columns, scores, signature, chosen, scoring, estimator)
        findings += notes
    people = _score_people(items, scored.captions, families, columns) if human else {}
    estimates = estimator.estimate(people)
    return Evaluation(
        dataset=items.dataset,
        version=items.version,
        config=items.config,
        split=items.split,
        task=name,
        signature=signature,
        items=scored.counts,
        scores=scores,
        against=differences,
        groups=estimator.score_groups({key: column for key, column in columns.items() if "-verbatim/" not in key}),
        human={column: {who: estimates[who, column] for who in ("human", "system")} for column in columns if people},
        leaks={kind: int(flags.sum()) for kind, flags in shared.items()},
        blind=read_worst_attacks(folder).get(items.config),
        unavailable=unavailable,
        findings=findings,
        columns=columns,
        item_ids=items.ids,
    )


def choose_tokenizer(languages: Sequence[str]) -> str:
    """Return the tokenizer of the references' language, the one for all languages where there are several."""
    names = {tokenizer_for(language) for language in languages} or {tokenizer_for("en")}
    return names.pop() if len(names) == 1 else "unicode"


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


def _score_people(
    items: Items, captions: Sequence[str], metrics: Sequence[CaptioningMetric], names: Collection[str]
) -> dict[tuple[str, str], ScoreColumn]:
    """Score human captions against the other captions of their clips, and the system against as many references.

    Every human caption is left out in turn; statistics are averaged over turns, so that both have the same references.

    Returns:
        ``human`` or ``system``, and one of the `names` of columns -> column.
    """
    turns = min(map(len, items.references), default=0)
    if turns < 2:
        raise VttdataError("A clip has only one human caption, so human captions cannot be scored against others.")
    scores: dict[tuple[str, str], list[ColumnScores]] = {}
    for turn in range(turns):
        left = [[*texts[:turn], *texts[turn + 1 :]] for texts in items.references]
        people = [texts[turn] for texts in items.references]
        for who, texts in (("human", people), ("system", captions)):
            for metric in metrics:
                for name, column in metric.score_videos(texts, left, items.videos).items():
                    if name in names:
                        scores.setdefault((who, name), []).append(column)
    return {
        key: ScoreColumn(
            ColumnScores(
                np.mean([column.items for column in columns], axis=0),
                np.mean([column.statistics for column in columns], axis=0),
                columns[0].formula,
            ),
            np.arange(len(items.ids)),
        )
        for key, columns in scores.items()
    }


def _compare(
    path: Path,
    columns: Mapping[str, ScoreColumn],
    scores: Mapping[str, MetricScores],
    signature: str,
    task: EvaluationTask,
    scoring: Scoring,
    estimator: Estimator,
) -> tuple[dict[str, Difference], list[str]]:
    """Compare with another system's predictions or report; also return what a reader of the differences should know.

    Raises:
        VttdataError: if there is no score of the same rows in common.
    """
    report = read_strict_json(path) if path.suffix.lower() == ".json" else None
    # Other JSON holds captions.
    if isinstance(report, dict) and isinstance(report.get("signature"), str) and isinstance(report.get("scores"), dict):
        return _compare_report(scores, report, signature)
    other = task.score(task.read_predictions(path, scoring), scoring)
    common = {
        name: column
        for name, column in columns.items()
        if name in other.columns and np.array_equal(column.items, other.columns[name].items)
    }
    if not common:
        raise VttdataError(
            "The two systems have no score of the same queries in common, so they cannot be compared; predict for the "
            "same queries."
        )
    notes = []
    if other.counts.missing or other.counts.unknown:
        notes.append(f"{path}: {other.counts.missing:,} predictions are missing and {other.counts.unknown:,} unknown.")
    absent = [name for name in columns if name not in common]
    if absent:
        notes.append(f"Not compared, since {path} has no such scores of the same queries: {', '.join(absent)}.")
    return estimator.compare(common, other.columns), notes


def _compare_report(
    scores: Mapping[str, MetricScores], report: Mapping[str, Any], signature: str
) -> tuple[dict[str, Difference], list[str]]:
    """Subtract the scores of a report; without its items there is no interval and no test."""
    nan = float("nan")
    differences = {}
    for name, ours in scores.items():
        other = report["scores"].get(name)
        estimate = other.get("all") if isinstance(other, dict) else None
        value = estimate.get("score") if isinstance(estimate, dict) else None
        if isinstance(value, (int, float)):
            differences[name] = Difference(ours.all.score - value, nan, nan, nan, nan)
    if not differences:
        return {}, ["The other report has none of these scores, so nothing is compared."]
    # Comparable signatures name the same items, and the metrics that are in both in the same version.
    (items, *metrics), (other_items, *others) = signature.split(" "), report["signature"].split(" ")
    of_other = {metric.partition("|")[0]: metric for metric in others}
    if items == other_items and all(of_other.get(name.partition("|")[0], name) == name for name in metrics):
        return differences, ["The other report has no values of single items, so differences have no interval."]
    return differences, [
        f"NOT COMPARABLE: the signatures differ. This one is {signature}; the other one is {report['signature']}."
    ]


def _signature(
    items: Items, task: str, counts: ItemCounts, metrics: Sequence[CaptioningMetric], *, relevance: bool
) -> str:
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
    if not items.truths:
        numbers = sorted({len(references) for references in items.references})
        parts["refs"] = f"{numbers[0]}-{numbers[-1]}" if len(numbers) > 1 else numbers[0]
    if relevance:
        parts["relevance"] = "judged"
    first = "|".join(f"{key}:{value}" for key, value in parts.items())
    return " ".join([first, *(metric.signature() for metric in metrics)])
