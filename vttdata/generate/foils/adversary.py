"""Adversary of a choice of foils: classifiers that learn from the chosen pairs of some videos, tried on all others.

The folds are not those of `vttdata.generate.foils.blind`, which reports how hard the chosen set is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from vttdata.generate.foils.blind.attacker import AttackedPairs, TextPair
from vttdata.generate.foils.blind.attackers.linear_classifier import compare_ngrams
from vttdata.generate.foils.blind.attackers.position import count_by_section
from vttdata.generate.foils.blind.attackers.word_pairs import pair_words
from vttdata.generate.foils.blind.learning import Floats, logistic_regression
from vttdata.generate.foils.video_texts import stable_hash

_FOLDS = 5


class Adversary:
    """Classifiers of possible pairs, by words beside others, by n-grams, by words in their places, and by numbers."""

    def __init__(
        self, pairs: Sequence[TextPair], numbers: Floats, earlier: Sequence[TextPair] = (), *, min_pairs: int
    ) -> None:
        """Measure the pairs once, for all choices among them.

        Args:
            pairs: all that can be chosen.
            numbers: pairs x further numbers in which each true text differs from its foil.
            earlier: pairs of other videos that are in the set already.
            min_pairs: fewest pairs to learn from; of fewer, nothing is learned.
        """
        attacked = AttackedPairs([*pairs, *earlier])
        scale = np.sqrt((numbers**2).mean(axis=0))
        self._differences = [measure(attacked) for measure in (pair_words, compare_ngrams, count_by_section)]
        self._differences.append(numbers / np.where(scale > 0, scale, 1))
        self._earlier, self._min_pairs = len(earlier), min_pairs
        self._folds = np.array([stable_hash("adversary", pair.video_id) % _FOLDS for pair in pairs])

    def margins(self, chosen: Sequence[int]) -> Iterator[Floats]:
        """Yield the margins of all pairs by each classifier learned on earlier pairs and other folds, or none."""
        if len(chosen) + self._earlier < self._min_pairs:
            return
        of_fold = [np.flatnonzero(self._folds == fold) for fold in range(_FOLDS)]
        for differences in self._differences:
            margins = np.zeros(len(self._folds))
            for indices in of_fold:
                earlier = np.arange(len(self._folds), differences.shape[0])
                training = np.concatenate([np.setdiff1d(chosen, indices).astype(np.int64), earlier])
                margins[indices] = differences[indices] @ logistic_regression(differences[training])
            yield margins
