"""Observers without learned weights from elsewhere, which answer from what a condition shows.

One sees colours and motion: it is linear in the words of a text and in the colour histogram and motion of the pictures,
and learns from the items of other sources in the same condition. The other one is the ensemble of blind attackers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import av
import numpy as np
import numpy.typing as npt
from PIL import Image

from vttdata.conditions import Stimulus
from vttdata.dataset.stimuli import read_conditions, read_stimuli
from vttdata.errors import VttdataError
from vttdata.evaluate.answers import Answer, Asked
from vttdata.evaluate.columns import ScoreColumn
from vttdata.evaluate.conditions import (
    ConditionsReport,
    choose_metric,
    prepare_conditions,
    report_conditions,
    score_predictions,
)
from vttdata.evaluate.evaluation import EvaluationSettings
from vttdata.evaluate.items import Items
from vttdata.evaluate.predictions import Matched, Similarity
from vttdata.evaluate.task import Scoring, guess_task, load_evaluation_task
from vttdata.evaluate.tasks.retrieval import RetrievalPredictions
from vttdata.generate.blind.attacker import load_attackers
from vttdata.generate.blind.choices import TextPair, arrange_pairs
from vttdata.generate.blind.learning import choice_regression, sparse_matrix
from vttdata.generate.blind.questions import MultipleChoice, audit_questions, find_floor
from vttdata.generate.blind.shortcuts import check_pairs
from vttdata.generate.blind.trial import ENSEMBLE, answer_choices, try_attackers
from vttdata.generate.blind.words import lower_words
from vttdata.ids import digest
from vttdata.media.decode import open_video
from vttdata.statistics.arrays import Floats, Integers
from vttdata.statistics.scores import ColumnScores

if TYPE_CHECKING:
    from scipy import sparse

SEEING = "colours-and-motion"
_SIDE, _LEVELS, _FOLDS = 32, 3, 5
# Captions of other clips with which that of a clip is compared in learning.
_OTHER_CAPTIONS = 8
# Standard deviation of each number, on which the penalty of the regression depends.
_SCALE = 0.5


def observe_conditions(
    dataset: Path,
    stimuli: Path,
    *,
    split: str | None = None,
    metrics: Sequence[str] = (),
    settings: EvaluationSettings | None = None,
) -> ConditionsReport:
    """Let the observers answer in each condition of a folder of stimuli; clips are retrieved by their first captions.

    Raises:
        VttdataError: if the stimuli are not finished, the items are of fewer than two sources, or SciPy is missing.
    """
    settings = settings or EvaluationSettings()
    guessed = settings.task or guess_task(dataset, None, None)
    name = "retrieval" if guessed == "captioning" else guessed
    if name not in ("retrieval", "foils", "questions"):
        raise VttdataError(f"The built-in observers answer questions, choose between texts and retrieve; not {name}.")
    metric = choose_metric(name, metrics)
    scoring = prepare_conditions(dataset, name, metric, split, settings)
    items = scoring.items
    if len(items.source_ids) < 2 or items.text_spans:
        raise VttdataError("The built-in observers learn from captions or questions about other sources; give several.")
    columns: dict[str, dict[str, ScoreColumn]] = {SEEING: {}}
    notes: list[str] = []
    task, known = load_evaluation_task(name), set(items.clip_ids)
    for condition in read_conditions(stimuli):
        seen = {each.video_id: each for each in read_stimuli(stimuli, [condition]) if each.video_id in known}
        if not seen:
            continue
        if name == "retrieval" and len(seen) < len(known):
            notes.append(f"{condition}: {len(known) - len(seen):,} clips have no stimulus, and a ranking needs all.")
            continue
        vectors = {video_id: describe_stimulus(stimuli, each) for video_id, each in seen.items()}
        predictions = _predict(scoring, vectors)
        columns[SEEING][condition], found = score_predictions(task, scoring, predictions, metric, condition)
        notes += [f"{condition}: {note}" for note in found]
    if not columns[SEEING]:
        raise VttdataError(f"{stimuli}: holds no stimulus of the items of {items.config}/{items.split}.")
    right = _blind_right(items, notes)
    if right is not None:
        columns[f"blind-{ENSEMBLE}"] = {"text": ScoreColumn(ColumnScores.from_means(right), np.arange(len(right)))}
    return report_conditions(scoring, columns, metric, settings, [*items.notes, *notes])


def describe_stimulus(folder: Path, stimulus: Stimulus) -> Floats:
    """Return the colour histogram of the pictures of a stimulus, how it changes, and their motion; zeros of nothing.

    The histogram has 27 bins. Its change is that from the first to the second half of the pictures. Motion is the mean
    absolute change of grey, and its mean product with the gradients to the right and downwards, of pictures of 32 x 32.
    """
    pictures = list(_small_pictures([folder / name for name in stimulus.files]))
    bins = _LEVELS**3
    if not pictures:
        return np.zeros(2 * bins + 3)
    levels = np.array(pictures).astype(np.int64) * _LEVELS // 256
    codes = (levels * (_LEVELS**2, _LEVELS, 1)).sum(axis=3).reshape(len(pictures), -1)
    shares = np.array([np.bincount(row, minlength=bins) for row in codes]) / codes.shape[1]
    half = len(shares) // 2
    change = shares[-half:].mean(axis=0) - shares[:half].mean(axis=0) if half else np.zeros(bins)
    grey = np.array(pictures).astype(np.float64).mean(axis=3) / 255
    motion = np.zeros(3)
    if len(grey) > 1:
        steps, middles = np.diff(grey, axis=0), (grey[1:] + grey[:-1]) / 2
        down, right = np.gradient(middles, axis=(1, 2))
        motion = np.array([np.abs(steps).mean(), -(steps * right).mean(), -(steps * down).mean()])
    return np.concatenate([shares.mean(axis=0), change, motion])


def _small_pictures(files: Sequence[Path]) -> Iterator[npt.NDArray[np.uint8]]:
    def shrink(frame: av.VideoFrame) -> npt.NDArray[np.uint8]:
        return np.asarray(frame.reformat(_SIDE, _SIDE, "rgb24", interpolation="AREA").to_ndarray(), np.uint8)

    for file in files:
        if file.suffix == ".mp4":
            with open_video(file) as video:
                yield from (shrink(frame.picture) for frame in video.frames())
        else:
            with Image.open(file) as image:
                yield shrink(av.VideoFrame.from_ndarray(np.asarray(image.convert("RGB")), "rgb24"))


@dataclass(frozen=True, slots=True)
class _Choice:
    """Texts of an item of which one is right: the numbers of the texts, that of the clip, and its fold."""

    texts: Sequence[int]
    right: int
    clip: int
    fold: int


def _predict(scoring: Scoring, vectors: Mapping[str, Floats]) -> Any:
    """Return predictions from what is seen of each clip, in the form that the task scores; None of other clips."""
    items = scoring.items
    clips = {video_id: number for number, video_id in enumerate(vectors)}
    present = [index for index, video_id in enumerate(items.clip_ids) if video_id in clips]
    fold_of = np.array(assign_folds(items.source_ids))[items.sources]
    texts, choices = _list_choices(
        scoring, [(index, clips[items.clip_ids[index]], fold_of[index]) for index in present]
    )
    seen = np.array(list(vectors.values()))
    deviation = seen.std(axis=0)
    seen = _SCALE * (seen - seen.mean(axis=0)) / np.where(deviation > 1e-9, deviation, 1) * (deviation > 1e-9)
    shown = np.column_stack([np.ones(len(seen)), seen])
    words = sparse_matrix(dict.fromkeys(text, 1.0) for text in texts)
    scores = _score_choices(words, shown, choices)
    if scoring.task == "retrieval":
        matrix = np.column_stack(scores)
        return RetrievalPredictions(SEEING, Similarity(matrix, items.ids, items.ids))
    found: list[Any] = [None] * len(items.ids)
    for index, choice, values in zip(present, choices, scores, strict=True):
        of_texts = values[list(choice.texts)].round(9)
        best = np.flatnonzero(of_texts == of_texts.max()).tolist()
        pair = float(of_texts[0]), float(of_texts[-1])
        found[index] = pair if scoring.task == "foils" else Answer(frozenset(best), 1 / len(best))
    return Matched(found, scoring.complete)


def _list_choices(scoring: Scoring, present: Sequence[tuple[int, int, int]]) -> tuple[list[list[str]], list[_Choice]]:
    """Return the words of texts, and the choices between them, of items given by their index, clip and fold."""
    items, texts, choices = scoring.items, list[list[str]](), list[_Choice]()
    if scoring.task == "retrieval":
        texts = [lower_words(references[0]) for references in items.references]
        for index, clip, fold in present:
            others = [other for other, _, _ in present if items.sources[other] != items.sources[index]]
            draw = scoring.setting.draw(items.ids[index], "other captions")
            drawn = draw.sample(others, min(_OTHER_CAPTIONS, len(others)))
            choices.append(_Choice([index, *drawn], 0, clip, fold))
        return texts, choices
    for index, clip, fold in present:
        first = len(texts)
        if scoring.task == "foils":
            texts += [lower_words(" ".join(side)) for side in (items.truths[index], items.foils[index])]
            right = 0
        else:
            asked = items.questions[index]
            texts += _option_words(asked)
            right = asked.answer
        choices.append(_Choice(range(first, len(texts)), right, clip, fold))
    return texts, choices


def _option_words(asked: Asked) -> Iterator[list[str]]:
    """Yield the words of each option; those of yes and no are the words of the question, apart for both."""
    question = lower_words(asked.question)
    for option in asked.choices.options:
        words = lower_words(option)
        yield [f"{word} {option.lower()}" for word in question] if asked.is_yes_no else words


def _score_choices(words: sparse.csr_matrix, shown: Floats, choices: Sequence[_Choice]) -> list[Floats]:
    """Return the scores of all texts for the clip of each choice, by what was learned from choices of other folds."""
    from scipy import sparse

    texts: Integers = np.array([text for choice in choices for text in choice.texts], dtype=np.int64)
    sizes = np.array([len(choice.texts) for choice in choices])
    clips, folds, right = (
        np.array([getattr(choice, name) for choice in choices]) for name in ("clip", "fold", "right")
    )
    owners = np.repeat(np.arange(len(choices)), sizes)
    seen = shown[clips[owners]]
    products = sparse.hstack([words[texts].multiply(column[:, None]).tocsr() for column in seen.T], format="csr")
    found: list[Floats] = [np.zeros(words.shape[0])] * len(choices)
    for fold in np.unique(folds):
        learned = folds != fold
        if learned.any():
            starts = np.cumsum(sizes[learned]) - sizes[learned]
            weights = choice_regression(products[learned[owners]], starts, starts + right[learned])
            weights = weights.reshape(shown.shape[1], -1)
            for number in np.flatnonzero(folds == fold).tolist():
                found[number] = np.asarray(words @ (shown[clips[number]] @ weights))
    return found


def assign_folds(source_ids: Sequence[str]) -> list[int]:
    """Return the fold of each source, 0 to 4 at most, by the order of the hashes of their ids."""
    ranked = sorted(source_ids, key=digest)
    fold_of = {name: rank % _FOLDS for rank, name in enumerate(ranked)}
    return [fold_of[name] for name in source_ids]


def _blind_right(items: Items, notes: list[str]) -> Floats | None:
    """Return how far the ensemble of blind attackers is right on each item, 0..1; None where it cannot try them."""
    try:
        if items.questions:
            questions = [
                MultipleChoice(
                    asked.question, tuple(asked.choices.options), asked.answer, items.source_ids[source], group
                )
                for asked, source, group in zip(items.questions, items.sources, items.belongs_to, strict=True)
            ]
            return np.array(find_floor(audit_questions(questions)).right)
        if not items.truths:
            return None
        pairs = [
            TextPair(" ".join(true), " ".join(foil), video)
            for true, foil, video in zip(items.truths, items.foils, items.clip_ids, strict=True)
        ]
        check_pairs(pairs)
        choices, answers = arrange_pairs(pairs)
        trial = try_attackers(load_attackers(), choices, answers)
        return answer_choices(trial.scores[ENSEMBLE], choices.starts, answers)
    except VttdataError as error:
        notes.append(f"The blind ensemble did not try these items: {error}")
        return None
