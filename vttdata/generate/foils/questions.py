"""Multiple-choice questions: a true caption and several foils that all have another word in the same place.

Questions are chosen so that no feature of an option tells whether it is the answer, and the right option is in each
position equally often.
"""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from vttdata.generate.foils.blind.questions import MultipleChoice
from vttdata.generate.foils.documents import FoilPair
from vttdata.generate.foils.selection import (
    LEARNED_WEIGHT,
    MARGIN_COST,
    MAX_MARGIN,
    ROUNDS,
    TIE_COST,
    Floats,
    Option,
    Programme,
    hash_to_unit_interval,
    list_surplus,
    scale_sum,
)

QUESTION = "Which caption describes the video?"

# Sets of foils of a place that the programme may choose from.
_SETS_PER_PLACE = 6
# Imbalance of a sum that is free, and of words beside others in units of that of words; fewer uses teach nothing.
_SLACK = 3.0
_CONTEXT_WEIGHT = 4.0
_MIN_CONTEXTS = 30


@dataclass(frozen=True, slots=True)
class FoilQuestion:
    """Multiple-choice question whose options are a caption of the video and foils of it.

    Fields:
        caption_id: Caption that is the answer.
        supercategory: Supercategory of the words by which the options differ.
        choice: Question, options and the index of the answer.
        split: Split of the video.
    """

    caption_id: str
    supercategory: str
    choice: MultipleChoice
    split: str | None = None


def balance_questions(
    options: Sequence[Option],
    places: Sequence[Hashable],
    *,
    foils: int,
    seed: int,
    imbalance: float,
    learn: Callable[[Sequence[int]], Iterable[Floats]] | None = None,
) -> list[list[int]]:
    """Choose as many questions as possible, at most one a unit, such that no feature reveals the answers.

    A question takes `foils` options of one place. Its features are the sums of those of its pairs of the answer and a
    foil; see `vttdata.generate.foils.selection.balance_foils`. The sum of a word is 0 where it is a foil `foils` times
    as often as it is the answer, so that knowing the word is as good as guessing; and by every number, the answer has
    each rank among the options equally often.

    Args:
        options: Foils of captions; those of one place have one true word.
        places: For each option, what identifies its caption and the changed place.
        foils: Number of foils of a question.
        seed: Decides between questions that are equally good.
        imbalance: Limit of what is left of the sums of each kind, as a share of the pairs.
        learn: Returns the margins of all options by classifiers that learned from the given ones; see `balance_foils`.

    Returns:
        Indices of the options of each question; the order of the options does not change which are chosen.
    """
    by_place: dict[Hashable, list[int]] = defaultdict(list)
    for index in sorted(range(len(options)), key=lambda index: (options[index].unit, options[index].key)):
        by_place[places[index]].append(index)
    sets = [chosen for indices in by_place.values() for chosen in _draw_sets(options, indices, foils, seed)]
    if not sets:
        return []
    indices = np.array(sets)
    units = np.unique([options[first].unit for first in indices[:, 0]], return_inverse=True)[1]
    programme = Programme(units, np.arange(len(sets)), 1.0)
    _balance_words(programme, [[options[index] for index in chosen] for chosen in sets], foils * imbalance)
    numbers = _compare_words(options)
    for feature in numbers[indices].transpose(2, 0, 1):
        for values in (np.sign(feature).sum(axis=1), *_summarize(feature)):
            programme.balance([scale_sum(values, values)], _SLACK, imbalance)
    margins = np.array([abs(option.margin) for option in options])[indices].mean(axis=1)
    unsound = np.array([option.unsound_probability for option in options])[indices].max(axis=1)
    ties = np.array([hash_to_unit_interval(seed, option) for option in options])[indices].mean(axis=1)
    costs = MARGIN_COST * np.minimum(margins, MAX_MARGIN) + unsound - 1 + TIE_COST * ties
    columns = programme.solve(costs)
    for _ in range(ROUNDS):
        if learn is None or not columns:
            break
        for learned in learn(indices[columns].ravel().tolist()):
            for values in _summarize(learned[indices]):
                programme.balance([scale_sum(values, values[columns])], _SLACK, LEARNED_WEIGHT * imbalance)
        columns = programme.solve(costs)
    return [sets[column] for column in columns]


def _balance_words(programme: Programme, sets: Sequence[Sequence[Option]], max_gain: float) -> None:
    """Limit the sums of words, of words beside those of other options, and beside frequent ones of the caption.

    A sum is 0 where what it counts is in a foil `foils` times as often as it is in the answer.
    """
    words: dict[str, list[tuple[int, float]]] = defaultdict(list)
    companions: dict[tuple[str, str], list[tuple[int, float]]] = defaultdict(list)
    contexts: dict[tuple[str, str], list[tuple[int, float]]] = defaultdict(list)
    for column, chosen in enumerate(sets):
        surplus: Counter[str] = Counter()
        for option in chosen:
            surplus.update(dict(list_surplus(option)))
        for word, total in surplus.items():
            words[word].append((column, total))
            for other in chosen[0].context:
                contexts[word, other].append((column, total))
        answer = chosen[0].word
        for word, other in itertools.permutations([answer, *(option.foil_word for option in chosen)], 2):
            companions[word, other].append((column, len(chosen) if word == answer else -1))
    programme.balance(words.values(), _SLACK, max_gain)
    programme.balance(companions.values(), _SLACK, max_gain)
    frequent = [sums for sums in contexts.values() if len(sums) >= _MIN_CONTEXTS]
    programme.balance(frequent, _SLACK, _CONTEXT_WEIGHT * max_gain)


def _compare_words(options: Sequence[Option]) -> Floats:
    """Return options x numbers by which the true word differs from the false one."""
    frequency = Counter(option.word for option in options)
    return np.array(
        [
            (
                len(option.word) - len(option.foil_word),
                len(option.word.split()) - len(option.foil_word.split()),
                np.log((frequency[option.word] + 0.5) / (frequency[option.foil_word] + 0.5)),
                option.margin,
                *option.associations,
            )
            for option in options
        ],
        dtype=float,
    )


def _summarize(margins: Floats) -> Iterator[Floats]:
    """Yield what must be 0 on average: sums of margins, and how much oftener than by chance the answer has a rank.

    An attacker answers with the option of a rank; options of one value share their ranks.

    Args:
        margins: questions x foils, by how much the answer is above each foil.
    """
    yield margins.sum(axis=1)
    below, ties = (margins > 0).sum(axis=1), 1 + (margins == 0).sum(axis=1)
    ranks = margins.shape[1] + 1
    for rank in range(ranks):
        yield ((below <= rank) & (rank < below + ties)) / ties - 1 / ranks


def _draw_sets(options: Sequence[Option], indices: Sequence[int], foils: int, seed: int) -> list[list[int]]:
    """Draw some sets of foils of one place by a hash."""
    sets = [
        [*chosen]
        for chosen in itertools.combinations(indices, foils)
        if len({options[index].foil_word for index in chosen}) == foils
    ]
    return sorted(sets, key=lambda chosen: _hash(seed, *(options[index].key for index in chosen)))[:_SETS_PER_PLACE]


def arrange_questions(pairs: Sequence[FoilPair], seed: int) -> list[FoilQuestion]:
    """Make a question of each caption and its foils.

    The answers of a split, and those of all questions, are in each position equally often, give or take one. The order
    of the options depends on the seed and the captions only.
    """
    foils: dict[str, list[FoilPair]] = defaultdict(list)
    for pair in pairs:
        foils[pair.caption_id].append(pair)
    ranked = sorted(foils, key=lambda name: (foils[name][0].split or "", _hash(seed, "position", name)))
    positions = {name: rank % (len(foils[name]) + 1) for rank, name in enumerate(ranked)}
    questions = []
    for name, of_caption in foils.items():
        first = of_caption[0]
        texts = sorted((pair.foil for pair in of_caption), key=lambda text: _hash(seed, name, text))
        texts.insert(positions[name], first.caption)
        choice = MultipleChoice(QUESTION, tuple(texts), positions[name], first.video_id)
        questions.append(FoilQuestion(name, first.swap.supercategory, choice, first.split))
    return questions


def _hash(seed: int, *parts: str) -> bytes:
    return hashlib.sha256("\0".join((str(seed), *parts)).encode("utf-8", "replace")).digest()
