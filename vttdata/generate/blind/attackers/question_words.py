"""How many words an option shares with its question."""

from __future__ import annotations

import numpy as np

from vttdata.generate.blind.attacker import by_features
from vttdata.generate.blind.choices import ChoiceSet, check_questions
from vttdata.generate.blind.learning import Floats


def count_question_words(choices: ChoiceSet) -> Floats:
    """Return the number and the share of words that an option shares with its question."""
    check_questions(choices)
    shared = []
    for asked, options in zip(choices.question_words, choices.words, strict=True):
        counts = [sum(word in asked for word in words) for words in options]
        shared += [(count, count / max(len(words), 1)) for count, words in zip(counts, options, strict=True)]
    return np.array(shared, dtype=float)


ATTACKER = by_features(count_question_words)
