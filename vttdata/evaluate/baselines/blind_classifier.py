"""Logistic regression on the words by which true captions and foils of other videos differ; it sees no video."""

from __future__ import annotations

import hashlib

import numpy as np

from vttdata.evaluate.baseline import Baseline, Setting
from vttdata.generate.blind.learning import margins_by_classifier

_FOLDS = 5


def judge_blindly(setting: Setting) -> list[tuple[float, float]]:
    """Return the margin of each true text over its foil, learned from the pairs of other videos."""
    items = setting.items
    fold_of = [hashlib.sha256(source.encode()).digest()[0] % _FOLDS for source in items.source_ids]
    folds = np.array(fold_of, dtype=np.int64)[items.sources]
    truths, foils = (["\n".join(texts) for texts in side] for side in (items.truths, items.foils))
    return [(float(margin), 0.0) for margin in margins_by_classifier(truths, foils, folds)]


BASELINE = Baseline("foils", judge_blindly)
