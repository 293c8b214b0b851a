"""Telling true captions or paragraphs from their foils: scores of both texts of each pair."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from vttdata.errors import VttdataError
from vttdata.evaluate.baselines import BASELINES
from vttdata.evaluate.columns import ScoreColumn, describe_guessing, is_worse_than_guessing
from vttdata.evaluate.items import Items, ItemTexts, read_foil_pairs, read_pair_texts
from vttdata.evaluate.metric import CaptioningMetric, load_metric
from vttdata.evaluate.predictions import Matched, match_predictions, read_foil_scores
from vttdata.evaluate.task import EvaluationTask, Scored, Scoring
from vttdata.statistics.scores import ColumnScores


class FoilPairsTask:
    """Pairs of a true text and its foil."""

    default_config = "foils"
    default_metrics: Sequence[str] = ()
    options: Collection[str] = ()

    def fits(self, dataset: Path, predictions: Path | None) -> bool:  # noqa: ARG002
        """Return whether the dataset is a set of foils."""
        return (dataset / "foils").is_dir()

    def read_items(self, dataset: Path, *, config: str, split: str | None) -> Items:
        """Read the pairs of a split; see `read_foil_pairs`."""
        return read_foil_pairs(dataset, config=config, split=split)

    def read_predictions(self, path: Path, scoring: Scoring) -> Matched:
        """Read the scores of pairs; see `read_foil_scores`."""
        items, pairs = scoring.items, read_foil_scores(path)
        return match_predictions(
            str(path), pairs, items.ids, scoring.rule, other_split=items.other_split, noun="prediction"
        )

    def score(self, predictions: Matched, scoring: Scoring) -> Scored:  # noqa: ARG002
        """Score pairs; see `score_pairs`."""
        columns, findings = score_pairs(predictions.values)
        return Scored(columns, predictions.counts, findings)

    def from_baseline(self, name: str, scoring: Scoring) -> Scored:
        """Score the pairs of a baseline, or of a captioning metric, which judges the texts by their references."""
        if name in BASELINES.files():
            return self.score(Matched(scoring.predict(name), scoring.complete), scoring)
        columns: dict[str, ScoreColumn] = {}
        metric = load_metric(name, scoring.tokenizer, scoring.cache, scoring.inputs)
        problem = metric.unavailable()
        if problem:
            raise VttdataError(problem)
        findings = [f"The texts are judged by {metric.signature()}."]
        for column, pairs in score_by_metric(metric, scoring.items).items():
            accuracies, notes = score_pairs(pairs)
            columns |= {f"{column}/{accuracy}": values for accuracy, values in accuracies.items()}
            findings += [f"{column}: {note}" for note in notes]
        return Scored(columns, scoring.complete, findings)

    def read_texts(self, dataset: Path, config: str, ids: Collection[str]) -> Mapping[str, ItemTexts]:
        """Return the true text and the foil of pairs."""
        return read_pair_texts(dataset, config, ids)

    def predicted_texts(self, path: Path) -> Iterable[tuple[str, str]]:  # noqa: ARG002
        """Return nothing: predictions are scores."""
        return ()


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
    decided = wins[(ties == 0) & np.array([pair is not None for pair in scores], dtype=np.bool_)]
    if is_worse_than_guessing(decided, np.full(len(decided), 0.5), np.full(len(decided), 0.25)):
        hint = "where lower is better, as of losses, distances and perplexities, negate the scores"
        findings.append(describe_guessing("accuracy without ties", float(decided.mean()), 0.5, hint))
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


TASK: EvaluationTask = FoilPairsTask()
