"""Which text is likelier by n-gram models of orders 2 to 4, trained on texts of other videos."""

from __future__ import annotations

import numpy as np

from vttdata.generate.blind.attacker import AttackedPairs, AttackerUnavailableError, BlindAttacker, scaled_columns
from vttdata.generate.blind.learning import Floats, perplexity_margins
from vttdata.generate.blind.words import lower_words
from vttdata.text.lm import NgramModel

_ORDERS = (2, 3, 4)


def score_by_ngrams(attacked: AttackedPairs) -> Floats:
    """Return the log perplexity of the foil less that of the true text, by each model."""
    margins = np.zeros((len(_ORDERS), len(attacked.pairs)))
    for group, videos in attacked.training_texts():
        texts = [text for texts in videos for text in texts]
        if not any(lower_words(text) for text in texts):
            raise AttackerUnavailableError("the texts to learn from have no words")
        tried = [attacked.pairs[index] for index in np.flatnonzero(group).tolist()]
        for row, order in enumerate(_ORDERS):
            model = NgramModel.train(texts, order=order)
            margins[row, group] = perplexity_margins(
                [pair.true for pair in tried], [pair.foil for pair in tried], model
            )
    return scaled_columns(margins.tolist())


ATTACKER = BlindAttacker(score_by_ngrams, reads_texts=True)
