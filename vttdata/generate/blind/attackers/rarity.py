"""How rare the words are by which the texts differ."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from vttdata.generate.blind.attacker import AttackedPairs, BlindAttacker, scaled_columns
from vttdata.generate.blind.learning import Floats


def measure_rarity(attacked: AttackedPairs) -> Floats:
    """Return differences of log frequencies, in training texts and in the set, with their signs."""
    in_set = Counter(word for sides in attacked.words for side in sides for word in side)
    training = [Counter[str]()] * len(attacked.pairs)
    for (group, _), frequency in zip(attacked.training_texts(), attacked.video_frequencies, strict=True):
        for index in np.flatnonzero(group).tolist():
            training[index] = frequency

    def log_frequency(side: Sequence[tuple[str, int]], counts: Counter[str]) -> float:
        return math.fsum(math.log(counts[word] + 1) for word, _ in side) / max(1, len(side))

    columns = [
        [
            log_frequency(true, counts) - log_frequency(foil, counts)
            for (true, foil), counts in zip(attacked.surplus, frequencies, strict=True)
        ]
        for frequencies in (training, [in_set] * len(attacked.pairs))
    ]
    return scaled_columns([*columns, *np.sign(columns).tolist()])


ATTACKER = BlindAttacker(measure_rarity, reads_texts=True)
