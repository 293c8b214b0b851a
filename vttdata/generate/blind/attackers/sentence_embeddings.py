"""Logistic regression on the vectors that a sentence encoder gives the texts."""

from __future__ import annotations

import itertools

import numpy as np

from vttdata.generate.blind.attacker import by_features
from vttdata.generate.blind.choices import AttackerUnavailableError, ChoiceSet
from vttdata.generate.blind.learning import Floats, center_rows


def embed(choices: ChoiceSet) -> Floats:
    """Return the vector of each option less their mean in its choice."""
    if choices.encoder is None:
        raise AttackerUnavailableError("no sentence encoder is given")
    texts = list(itertools.chain.from_iterable(item.options for item in choices.items))
    vectors = np.asarray(choices.encoder(texts), dtype=float)
    if vectors.ndim != 2 or len(vectors) != len(texts) or not np.isfinite(vectors).all():
        raise AttackerUnavailableError("the sentence encoder does not return one vector of finite numbers a text")
    return center_rows(vectors, choices.starts)


ATTACKER = by_features(embed)
