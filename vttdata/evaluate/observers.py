"""Observers without learned weights from elsewhere, which answer from what a condition shows.

One sees colours and motion: it is linear in the words of a text and in the colour histogram and motion of the pictures,
and learns from the items of other sources in the same condition. The other one is the ensemble of blind attackers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import av
import numpy as np
import numpy.typing as npt
from PIL import Image

from vttdata.conditions import Stimulus
from vttdata.dataset.stimuli import read_conditions, read_stimuli
from vttdata.errors import VttdataError
from vttdata.evaluate.columns import ScoreColumn
from vttdata.evaluate.conditions import (
    ConditionsReport,
    choose_metric,
    prepare_conditions,
    report_conditions,
    score_predictions,
)
from vttdata.evaluate.evaluation import EvaluationSettings
from vttdata.evaluate.items import ItemsT
from vttdata.evaluate.task import ObservedTask, Scoring, TextChoice, guess_task, load_evaluation_task
from vttdata.generate.blind.learning import choice_regression, sparse_matrix
from vttdata.generate.blind.trial import ENSEMBLE
from vttdata.ids import digest
from vttdata.media.decode import open_video
from vttdata.statistics.arrays import Floats, Integers
from vttdata.statistics.scores import ColumnScores

if TYPE_CHECKING:
    from scipy import sparse

SEEING = "colours-and-motion"
_SIDE, _LEVELS, _FOLDS = 32, 3, 5
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
    name = load_evaluation_task(guessed).observed_as or guessed
    task = load_evaluation_task(name)
    if not isinstance(task, ObservedTask):
        raise VttdataError(f"The built-in observers answer questions, choose between texts and retrieve; not {name}.")
    metric = choose_metric(task, metrics)
    scoring = prepare_conditions(dataset, name, metric, split, settings)
    items = scoring.items
    if len(items.source_ids) < 2:
        raise VttdataError("The built-in observers learn from captions or questions about other sources; give several.")
    columns: dict[str, dict[str, ScoreColumn]] = {SEEING: {}}
    notes: list[str] = []
    known = set(items.clip_ids)
    for condition in read_conditions(stimuli):
        seen = {each.video_id: each for each in read_stimuli(stimuli, [condition]) if each.video_id in known}
        if not seen:
            continue
        if task.needs_all and len(seen) < len(known):
            notes.append(f"{condition}: {len(known) - len(seen):,} clips have no stimulus, and a ranking needs all.")
            continue
        vectors = {video_id: describe_stimulus(stimuli, each) for video_id, each in seen.items()}
        predictions = _predict(task, scoring, vectors)
        columns[SEEING][condition], found = score_predictions(task, scoring, predictions, metric, condition)
        notes += [f"{condition}: {note}" for note in found]
    if not columns[SEEING]:
        raise VttdataError(f"{stimuli}: holds no stimulus of the items of {items.config}/{items.split}.")
    right = None
    try:
        right = task.solve_blindly(items)
    except VttdataError as error:
        notes.append(f"The blind ensemble did not try these items: {error}")
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


class _Trial(NamedTuple):
    """Choice of an observer between texts about a clip, and the fold that it is tried in."""

    choice: TextChoice
    clip: int
    fold: int


def _predict(task: ObservedTask[ItemsT], scoring: Scoring[ItemsT], vectors: Mapping[str, Floats]) -> Any:
    """Return predictions from what is seen of each clip, in the form that the task scores; None of other clips."""
    items = scoring.items
    clips, clip_ids = {video_id: number for number, video_id in enumerate(vectors)}, items.clip_ids
    present = [index for index, video_id in enumerate(clip_ids) if video_id in clips]
    fold_of = np.array(assign_folds(items.source_ids))[items.sources]
    texts, choices = task.list_choices(scoring, present)
    trials = [
        _Trial(choice, clips[clip_ids[index]], fold_of[index]) for index, choice in zip(present, choices, strict=True)
    ]
    seen = np.array(list(vectors.values()))
    deviation = seen.std(axis=0)
    seen = _SCALE * (seen - seen.mean(axis=0)) / np.where(deviation > 1e-9, deviation, 1) * (deviation > 1e-9)
    shown = np.column_stack([np.ones(len(seen)), seen])
    words = sparse_matrix(dict.fromkeys(text, 1.0) for text in texts)
    scores = _score_choices(words, shown, trials)
    if not task.needs_all:
        scores = [values[list(choice.texts)].round(9) for choice, values in zip(choices, scores, strict=True)]
    return task.observe(scoring, dict(zip(present, scores, strict=True)))


def _score_choices(words: sparse.csr_matrix, shown: Floats, trials: Sequence[_Trial]) -> list[Floats]:
    """Return the scores of all texts for the clip of each trial, by what was learned from trials of other folds."""
    from scipy import sparse

    texts: Integers = np.array([text for trial in trials for text in trial.choice.texts], dtype=np.int64)
    sizes = np.array([len(trial.choice.texts) for trial in trials])
    right = np.array([trial.choice.right for trial in trials])
    clips, folds = (np.array([getattr(trial, name) for trial in trials]) for name in ("clip", "fold"))
    owners = np.repeat(np.arange(len(trials)), sizes)
    seen = shown[clips[owners]]
    products = sparse.hstack([words[texts].multiply(column[:, None]).tocsr() for column in seen.T], format="csr")
    found: list[Floats] = [np.zeros(words.shape[0])] * len(trials)
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
