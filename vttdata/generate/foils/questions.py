"""Multiple-choice questions: a true caption and several foils that all have another word in the same position.

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

from vttdata.generate.blind.questions import MultipleChoice
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

# Sets of foils of a position that the programme may choose from.
_SETS_PER_POSITION = 6
# Distance of a sum from its target that is free: with more, of words that are in few questions each, the programme
# takes the same side of all. Imbalance of words beside others in units of that of words; fewer uses teach nothing.
_SLACK = 1.0
_CONTEXT_WEIGHT = 4.0
_MIN_CONTEXTS = 30
# Nodes of a search in integers, which takes most of the time; more of them find hardly more questions.
_MAX_NODES = 20


@dataclass(frozen=True, slots=True)
class FoilQuestion:
    """Multiple-choice question whose options are a caption of the video and foils of it.

    `caption_id` is that of the answer, and `supercategory` that of the words by which the options differ.
    """

    caption_id: str
    supercategory: str
    choice: MultipleChoice
    split: str | None = None


def balance_questions(
    options: Sequence[Option],
    positions: Sequence[Hashable],
    *,
    foils: int,
    seed: int,
    imbalance: float,
    learn: Callable[[Sequence[int]], Iterable[Floats]] | None = None,
) -> list[list[int]]:
    """Choose as many questions as possible, at most one a unit, such that no feature reveals the answers.

    A question takes `foils` options of one position. Its features are the sums of those of its pairs of the answer and
    a foil; see `vttdata.generate.foils.selection.balance_foils`. The sum of a word is 0 where it is a foil `foils`
    times as often as it is the answer; and by each number, the answer has each rank among the options as often.

    Sums of 0 would tell who knows the other answers which words are still due. So after a first choice, the answers of
    its questions are drawn, each option as likely as the others, and the next choice is made such that its sums are
    those that the questions would have with the drawn answers.

    Args:
        options: foils of captions; those of one position have one true word.
        positions: for each option, what identifies its caption and the position that is changed.
        foils: number of foils of a question.
        seed: decides the draw, and between questions that are equally good.
        imbalance: limit of how far the sums of each kind are from their targets, as a share of the pairs.
        learn: as of `balance_foils`.

    Returns:
        Indices of the options of each question; the order of the options does not change which are chosen.
    """
    by_position: dict[Hashable, list[int]] = defaultdict(list)
    for index in sorted(range(len(options)), key=lambda index: (options[index].unit, options[index].key)):
        by_position[positions[index]].append(index)
    sets = [chosen for indices in by_position.values() for chosen in _draw_sets(options, indices, foils, seed)]
    if not sets:
        return []
    indices = np.array(sets)
    units = np.unique([options[first].unit for first in indices[:, 0]], return_inverse=True)[1]
    drawn = [_draw_answer(seed, [options[index] for index in chosen]) for chosen in sets]
    margins = np.array([abs(option.margin) for option in options])[indices].mean(axis=1)
    unsound = np.array([option.unsound_probability for option in options])[indices].max(axis=1)
    ties = np.array([hash_to_unit_interval(seed, option) for option in options])[indices].mean(axis=1)
    costs = MARGIN_COST * np.minimum(margins, MAX_MARGIN) + unsound - 1 + TIE_COST * ties
    compared = _compare_words(options)[indices].transpose(2, 0, 1)
    columns: list[int] = []
    learned: list[Floats] = []
    for number in range(2 + ROUNDS):
        programme = Programme(units, np.arange(len(sets)), 1.0)
        _balance_words(programme, [[options[index] for index in chosen] for chosen in sets], drawn, columns, imbalance)
        for differences, limit in (*((each, 1.0) for each in compared), *((each, LEARNED_WEIGHT) for each in learned)):
            for values, of_drawn in zip(
                _summarize(differences), _summarize(_change_answers(differences, drawn)), strict=True
            ):
                target = sum(weight for _, weight in scale_sum(of_drawn[columns], values))
                programme.balance([scale_sum(values, values)], _SLACK, limit * imbalance, [target])
        columns = programme.solve(costs, max_nodes=_MAX_NODES)
        if number and (learn is None or not columns):
            break
        if number and learn is not None:
            learned += [margins[indices] for margins in learn(indices[columns].ravel().tolist())]
    return [sets[column] for column in columns]


def _draw_answer(seed: int, chosen: Sequence[Option]) -> int:
    """Draw which option of a question would be its answer: 0 for the true word, or the number of a foil from 1."""
    digest = _hash(seed, "answer", chosen[0].unit, *(option.key for option in chosen))
    return int.from_bytes(digest[:7], "big") % (len(chosen) + 1)


def _change_answers(differences: Floats, answers: Sequence[int]) -> Floats:
    """Return the differences (questions x foils, by how much the answer is above each foil) with other answers.

    These are 0 for a question's own answer, or the number of a foil from 1.
    """
    values = np.concatenate([np.zeros((len(differences), 1)), -differences], axis=1)
    numbers = np.arange(values.shape[1])
    others = np.array([np.delete(numbers, answer) for answer in answers])
    rows = np.arange(len(values))[:, np.newaxis]
    changed: Floats = values[rows, np.array(answers)[:, np.newaxis]] - values[rows, others]
    return changed


def _balance_words(
    programme: Programme,
    questions: Sequence[Sequence[Option]],
    drawn: Sequence[int],
    columns: Sequence[int],
    imbalance: float,
) -> None:
    """Limit the sums of words, of words beside those of other options, and beside frequent ones of the caption.

    A sum is 0 where what it counts is in a foil as many times as often as it is in the answer as there are foils. Its
    target is that of the given questions (`columns`) with the drawn answers.
    """
    sums: list[dict[Hashable, list[tuple[int, float]]]] = [defaultdict(list) for _ in range(3)]
    targets: list[Counter[Hashable]] = [Counter() for _ in range(3)]
    for column, question in enumerate(questions):
        for kind, feature, value in _list_words(question, 0):
            sums[kind][feature].append((column, value))
    for column in columns:
        for kind, feature, value in _list_words(questions[column], drawn[column]):
            targets[kind][feature] += value
    frequent = {feature: weights for feature, weights in sums[2].items() if len(weights) >= _MIN_CONTEXTS}
    max_gain = len(questions[0]) * imbalance
    for of_kind, target, weight in zip((*sums[:2], frequent), targets, (1.0, 1.0, _CONTEXT_WEIGHT), strict=True):
        programme.balance(of_kind.values(), _SLACK, weight * max_gain, [target[feature] for feature in of_kind])


def _list_words(question: Sequence[Option], answer: int) -> Iterator[tuple[int, Hashable, int]]:
    """Yield the features of a question with an answer: kind, feature and value.

    Kinds are 0 for words, 1 for words beside those of other options, and 2 for words beside others of the caption. The
    answer is 0 for the true word, or the number of one of the options, which are foils, from 1.
    """
    words = [question[0].word, *(option.foil_word for option in question)]
    surplus: Counter[str] = Counter()
    for foil in words[:answer] + words[answer + 1 :]:
        surplus.update(dict(list_surplus(words[answer], foil)))
    for word, total in surplus.items():
        yield 0, word, total
        for other in question[0].context:
            yield 2, (word, other), total
    for (number, word), (_, other) in itertools.permutations(enumerate(words), 2):
        yield 1, (word, other), len(question) if number == answer else -1


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
    """Yield what is 0 on average: sums of margins and of their signs, and how much more often the answer has a rank.

    An attacker answers with the option of a rank; options of one value share their ranks. Margins are questions x
    foils, by how much the answer is above each foil.
    """
    yield margins.sum(axis=1)
    yield np.sign(margins).sum(axis=1)
    below, ties = (margins > 0).sum(axis=1), 1 + (margins == 0).sum(axis=1)
    ranks = margins.shape[1] + 1
    for rank in range(ranks):
        yield ((below <= rank) & (rank < below + ties)) / ties - 1 / ranks


def _draw_sets(options: Sequence[Option], indices: Sequence[int], foils: int, seed: int) -> list[list[int]]:
    """Draw some sets of foils of one position by a hash of all their words, which those of other answers share."""
    sets = [
        [*chosen]
        for chosen in itertools.combinations(indices, foils)
        if len({options[index].foil_word for index in chosen}) == foils
    ]
    answer = options[indices[0]].word

    def rank(chosen: Sequence[int]) -> bytes:
        return _hash(seed, *sorted([answer, *(options[index].foil_word for index in chosen)]))

    return sorted(sets, key=rank)[:_SETS_PER_POSITION]


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
