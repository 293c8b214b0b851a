"""Questions about one video beside each other: the words that they share, and what the likely answers of some say.

A second look at options is learned like any other: what is expected of the other questions about the video, by scores
of their options, goes with an option that is right, or against it.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vttdata.generate.blind.choices import ChoiceSet, Examples
from vttdata.generate.blind.learning import Floats, Integers, center_rows, nonnegative_choice_regression, softmax

# Questions about one video that are compared with each other; those of a longer list are compared in parts.
_MAX_SIBLINGS = 30
# Standard deviations of what noise would gain beyond which a look at the other questions is believed.
_DEVIATIONS = 1.0


@dataclass(frozen=True)
class Siblings:
    """Questions about one video.

    Fields:
        indices: of the questions, in all choices.
        rows: of their options, in all choices.
        owners: which of these questions each option belongs to.
        starts: which of these options is the first of each question.
        asked: 1 for each word of a question: questions x words.
        offered: 1 for each word of an option: options x words.
        words: the words.
        alike: share of words that two options have in common, 0 within a question: options x options.
        same: 1 for options of the same text, 0 within a question: options x options.
        alike_asked: share of words that two questions have in common: questions x questions, 0 on the diagonal.
    """

    indices: Integers
    rows: Integers
    owners: Integers
    starts: Integers
    asked: Floats
    offered: Floats
    words: Sequence[str]
    alike: Floats
    same: Floats
    alike_asked: Floats

    @functools.cached_property
    def likeness(self) -> tuple[Floats, Floats, Floats, Floats]:
        """`alike` and `same`, and both weighted by how alike the questions are."""
        asked = self.alike_asked[np.ix_(self.owners, self.owners)]
        return self.alike, self.same, self.alike * asked, self.same * asked


def list_siblings(choices: ChoiceSet) -> list[Siblings]:
    """Return the questions about each video that has several; empty where no video has."""
    members: dict[str, list[int]] = defaultdict(list)
    for index, item in enumerate(choices.items):
        members[item.video_id].append(index)
    return [
        _compare(choices, np.array(indices[start : start + _MAX_SIBLINGS], dtype=np.int64))
        for indices in members.values()
        for start in range(0, len(indices), _MAX_SIBLINGS)
        if len(indices[start : start + _MAX_SIBLINGS]) > 1
    ]


def _compare(choices: ChoiceSet, indices: Integers) -> Siblings:
    numbers: dict[str, int] = {}
    texts: dict[str, int] = {}
    asked = [[numbers.setdefault(word, len(numbers)) for word in choices.question_words[index]] for index in indices]
    offered = [
        [numbers.setdefault(word, len(numbers)) for word in words]
        for index in indices
        for words in choices.words[index]
    ]
    names = np.array(
        [
            texts.setdefault(text.casefold().strip(), len(texts))
            for index in indices
            for text in choices.items[index].options
        ]
    )
    sizes = choices.sizes[indices]
    owners, starts = np.repeat(np.arange(len(indices)), sizes), np.cumsum(sizes) - sizes
    marks = [_mark(rows, len(numbers)) for rows in (asked, offered)]
    apart = owners[:, None] != owners
    alike_asked = measure_overlap(marks[0])
    np.fill_diagonal(alike_asked, 0)
    return Siblings(
        indices,
        np.arange(len(owners)) - starts[owners] + choices.starts[indices][owners],
        owners,
        starts,
        marks[0],
        marks[1],
        [*numbers],
        measure_overlap(marks[1]) * apart,
        (names[:, None] == names) * apart * 1.0,
        alike_asked,
    )


def _mark(rows: Sequence[Sequence[int]], columns: int) -> Floats:
    marks = np.zeros((len(rows), columns))
    for row, numbers in enumerate(rows):
        marks[row, numbers] = 1
    return marks


def measure_overlap(marks: Floats) -> Floats:
    """Return the share of the words of each two texts that both have, from texts x words: texts x texts."""
    shared, sizes = marks @ marks.T, marks.sum(axis=1)
    overlap: Floats = shared / np.maximum(sizes[:, None] + sizes - shared, 1)
    return overlap


def look_again(examples: Examples, choices: ChoiceSet, scores: Floats) -> Floats:
    """Return scores of options corrected by what other questions about the video are expected to have as answers.

    Args:
        examples: choices of other videos than those that are tried, with answers; taken from `choices`.
        choices: all choices.
        scores: of all options, by what was learned without each, ``(options,)``.
    """
    if not any(item.question for item in choices.items):
        return scores
    expected = softmax(scores, choices.starts) - 1 / choices.sizes[choices.owners]
    features = np.zeros((len(scores), 5))
    features[:, 0] = scores
    for block in choices.compute_once(list_siblings):
        of_block = expected[block.rows]
        features[block.rows, 1:] = np.transpose([likeness @ of_block for likeness in block.likeness])
    own = examples.choices
    learned = np.zeros(len(choices.items), dtype=np.bool_)
    learned[own.indices] = True
    scale = np.sqrt((features[:, 1:] ** 2).mean(axis=0))
    beside = center_rows(features[:, 1:] / np.where(scale > 0, scale, np.inf), choices.starts)
    columns = np.column_stack([features[:, 0], beside, -beside])
    weights = nonnegative_choice_regression(columns[learned[choices.owners]], own.starts, examples.right, _DEVIATIONS)
    corrected: Floats = columns @ weights
    return corrected
