"""Numbers in the options: their rank, their distance from the others, and whether they are round."""

from __future__ import annotations

import re

import numpy as np

from vttdata.generate.blind.attacker import by_features
from vttdata.generate.blind.choices import AttackerUnavailableError, ChoiceSet
from vttdata.generate.blind.learning import Floats, Integers, center_rows, rank_options

_NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?")
_WORDS = {
    word: number
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen twenty".split()
    )
} | {"once": 1, "twice": 2, "thrice": 3, "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6}


def read_numbers(choices: ChoiceSet) -> Floats:
    """Return the first number of each option, as digits or as a word; NaN where it has none."""
    values = np.full(len(choices.owners), np.nan)
    texts = [text for item in choices.items for text in item.options]
    words = [words for options in choices.words for words in options]
    for row, (text, of_text) in enumerate(zip(texts, words, strict=True)):
        match = _NUMBER.search(text)
        found = (
            match.group().replace(",", "") if match else next((_WORDS[word] for word in of_text if word in _WORDS), "")
        )
        if found != "":
            values[row] = float(found)
    return values


def list_numeric(choices: ChoiceSet, values: Floats) -> Integers:
    """Return the indices of the choices whose options all have a number, not all the same."""
    known = np.add.reduceat(np.isfinite(values), choices.starts) == choices.sizes
    spread = np.maximum.reduceat(values, choices.starts) > np.minimum.reduceat(values, choices.starts)
    return np.flatnonzero(known & spread)


def rank_numbers(choices: ChoiceSet) -> list[str]:
    """Return for each option its rank among the numbers of its choice and their count; empty where one has none."""
    values = read_numbers(choices)
    ranks = [""] * len(values)
    for index in list_numeric(choices, values).tolist():
        start, size = choices.starts[index], choices.sizes[index]
        of_choice = values[start : start + size]
        for offset in range(size):
            below = int((of_choice < of_choice[offset]).sum())
            ranks[start + offset] = f"{below} of {size}"
    return ranks


def describe_numbers(choices: ChoiceSet) -> Floats:
    """Return what the numbers of options are beside each other, and 0 for choices whose options are no numbers.

    Columns: rank -1..1 and its square; the lowest; the highest; distance from the mean of all, in standard deviations,
    and from the nearest other one; roundness (a multiple of 5, of 10, a whole number); magnitude.
    """
    values = read_numbers(choices)
    numeric = list_numeric(choices, values)
    if not len(numeric):
        raise AttackerUnavailableError("the options are no numbers")
    columns = np.zeros((len(values), 9))
    tried = choices.take(numeric)
    rows = np.flatnonzero(np.isin(choices.owners, numeric))
    of_tried = values[rows]
    ranks = rank_options(of_tried[:, None], tried.starts)[:, 0]
    centered = center_rows(of_tried, tried.starts)
    spread = np.sqrt(np.add.reduceat(centered**2, tried.starts) / tried.sizes)[tried.owners]
    nearest = np.zeros(len(of_tried))
    for start, size in zip(tried.starts.tolist(), tried.sizes.tolist(), strict=True):
        gaps = np.abs(of_tried[start : start + size, None] - of_tried[start : start + size])
        np.fill_diagonal(gaps, np.inf)
        nearest[start : start + size] = gaps.min(axis=1)
    columns[rows] = np.column_stack(
        [
            ranks,
            ranks**2,
            ranks == -1,
            ranks == 1,
            np.abs(centered) / spread,
            nearest / spread,
            of_tried % 5 == 0,
            of_tried % 10 == 0,
            np.log1p(np.abs(of_tried)),
        ]
    )
    return columns


ATTACKER = by_features(describe_numbers)
