"""Chooses among possible foils: at random, the likeliest of each text, or so that the set cannot be solved blind.

Everything here is numbers and words: texts, swaps and models are the business of `vttdata.generate.foils.search`.
"""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter, defaultdict
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
_WORD_SLACK = 2
_HARDNESS = 0.04
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
        unsound_probability: that it is not sound, from 0 to 1.
    """

    unit: str
    key: str
    word: str
    foil_word: str
    lean: float
    unsound_probability: float = 0.0


def choose(options: Sequence[Option], selection: Selection, *, seed: int, **limits: float) -> list[int]:
    """The places of the chosen options, in their order; the result does not depend on that order.

    Args:
        options: any number for each unit.
        selection: ``paper`` takes the option of lowest perplexity of each unit (Shi et al., CVPR 2022, section 4.2),
            ``random`` one of each unit by a hash, ``balanced`` is described at `balanced`.
        seed: decides between options that are as good as each other.
        limits: `pair_share`, `imbalance` and `unsound_penalty`; see `balanced`.

    Raises:
        VttdataError: when ``scipy``, which `balanced` needs, is not installed.
    """
    if selection == "balanced":
        return balanced(options, seed=seed, **limits)
    best: dict[str, int] = {}
    ranks = [(own.lean if selection == "paper" else 0.0, _draw(seed, own), own.key) for own in options]
    for place, own in enumerate(options):
        if own.unit not in best or ranks[place] < ranks[best[own.unit]]:
            best[own.unit] = place
    return sorted(best.values())


def balanced(
    options: Sequence[Option],
    *,
    seed: int,
    pair_share: float = 0.03,
    imbalance: float = 0.02,
    unsound_penalty: float = 0.0,
) -> list[int]:
    """Choose as many as possible, at most one a unit, such that nothing in words or in likelihood gives foils away.

    Swaps are arrows from a true word to a false one. Of every pair of words neither direction has much more than half
    of the uses (`imbalance`), and no word is much more often true than false, or false than true; beyond that, one or
    two of each may be without their counterpart, which nobody can learn from the others. About as many foils as not are
    longer, have more words, or are of commoner words. So the set is near a circulation, and what is a function of the
    two words, such as how often a word is a foil, is right for about half of it. Within bins of the size of the lean,
    about as many foils are preferred by the blind model as true texts, so other models gain little; this is the
    adversarial refinement of SugarCrepe (Hsieh et al., NeurIPS 2023) done by choosing instead of discarding. Under
    these conditions, solved as a linear programme whose few fractional units are settled by an integer programme, as
    many sound foils as can be expected are taken, less unsound ones (`unsound_penalty`), and of two alike the one that
    is about as likely as the truth.

    Args:
        options: any number for each unit.
        seed: decides between options that are as good as each other.
        pair_share: the highest share of units that one pair of words may have, in each direction.
        imbalance: how far from one half the share of uses in one direction may be, for words and pairs of words; half
            as far for what is longer, commoner or likelier.
        unsound_penalty: how many sound foils are given up rather than take one that is not.

    Returns:
        The places of the chosen options, in their order; which are chosen does not depend on that order.
    """
    order = sorted(range(len(options)), key=lambda place: (options[place].unit, options[place].key))
    if not order:
        return []
    programme = _Programme([options[place] for place in order], seed, pair_share, imbalance, unsound_penalty)
    return sorted(order[column] for column in programme.solve())


class _Programme:
    """The choice as a programme: a 0/1 column for each option, a row for each condition."""

    def __init__(
        self, options: Sequence[Option], seed: int, pair_share: float, imbalance: float, unsound_penalty: float
    ) -> None:
        leans = np.array([own.lean for own in options])
        self._unit = np.unique([own.unit for own in options], return_inverse=True)[1]
        units = int(self._unit.max()) + 1
        cap = max(1, int(pair_share * units))
        self._of_words, self._of_looks = 0.5 + imbalance, 0.5 + imbalance / 2
        # Arrays take a tenth of the memory of tuples, and there are a dozen entries an option.
        self._rows, self._columns, self._values = array("i"), array("i"), array("d")
        self._lower = [-np.inf] * units
        self._upper = [1.0] * units
        for column, row in enumerate(self._unit.tolist()):
            self._add_entry(row, column, 1)
        self._balance_words(options, cap)
        self._balance_looks(options)
        self._balance_leans(leans)
        draws = np.array([_draw(seed, own) for own in options])
        unsound = np.array([own.unsound_probability for own in options])
        self._costs = (
            _HARDNESS * np.minimum(np.abs(leans), _FARTHEST) + (1 + unsound_penalty) * unsound - 1 + _TIE * draws
        )

    def _balance_words(self, options: Sequence[Option], cap: int) -> None:
        """Rows that keep the two directions of each pair, and each word as true and as false, about as frequent."""
        pairs: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
        words: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for column, own in enumerate(options):
            forth = own.word < own.foil_word
            pairs[min(own.word, own.foil_word), max(own.word, own.foil_word)].append((column, 1 if forth else -1))
            words[own.word].append((column, 1))
            words[own.foil_word].append((column, -1))
        for _, signed in sorted(pairs.items()):
            self._about_as_often(signed, _SLACK, self._of_words)
            for direction in (1, -1):
                same = [(column, 1) for column, sign in signed if sign == direction]
                if len(same) > cap:
                    self._add_row(same, 0, cap)
        for _, signed in sorted(words.items()):
            self._about_as_often(signed, _WORD_SLACK, self._of_words)

    def _about_as_often(self, signed: Sequence[tuple[int, int]], slack: float, share: float) -> None:
        """Rows that let at most so large a share of the chosen have one sign, and half of the slack beyond it."""
        for direction in (1, -1):
            weights = [(column, 1 - share if sign == direction else -share) for column, sign in signed]
            self._add_row(weights, -np.inf, slack / 2)

    def _balance_looks(self, options: Sequence[Option]) -> None:
        """Rows that are near 0 when as many foils are longer, or of a commoner word, than the truth as are not."""
        told = Counter(own.word for own in options)
        for look in (len, lambda word: word.count(" "), told.__getitem__):
            differences = [int(np.sign(look(own.foil_word) - look(own.word))) for own in options]
            self._about_as_often(
                [(column, sign) for column, sign in enumerate(differences) if sign], _SLACK, self._of_looks
            )

    def _balance_leans(self, leans: Floats) -> None:
        """Rows that are near 0 when as many options of a bin lean to the true text as to the foil."""
        sizes = np.abs(leans)
        edges = np.quantile(sizes, np.linspace(0, 1, _BINS + 1)[1:-1])
        bins = np.digitize(sizes, edges)
        for number in range(_BINS):
            signed = [(int(column), int(np.sign(leans[column]))) for column in np.flatnonzero(bins == number)]
            self._about_as_often(signed, _SLACK, self._of_looks)

    def _add_row(self, signed: Sequence[tuple[int, float]], lower: float, upper: float) -> None:
        for column, value in signed:
            if value:
                self._add_entry(len(self._lower), column, value)
        self._lower.append(lower)
        self._upper.append(upper)

    def _add_entry(self, row: int, column: int, value: float) -> None:
        self._rows.append(row)
        self._columns.append(column)
        self._values.append(value)

    def solve(self) -> list[int]:
        """The chosen columns."""
        sparse, _ = _scipy()
        entries = (np.asarray(self._values), (np.asarray(self._rows), np.asarray(self._columns)))
        matrix = sparse.csc_matrix(entries, shape=(len(self._lower), len(self._costs)))
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
