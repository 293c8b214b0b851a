"""Telling true captions or paragraphs from their foils: scores of both texts of each pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from vttdata.dataset.questions import StoredQuestion
from vttdata.errors import VttdataError
from vttdata.evaluate.answers import DEFAULT_RULES, load_rules, read_free_text
from vttdata.evaluate.baselines import BASELINES
from vttdata.evaluate.columns import ScoreColumn, describe_guessing, is_worse_than_guessing
from vttdata.evaluate.items import Items, describe_items, other_splits, read_item_protocol, select_listed
from vttdata.evaluate.metric import CaptioningMetric, VideoSpan, load_metric
from vttdata.evaluate.predictions import PREFERENCES, Matched, match_predictions, read_foil_scores
from vttdata.evaluate.task import ExportedTask, ObservedTask, Scored, Scoring, TextChoice
from vttdata.export.reader import DatasetReader
from vttdata.generate.blind.accuracy import select_references
from vttdata.generate.blind.attacker import load_attackers
from vttdata.generate.blind.choices import TextPair, arrange_pairs
from vttdata.generate.blind.shortcuts import check_pairs
from vttdata.generate.blind.trial import ENSEMBLE, answer_choices, try_attackers
from vttdata.generate.blind.words import lower_words
from vttdata.json_types import JsonObject, Row
from vttdata.statistics.arrays import Floats
from vttdata.statistics.scores import ColumnScores
from vttdata.text.questions import letters

TABLES = ("foils", "paragraphs")
"""Tables of pairs: of captions, and of paragraphs, which are lists of captions."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class FoilPairs(Items):
    """Pairs of a true text and its foil.

    Fields:
        truths: captions of the true text of each pair, n.
        foils: captions of its false text, n.
        references: of each of these captions, n.
        text_spans: start and end, in seconds, of what each caption is about, n; empty where that is not known.
    """

    truths: Sequence[Sequence[str]]
    foils: Sequence[Sequence[str]]
    references: Sequence[Sequence[Sequence[str]]] = ()
    text_spans: Sequence[Sequence[tuple[float, float]]] = ()

    @property
    def clip_ids(self) -> Sequence[str]:
        """Clip that each pair is about, n."""
        return [self.source_ids[source] for source in self.sources]

    @property
    def captions(self) -> Sequence[Sequence[str]]:
        """References of the captions of each pair, n."""
        return [list(chain.from_iterable(references)) for references in self.references]

    @property
    def videos(self) -> list[list[VideoSpan]]:
        """What each caption of a text is about, n."""
        if self.text_spans:
            spans_of = zip(self.clip_ids, self.text_spans, strict=True)
            return [[VideoSpan(name, *span) for span in spans] for name, spans in spans_of]
        return [[VideoSpan(name)] * len(texts) for name, texts in zip(self.clip_ids, self.truths, strict=True)]

    def show(self, index: int) -> Sequence[str]:
        """Return the true text of a pair and its foil."""
        return " ".join(self.truths[index]), " ".join(self.foils[index])

    def as_pairs(self, join: str) -> list[TextPair]:
        """Return the pairs as blind attackers see them, n; the captions of a text are joined."""
        texts = zip(self.truths, self.foils, self.clip_ids, strict=True)
        return [TextPair(join.join(true), join.join(foil), video) for true, foil, video in texts]


def read_foil_pairs(folder: Path, *, config: str = "foils", split: str | None = None) -> FoilPairs:
    """Read the pairs of a set of foils.

    Args:
        folder: dataset folder.
        config: ``foils``, whose texts are captions, ``paragraphs``, whose texts are lists of captions, or the path of a
            protocol file of such pairs.
        split: ``test``, or the only one, if omitted.

    Raises:
        VttdataError: if the dataset is no set of foils, or there is no such configuration or split.
    """
    dataset = DatasetReader(folder)
    table, protocol = read_item_protocol(config, TABLES[0])
    known = [name for name in TABLES if name in dataset.configs]
    if table not in known:
        listed = ", ".join(known) or "none"
        raise VttdataError(f"{folder}: '{table}' holds no pairs of texts; configurations that do: {listed}.")
    split = dataset.single_split(table, split)
    pairs = list(dataset.pairs(table, split))
    if protocol is not None:
        wanted = select_listed(protocol, split, [pair.name for pair in pairs])
        pairs = [pair for pair in pairs if pair.name in wanted]
    rows = [pair.row for pair in pairs]
    about = describe_items(
        dataset,
        table if protocol is None else protocol.label,
        split,
        [pair.name for pair in pairs],
        [row["video_id"] for row in rows],
    )
    is_captions = table == TABLES[0]
    return FoilPairs(
        **about,
        table=table,
        truths=[pair.true for pair in pairs],
        foils=[pair.foil for pair in pairs],
        references=[[row["references"]] if is_captions else _select_for_each(row) for row in rows],
        text_spans=[] if is_captions else [list(zip(row["starts"], row["ends"], strict=True)) for row in rows],
        categories=[row["supercategory"] if is_captions else None for row in rows],
        other_split=other_splits(dataset, table, split, "foil_id") if is_captions else {},
    )


def _select_for_each(row: Row) -> list[Sequence[str]]:
    """Return for each caption of a pair of paragraphs the captions of the reference at the same time."""
    spans = list(zip(row["reference_starts"], row["reference_ends"], strict=True))
    return [select_references(span, spans, row["references"]) for span in zip(row["starts"], row["ends"], strict=True)]


class FoilPairsTask(ObservedTask[FoilPairs], ExportedTask[FoilPairs]):
    """Pairs of a true text and its foil."""

    default_config = TABLES[0]
    columns: Sequence[str] = ("foil_id", "video_id", "true_score", "foil_score", "preferred")
    headline = "accuracy-half"
    sample_column = "accuracy"

    def fits(self, dataset: Path, predictions: Path | None) -> bool:  # noqa: ARG002
        """Return whether the dataset is a set of foils."""
        return (dataset / TABLES[0]).is_dir()

    def read_items(self, dataset: Path, *, config: str, split: str | None) -> FoilPairs:
        """Read the pairs of a split; see `read_foil_pairs`."""
        return read_foil_pairs(dataset, config=config, split=split)

    def read_predictions(self, path: Path, scoring: Scoring[FoilPairs]) -> Matched:
        """Read the scores of pairs; see `read_foil_scores`."""
        items, pairs = scoring.items, read_foil_scores(path, scoring.columns)
        return match_predictions(
            str(path), pairs, items.ids, scoring.rule, other_split=items.other_split, noun="prediction"
        )

    def score(self, predictions: Matched, scoring: Scoring[FoilPairs]) -> Scored:  # noqa: ARG002
        """Score pairs; see `score_pairs`."""
        columns, findings = score_pairs(predictions.values)
        return Scored(columns, predictions.counts, findings)

    def from_baseline(self, name: str, scoring: Scoring[FoilPairs]) -> Scored:
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

    def guessing(self, items: FoilPairs, metric: str) -> Sequence[float]:  # noqa: ARG002
        """Return one half for each pair."""
        return [0.5] * len(items.ids)

    def list_choices(
        self, scoring: Scoring[FoilPairs], present: Sequence[int]
    ) -> tuple[Sequence[Sequence[str]], Sequence[TextChoice]]:
        """Return the words of both texts of each pair, the true one first."""
        items = scoring.items
        if items.text_spans:
            raise VttdataError("The built-in observers choose between captions, not between paragraphs.")
        sides = [side for index in present for side in (items.truths[index], items.foils[index])]
        choices = [TextChoice((2 * number, 2 * number + 1), 0) for number in range(len(present))]
        return [lower_words(" ".join(side)) for side in sides], choices

    def observe(self, scoring: Scoring[FoilPairs], scores: Mapping[int, Floats]) -> Matched:
        """Return the scores of both texts of each pair."""
        return scoring.match({index: tuple(of_texts.tolist()) for index, of_texts in scores.items()})

    def solve_blindly(self, items: FoilPairs) -> Floats:
        """Return how far the ensemble of blind attackers tells each true text from its foil."""
        pairs = items.as_pairs(" ")
        check_pairs(pairs)
        choices, answers = arrange_pairs(pairs)
        trial = try_attackers(load_attackers(), choices, answers)
        return answer_choices(trial.scores[ENSEMBLE], choices.starts, answers)

    def exported_items(self, about: JsonObject, documents: Sequence[JsonObject]) -> FoilPairs:
        """Return exported pairs as items, whose texts no score needs."""
        return FoilPairs(**about, truths=[()] * len(documents), foils=[()] * len(documents))

    def log_answer(self, document: JsonObject, answer: str) -> dict[str, str]:
        """Return which text an answer prefers; one that names neither counts as the foil."""
        options, right = document["options"], document["answer"]
        asked = StoredQuestion("", document["video_id"], "", "", tuple(options), letters(len(options)), right)
        named = read_free_text(answer, asked, load_rules(DEFAULT_RULES)).named or ()
        return {"preferred": "tie" if len(named) > 1 else "true" if asked.right.intersection(named) else "foil"}

    def read_logged(self, items: FoilPairs, logged: Sequence[Mapping[str, str]]) -> list[Any]:  # noqa: ARG002
        """Return scores in which the preferred text of each pair is the higher one."""
        return [PREFERENCES[row["preferred"]] for row in logged]


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


def score_by_metric(metric: CaptioningMetric, items: FoilPairs) -> dict[str, list[tuple[float, float]]]:
    """Score the texts of each pair against its references by a captioning metric.

    A paragraph's score is the mean of its captions' scores, each against the sentences of the other paragraph about its
    time, or all of them where there are none (ActivityNet-FOIL's published scoring).

    Returns:
        Column of the metric -> scores of the true text and of the foil, n.

    Raises:
        VttdataError: if a pair has no references, or the metric cannot be computed.
    """
    lengths = [len(texts) for texts in items.truths]
    references, videos = list(chain.from_iterable(items.references)), list(chain.from_iterable(items.videos))
    truths, foils = (
        metric.score_videos([text for texts in side for text in texts], references, videos)
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


TASK = FoilPairsTask()
