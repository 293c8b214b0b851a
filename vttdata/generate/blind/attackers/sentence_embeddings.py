"""Logistic regression on the vectors that a sentence encoder gives the texts."""

from __future__ import annotations

import numpy as np

from vttdata.generate.blind.attacker import AttackedPairs, AttackerUnavailableError, BlindAttacker
from vttdata.generate.blind.learning import Floats


def subtract_embeddings(attacked: AttackedPairs) -> Floats:
    """Return the vector of each true text less that of its foil, in units of their root mean square."""
    if attacked.encoder is None:
        raise AttackerUnavailableError("no sentence encoder is given")
    true = np.asarray(attacked.encoder([pair.true for pair in attacked.pairs]), dtype=float)
    foil = np.asarray(attacked.encoder([pair.foil for pair in attacked.pairs]), dtype=float)
    shape = (len(attacked.pairs), true.shape[-1])
    if true.shape != shape or foil.shape != shape or not np.isfinite(true).all() or not np.isfinite(foil).all():
        raise AttackerUnavailableError("the sentence encoder does not return one vector of finite numbers a text")
    difference = true - foil
    scaled: Floats = difference / max(float(np.sqrt((difference**2).sum(axis=1).mean())), 1e-12)
    return scaled


ATTACKER = BlindAttacker(subtract_embeddings)
