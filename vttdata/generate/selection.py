"""Chooses among possible foils: at random, the likeliest of each text, or so that the set cannot be solved blind.

Everything here is numbers and words: texts, swaps and models are the business of `vttdata.generate.foils`.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from vttdata.errors import VttdataError

Selection = Literal["balanced", "paper", "random"]
Floats = npt.NDArray[np.float64]

_BINS = 10
_SLACK = 1
_HARDNESS = 0.05
_TIE = 1e-3
_FARTHEST = 5.0
_RELATIVE_GAP = 1e-3
_NODES = 2_000
_WHOLE = 1e-6
_LEAST_AGREEMENT = 0.1


@dataclass(frozen=True, slots=True)
class Option:
    """One possible foil of one unit (a caption, a paragraph, a video), of which at most one is chosen.

    Fields:
        unit: what gets at most one foil.
        key: tells the options of a unit apart.
        word, foil_word: what is swapped, as it is written; an arrow from the true word to the false one.
        lean: how far a model that sees no video leans to the true text: the natural logarithm of the foil's
            perplexity over that of the true text. Below 0 it prefers the foil.
    """

    unit: str
    key: str
    word: str
    foil_word: str
    lean: float


def choose(options: Sequence[Option], selection: Selection, *, seed: int, pair_share: float = 0.02) -> list[int]:
    """The places of the chosen options, in their order; the result does not depend on that order.

    Args:
        options: any number for each unit.
        selection: ``paper`` takes the option of lowest perplexity of each unit (Shi et al., CVPR 2022, section 4.2),
            ``random`` one of each unit by a hash, ``balanced`` is described at `balanced`.
        seed: decides between options that are as good as each other.
        pair_share: see `balanced`.

    Raises:
        VttdataError: when ``scipy``, which `balanced` needs, is not installed.
    """
    if selection == "balanced":
        return balanced(options, seed=seed, pair_share=pair_share)
    best: dict[str, int] = {}
    ranks = [(own.lean if selection == "paper" else 0.0, _draw(seed, own), own.key) for own in options]
    for place, own in enumerate(options):
        if own.unit not in best or ranks[place] < ranks[best[own.unit]]:
            best[own.unit] = place
    return sorted(best.values())


def balanced(options: Sequence[Option], *, seed: int, pair_share: float = 0.02) -> list[int]:
    """Choose as many as possible, at most one a unit, such that nothing in words or in likelihood gives foils away.

    Swaps are arrows from a true word to a false one. Each pair of words is used as often in one direction as in the
    other, which is more than that every word has as many arrows in as out: whatever is a function of the two words,
    such as how often a word is a foil, which of two is longer or rarer, or which direction a pair has, is right for
    exactly half of the set. Within bins of the size of the lean, as many foils are preferred by the blind model as
    true texts (up to one a bin), so the model gains nothing either; this is the adversarial refinement of SugarCrepe
    (Hsieh et al., NeurIPS 2023) done by choosing instead of discarding. Under these conditions, solved as a linear
    programme whose few fractional units are settled by an integer programme, leans as close to 0 as possible are
    taken: foils about as likely as the truth.

    Args:
        options: any number for each unit.
        seed: decides between options that are as good as each other.
        pair_share: the highest share of units that one pair of words may have, in each direction.

    Returns:
        The places of the chosen options, in their order; which are chosen does not depend on that order.
    """
    order = sorted(range(len(options)), key=lambda place: (options[place].unit, options[place].key))
    arrows = {(options[place].word, options[place].foil_word) for place in order}
    order = [place for place in order if (options[place].foil_word, options[place].word) in arrows]
    if not order:
        return []
    programme = _Programme([options[place] for place in order], seed, pair_share)
    return sorted(order[column] for column in programme.solve())


class _Programme:
    """The choice as a programme: a 0/1 column for each option, a row for each condition."""

    def __init__(self, options: Sequence[Option], seed: int, pair_share: float) -> None:
        leans = np.array([own.lean for own in options])
        self._unit = np.unique([own.unit for own in options], return_inverse=True)[1]
        units = int(self._unit.max()) + 1
        cap = max(1, int(pair_share * units))
        self._rows: list[tuple[int, int, int]] = []
        self._lower = [-np.inf] * units
        self._upper = [1.0] * units
        self._rows += [(int(row), column, 1) for column, row in enumerate(self._unit)]
        self._balance_pairs(options, cap)
        self._balance_leans(leans)
        draws = np.array([_draw(seed, own) for own in options])
        self._costs = _HARDNESS * np.minimum(np.abs(leans), _FARTHEST) + _TIE * draws - 1

    def _balance_pairs(self, options: Sequence[Option], cap: int) -> None:
        """For each pair a row that is 0 when both directions are as frequent, and one that counts a direction."""
        columns: dict[tuple[str, str], list[int]] = defaultdict(list)
        for column, own in enumerate(options):
            columns[own.word, own.foil_word].append(column)
        for (word, foil_word), forth in sorted(columns.items()):
            if word < foil_word:
                signed = [(column, 1) for column in forth]
                self._add_row(signed + [(column, -1) for column in columns[foil_word, word]], 0, 0)
                if len(forth) > cap:
                    self._add_row(signed, 0, cap)

    def _balance_leans(self, leans: Floats) -> None:
        """Rows that are near 0 when as many options of a bin lean to the true text as to the foil."""
        sizes = np.abs(leans)
        edges = np.quantile(sizes, np.linspace(0, 1, _BINS + 1)[1:-1])
        bins = np.digitize(sizes, edges)
        for number in range(_BINS):
            signed = [(int(column), int(np.sign(leans[column]))) for column in np.flatnonzero(bins == number)]
            self._add_row(signed, -_SLACK, _SLACK)

    def _add_row(self, signed: list[tuple[int, int]], lower: float, upper: float) -> None:
        row = len(self._lower)
        self._rows += [(row, column, value) for column, value in signed if value]
        self._lower.append(lower)
        self._upper.append(upper)

    def solve(self) -> list[int]:
        """The chosen columns."""
        sparse, _ = _scipy()
        rows, columns, values = np.array(self._rows).T
        matrix = sparse.csc_matrix((values, (rows, columns)), shape=(len(self._lower), len(self._costs)))
        relaxed = self._highs(matrix, np.arange(len(self._costs)), whole=False)
        undecided = np.zeros(len(self._lower), dtype=bool)
        undecided[self._unit[(relaxed > _WHOLE) & (relaxed < 1 - _WHOLE)]] = True
        left = np.flatnonzero(undecided[self._unit] | (relaxed >= 1 - _WHOLE))
        chosen = self._highs(matrix[:, left], left, whole=True)
        return [int(column) for column in left[chosen > 0.5]]

    def _highs(self, matrix: Any, columns: npt.NDArray[np.int64], *, whole: bool) -> Floats:
        _, optimize = _scipy()
        # No limit of time: it would make the result depend on the machine.
        found = optimize.milp(
            self._costs[columns],
            constraints=optimize.LinearConstraint(matrix, self._lower, self._upper),
            bounds=optimize.Bounds(0, 1),
            integrality=np.full(len(columns), int(whole)),
            options={"mip_rel_gap": _RELATIVE_GAP, "node_limit": _NODES},
        )
        if found.x is None:
            raise VttdataError(f"The solver found no balanced choice of foils ({found.message}).")
        result: Floats = found.x
        return result


def _scipy() -> tuple[Any, Any]:
    try:
        from scipy import optimize, sparse
    except ImportError as error:
        raise VttdataError(f"Balanced foils need scipy: pip install 'vttdata[foil]' ({error}).") from error
    return sparse, optimize


def _draw(seed: int, option: Option) -> float:
    """A number in [0, 1) that depends on the seed and the option only."""
    text = f"foil\0{seed}\0{option.unit}\0{option.key}"
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "replace")).digest()[:7], "big") / 2**56


def joint_leans(leans: Floats, others: Floats) -> Floats:
    """What two models trained on different texts say of how a third one would lean.

    Choosing by a model's leans also chooses what is noise in them, so a set on which that model is right half of the
    time is easier for every other one. The mean of two models has less noise, and their agreement (correlation) tells
    how much is left: it shrinks the mean towards that of all options, by the formula of Spearman and Brown (1910).

    Args:
        leans: of options under one model.
        others: of the same options under another one.
    """
    both = (leans + others) / 2
    if len(both) < 2 or not (leans.std() and others.std()):
        return both
    agreement = max(float(np.corrcoef(leans, others)[0, 1]), _LEAST_AGREEMENT)
    trusted = 2 * agreement / (1 + agreement)
    shrunk: Floats = both.mean() + trusted * (both - both.mean())
    return shrunk
