"""Score predictions on a dataset: match them with its items, compute columns, and report their estimates."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

import numpy as np

from vttdata.dataset.foils.statistics import read_worst_attacks
from vttdata.errors import VttdataError, list_choices
from vttdata.evaluate.baseline import Setting, load_baseline
from vttdata.evaluate.baselines import BASELINES
from vttdata.evaluate.columns import ScoreColumn
from vttdata.evaluate.estimates import Estimator
from vttdata.evaluate.grounding import read_spans, score_spans
from vttdata.evaluate.items import Items, read_clips, read_foil_pairs
from vttdata.evaluate.java_scores import JavaError
from vttdata.evaluate.metric import CaptioningMetric, MetricInputs, load_metric
from vttdata.evaluate.predictions import (
    ItemCounts,
    MatchRule,
    Missing,
    Similarity,
    Unknown,
    match_predictions,
    read_captions,
    read_foil_scores,
    read_relevance,
    read_run,
    read_similarity,
    read_strict_json,
)
from vttdata.evaluate.report import Difference, Evaluation, MetricScores, Task
from vttdata.evaluate.retrieval import score_run, score_similarity
from vttdata.evaluate.training_overlap import find_shared_items
from vttdata.load.local_builds import builds_folder, folder_of_videos
from vttdata.load.lookup import find_dataset
from vttdata.statistics.bootstrap import DRAWS
from vttdata.statistics.scores import ColumnScores
from vttdata.text.tokenizers import tokenizer_for
from vttdata.version import __version__

DEFAULT_METRICS = ("bleu", "rouge-l", "cider-d", "chrf")

_MATRICES = (".npz", ".npy")
_RUNS = (".run", ".trec", ".txt")


@dataclass(frozen=True, slots=True)
class _Scored:
    """Columns of one system with the counts of its predictions."""

    columns: dict[str, ScoreColumn]
    counts: ItemCounts
    findings: list[str]
    captions: Sequence[str] = ()
    failed: Mapping[str, str] = field(default_factory=dict)


def evaluate(
    dataset: str | os.PathLike[str],
    predictions: str | os.PathLike[str] | None = None,
    *,
    task: Task | None = None,
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
        task: by default ``foils`` for a set of foils, ``retrieval`` for matrices and runs, else ``captioning``.
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
    task = task or _guess_task(folder, predictions, baseline)
    if seed < 0 or draws < 1:
        raise VttdataError(f"The seed must not be negative, and there must be a draw, not {seed} and {draws}.")
    if task not in get_args(Task):
        raise VttdataError(f"Unknown task {task!a}; choose from {list_choices(task, get_args(Task))}.")
    if task == "foils":
        items = read_foil_pairs(folder, config=config or "foils", split=split)
    else:
        items = read_clips(folder, config=config or "clips", split=split)
    training = [train_split] if isinstance(train_split, (str, os.PathLike)) else list(train_split or ())
    _check_options(task, training=training, human=human, relevance=relevance, against=against)
    shared, training_notes = find_shared_items(folder, items, training)
    cache = cache or builds_folder() / ".metrics"
    unavailable: dict[str, str] = {}
    tokenizer = tokenizer or choose_tokenizer(items.languages)
    inputs = name_local_videos(inputs or MetricInputs(), [folder])
    names = (metrics or DEFAULT_METRICS) if task == "captioning" else ()
    families = load_metrics(names, tokenizer, cache, inputs, unavailable) if names else []
    judgments = read_relevance(Path(relevance)) if relevance is not None else None
    scoring = _Scoring(task, items, families, MatchRule(missing, unknown), cache, judgments, inputs)
    if baseline is not None:
        scored = scoring.score_baseline(baseline, Setting(items, folder, seed), tokenizer)
    else:
        scored = scoring.score_file(Path(predictions or ""))
    unavailable |= scored.failed
    families = [metric for metric in families if metric.name not in scored.failed]
    columns = _choose_columns(scored.columns, metrics, families)
    estimator = Estimator(items, seed, draws)
    scores = estimator.score_columns(columns, shared)
    findings = [*items.notes, *scored.findings, *training_notes]
    if len(items.source_ids) == 1:
        findings.append("All items are of one source, so there are no intervals.")
    signature = _signature(items, task, scored.counts, families, relevance=relevance is not None)
    differences: dict[str, Difference] = {}
    if against is not None:
        differences, notes = _compare(Path(against), columns, scores, signature, scoring, estimator)
        findings += notes
    people = _score_people(items, scored.captions, families, columns) if human else {}
    estimates = estimator.estimate(people)
    return Evaluation(
        dataset=items.dataset,
        version=items.version,
        config=items.config,
        split=items.split,
        task=task,
        signature=signature,
        items=scored.counts,
        scores=scores,
        against=differences,
        groups=estimator.score_groups({name: column for name, column in columns.items() if "-verbatim/" not in name}),
        human={name: {who: estimates[who, name] for who in ("human", "system")} for name in columns if people},
        leaks={kind: int(flags.sum()) for kind, flags in shared.items()},
        blind=read_worst_attacks(folder).get(items.config) if task == "foils" else None,
        unavailable=unavailable,
        findings=findings,
        columns=columns,
        item_ids=items.ids,
    )


def _check_options(
    task: Task,
    *,
    training: Sequence[object],
    human: bool,
    relevance: str | os.PathLike[str] | None,
    against: str | os.PathLike[str] | None,
) -> None:
    """Raise VttdataError for an option that a task does not have, or another system's file that does not exist."""
    if task == "foils" and training:
        raise VttdataError(
            "A set of foils says nothing of sources and times, so scores cannot be given apart for what was trained on."
        )
    if human and task != "captioning":
        raise VttdataError(
            "Human captions are scored beside captions only; leave the human ceiling out of other tasks."
        )
    if relevance is not None and task != "retrieval":
        raise VttdataError("Judgments of relevance are about retrieval; leave them out of other tasks.")
    if against is not None and not Path(against).is_file():
        raise VttdataError(f"{os.fspath(against)}: there is no such file of predictions to compare with.")


@dataclass(frozen=True, slots=True)
class _Scoring:
    """How predictions are matched with the items and scored."""

    task: Task
    items: Items
    metrics: Sequence[CaptioningMetric]
    rule: MatchRule
    cache: Path
    relevance: Mapping[str, Mapping[str, float]] | None
    inputs: MetricInputs

    def score_file(self, path: Path) -> _Scored:
        """Read and score the predictions of a system."""
        if self.task == "retrieval":
            options = (self.items, self.rule, self.relevance)
            if path.suffix.lower() in _MATRICES:
                return _Scored(*score_similarity(str(path), read_similarity(path), *options))
            return _Scored(*score_run(str(path), read_run(path), *options))
        ids, other_split = self.items.ids, self.items.other_split
        if self.task == "foils":
            pairs = match_predictions(
                str(path), read_foil_scores(path), ids, self.rule, other_split=other_split, noun="prediction"
            )
            columns, findings = score_pairs(pairs.values)
            return _Scored(columns, pairs.counts, findings)
        if self.task == "grounding":
            spans = match_predictions(
                str(path), read_spans(path), ids, self.rule, other_split=other_split, noun="predicted span"
            )
            columns, findings = score_spans(spans.values, self.items)
            return _Scored(columns, spans.counts, findings)
        matched = match_predictions(str(path), read_captions(path), ids, self.rule, other_split=other_split)
        return self._score_captions(matched.values, matched.counts)

    def score_baseline(self, name: str, setting: Setting, tokenizer: str) -> _Scored:
        """Compute and score the predictions of a baseline."""
        counts = ItemCounts(len(self.items.ids), len(self.items.ids))
        if self.task == "foils" and name not in BASELINES.files():
            columns: dict[str, ScoreColumn] = {}
            metric = load_metric(name, tokenizer, self.cache, self.inputs)
            problem = metric.unavailable()
            if problem:
                raise VttdataError(problem)
            findings = [f"The texts are judged by {metric.signature()}."]
            for column, pairs in score_by_metric(metric, self.items).items():
                accuracies, notes = score_pairs(pairs)
                columns |= {f"{column}/{accuracy}": values for accuracy, values in accuracies.items()}
                findings += [f"{column}: {note}" for note in notes]
            return _Scored(columns, counts, findings)
        baseline = load_baseline(name)
        if baseline.task != self.task:
            raise VttdataError(f"The baseline '{name}' is for {baseline.task}, not for {self.task}.")
        predictions = baseline.predict(setting)
        if self.task == "foils":
            columns, findings = score_pairs(predictions)
            return _Scored(columns, counts, findings)
        if self.task == "retrieval":
            similarity = Similarity(predictions, self.items.ids, self.items.ids)
            return _Scored(*score_similarity(name, similarity, self.items, relevance=self.relevance))
        return self._score_captions(predictions, counts)

    def _score_captions(self, captions: Sequence[str | None], counts: ItemCounts) -> _Scored:
        texts = [caption or "" for caption in captions]
        every = np.arange(len(texts))
        columns: dict[str, ScoreColumn] = {}
        failed: dict[str, str] = {}
        for metric in self.metrics:
            try:
                scores = metric.score_videos(texts, self.items.references, self.items.videos)
            except JavaError as error:
                failed[metric.name] = str(error)
            else:
                columns |= {name: ScoreColumn(values, every) for name, values in scores.items()}
        if not columns:
            raise VttdataError(" ".join(failed.values()))
        return _Scored(columns, counts, _caption_findings(captions, self.items), texts, failed)


def _caption_findings(captions: Sequence[str | None], items: Items) -> list[str]:
    """Return what is odd about captions: empty, all the same, or copied from the references."""
    present = [caption for caption in captions if caption is not None]
    empty = sum(not caption.strip() for caption in present)
    copied = sum(
        caption is not None and caption in references
        for caption, references in zip(captions, items.references, strict=True)
    )
    findings = [f"Captions that are empty: {empty:,}."] if empty else []
    if len(present) > 1 and len(set(present)) == 1:
        findings.append(f"All {len(present):,} captions are the same: {present[0][:80]!a}.")
    if copied:
        share = copied / len(captions)
        findings.append(f"Captions that are word for word a reference of their clip: {copied:,} ({share:.1%}).")
    return findings


def _guess_task(folder: Path, predictions: str | os.PathLike[str] | None, baseline: str | None) -> Task:
    if (folder / "foils").is_dir():
        return "foils"
    if baseline is not None:
        return load_baseline(baseline).task
    return "retrieval" if Path(predictions or "").suffix.lower() in (*_MATRICES, *_RUNS) else "captioning"


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
    columns: dict[str, ScoreColumn], names: Sequence[str], metrics: Sequence[CaptioningMetric]
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
    scoring: _Scoring,
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
    other = scoring.score_file(path)
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
    items: Items, task: Task, counts: ItemCounts, metrics: Sequence[CaptioningMetric], *, relevance: bool
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
    if task != "foils":
        numbers = sorted({len(references) for references in items.references})
        parts["refs"] = f"{numbers[0]}-{numbers[-1]}" if len(numbers) > 1 else numbers[0]
    if relevance:
        parts["relevance"] = "judged"
    first = "|".join(f"{key}:{value}" for key, value in parts.items())
    return " ".join([first, *(metric.signature() for metric in metrics)])


def score_pairs(scores: Sequence[tuple[float, float] | None]) -> tuple[dict[str, ScoreColumn], list[str]]:
    """Return the accuracies of scores of a true text and its foil, and findings.

    Args:
        scores: of each pair; None where the prediction is missing, which counts as wrong.

    Returns:
        ``accuracy``, in which a tie is wrong as in ActivityNet-FOIL's published scoring, and ``accuracy-half``, in
        which it counts half, as often as guessing is right.
    """
    wins = np.array([float(pair is not None and pair[0] > pair[1]) for pair in scores])
    ties = np.array([float(pair is not None and pair[0] == pair[1]) for pair in scores])
    items = np.arange(len(scores))
    columns = {
        "accuracy": ScoreColumn(ColumnScores.from_means(wins), items, binary=True),
        "accuracy-half": ScoreColumn(ColumnScores.from_means(wins + ties / 2), items),
    }
    findings = [f"{int(ties.sum()):,} of {len(ties):,} pairs are ties."] if ties.any() else []
    return columns, findings


def score_by_metric(metric: CaptioningMetric, items: Items) -> dict[str, list[tuple[float, float]]]:
    """Score the texts of each pair against its references by a captioning metric.

    A paragraph's score is the mean of its captions' scores, each against the sentences of the other paragraph about its
    time, or all of them where there are none (ActivityNet-FOIL's published scoring).

    Returns:
        Column of the metric -> scores of the true text and of the foil, n.

    Raises:
        VttdataError: if a pair has no references, or the metric cannot be computed.
    """
    lengths = [len(texts) for texts in items.truths]
    references = [texts for pair in items.references for texts in pair]
    truths, foils = (
        metric.score_videos([text for texts in side for text in texts], references, items.videos)
        for side in (items.truths, items.foils)
    )
    starts = np.cumsum([0, *lengths[:-1]])
    scores = {}
    for column in truths:
        true, foil = (np.add.reduceat(side[column].items, starts) / lengths for side in (truths, foils))
        # Captions whose scores add up in another order differ in the last bits, and are ties.
        foil = np.where(np.isclose(true, foil, rtol=1e-15, atol=0), true, foil)
        scores[column] = list(zip(true.tolist(), foil.tolist(), strict=True))
    return scores
