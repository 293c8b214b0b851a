"""Which text is likelier by n-gram models of orders 2 to 4, trained on texts of other videos."""

from __future__ import annotations

import numpy as np

from vttdata.generate.blind.attacker import by_texts
from vttdata.generate.blind.choices import AttackerUnavailableError, ChoiceSet, VideoCorpus, cut_texts, number_texts
from vttdata.generate.blind.learning import Floats

_ORDERS = (2, 3, 4)


def score_by_ngrams(texts: VideoCorpus, choices: ChoiceSet) -> Floats:
    """Return the mean log probability of a word of each option by each model."""
    if not texts.frequencies:
        raise AttackerUnavailableError("the texts to learn from have no words")
    numbers = choices.compute_once(number_texts)[1][choices.rows]
    different, rows = np.unique(numbers, return_inverse=True)
    words = choices.compute_once(cut_texts).take(different)
    return -np.log(np.column_stack([model.score_rows(words) for model in texts.models(_ORDERS)]))[rows]


ATTACKER = by_texts(score_by_ngrams)
