"""Logistic regression on the words by which true captions and foils of other videos differ; it sees no video."""

from __future__ import annotations

import numpy as np

from vttdata.evaluate.baseline import Baseline, Setting
from vttdata.evaluate.tasks.foils import FoilPairs
from vttdata.generate.blind.attackers.linear_classifier import ATTACKER
from vttdata.generate.blind.choices import Examples, arrange_pairs, fold_by_video


def judge_blindly(setting: Setting[FoilPairs]) -> list[tuple[float, float]]:
    """Return the score of each true text and of its foil, learned from the pairs of other videos."""
    pairs = setting.items.as_pairs("\n")
    choices, answers = arrange_pairs(pairs)
    examples = Examples(choices, answers, fold_by_video([pair.video_id for pair in pairs]))
    scores = np.zeros(len(choices.owners))
    for others, part in examples.without_each_fold():
        if others.choices.items:
            scores[examples.folds[choices.owners] == part.folds[0]] = ATTACKER.learn(others)(part.choices)
    right = choices.starts + answers
    return list(zip(scores[right].tolist(), scores[right ^ 1].tolist(), strict=True))


BASELINE = Baseline("foils", judge_blindly)
