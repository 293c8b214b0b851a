"""How rare the words are by which the texts differ."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping

import numpy as np

from vttdata.generate.blind.attacker import by_texts
from vttdata.generate.blind.choices import ChoiceSet, VideoCorpus, list_own_rows
from vttdata.generate.blind.learning import Floats, rank_options


def measure_rarity(texts: VideoCorpus, choices: ChoiceSet) -> Floats:
    """Return the mean log frequency of an option's own words in texts, and its rank."""
    return _measure(choices, texts.frequencies)


def measure_rarity_in_set(choices: ChoiceSet) -> Floats:
    """Return the mean log frequency of an option's own words in all options of the set, and its rank."""
    return _measure(choices, Counter(word for options in choices.words for words in options for word in words))


def _measure(choices: ChoiceSet, frequencies: Mapping[str, int]) -> Floats:
    own = choices.compute_once(list_own_rows).take(choices.rows)
    logs = np.array([math.log(frequencies.get(word, 0) + 1) for word in own.words])[own.ids].tolist()
    ends = np.cumsum(own.sizes)
    spans = zip((ends - own.sizes).tolist(), ends.tolist(), strict=True)
    sums = np.array([math.fsum(logs[start:end]) for start, end in spans])
    column = (sums / np.maximum(1, own.sizes))[:, None]
    return np.hstack([column, rank_options(column, choices.starts)])


ATTACKER = by_texts(measure_rarity, measure_rarity_in_set)
