"""Choice among possible foils: at random, the likeliest of each text, or so that the set cannot be solved blind.

Options are words and numbers here; texts, swaps and models are the business of `vttdata.generate.foils.search`.
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

# Quantile bins of margin sizes; in each, foils and true texts are preferred about equally often.
_MARGIN_BINS = 10
# Uses in one direction that need no counterpart, of a pair of words or a feature, and of a word.
_SLACK = 1
_WORD_SLACK = 2
# Cost of an option per unit of margin up to `_MAX_MARGIN`, so that of equally sound foils the harder one is taken.
_MARGIN_COST = 0.04
_MAX_MARGIN = 5.0
# Cost of an option per unit of its hash, which decides ties.
_TIE_COST = 1e-3
# Limits of the solver by gap and nodes. A limit of time would make the result depend on the machine.
_RELATIVE_GAP = 1e-3
_MAX_NODES = 2_000
# Values of the relaxed programme this close to 0 or 1 count as integers.
_INTEGRALITY = 1e-6
# Correlation of two models below which they say nothing of each other's noise.
_MIN_CORRELATION = 0.1


@dataclass(frozen=True, slots=True)
class Option:
    """Possible foil of a unit (a caption, a paragraph, a video), of which at most one is chosen.

    Fields:
        unit: id of what gets at most one foil.
        key: distinguishes the options of a unit.
        word, foil_word: the true and the false word, as they are written.
        margin: natural logarithm of the foil's perplexity over that of the true text, by a model that sees no video.
            Below 0 it prefers the foil.
        unsound_probability: that the foil is not sound, from 0 to 1.
        associations: how much better the true word goes with the other words of its texts than the false word, by each
            count of words that occur together; as many numbers for every option. Below 0 the false word goes better.
    """

    unit: str
    key: str
    word: str
    foil_word: str
    margin: float
    unsound_probability: float = 0.0
    associations: tuple[float, ...] = ()


def choose(options: Sequence[Option], selection: Selection, *, seed: int, **limits: float) -> list[int]:
    """Choose at most one option of each unit.

    Args:
        options: any number for each unit.
        selection: ``paper`` takes the option of lowest perplexity of each unit (Shi et al., CVPR 2022, section 4.2),
            ``random`` one of each unit by a hash, ``balanced`` is described at `balance_foils`.
        seed: decides between options that are equally good.
        limits: `pair_share`, `imbalance`, `association_share` and `unsound_penalty`; see `balance_foils`.

    Returns:
        Indices of the chosen options, ascending; the order of the options does not change which are chosen.

    Raises:
        VttdataError: when ``scipy``, which `balance_foils` needs, is not installed.
    """
    if selection == "balanced":
        return balance_foils(options, seed=seed, **limits)
    best: dict[str, int] = {}
    ranks = [
        (option.margin if selection == "paper" else 0.0, _hash_to_unit_interval(seed, option), option.key)
        for option in options
    ]
    for index, option in enumerate(options):
        if option.unit not in best or ranks[index] < ranks[best[option.unit]]:
            best[option.unit] = index
    return sorted(best.values())


def balance_foils(
    options: Sequence[Option],
    *,
    seed: int,
    pair_share: float = 0.03,
    imbalance: float = 0.02,
    association_share: float = 1.0,
    unsound_penalty: float = 0.0,
) -> list[int]:
    """Choose as many options as possible, at most one a unit, such that words, likelihood and topic reveal no foils.

    Swaps are arrows from a true word to a false one. Of every pair of words neither direction has much more than half
    of the uses (`imbalance`), and no word is much more often true than false, or false than true; beyond that, one or
    two of each may be without their counterpart, which nobody can learn from the others. About as many foils as not are
    longer, have more words, or are of commoner words. So the set is near a circulation, and a guess by any function of
    the two words, such as how often a word is a foil, is right for about half of it. Within bins of the size of the
    margin, about as many foils are preferred by the blind model as true texts, so other models gain little; this is the
    adversarial refinement of SugarCrepe (Hsieh et al., NeurIPS 2023) done by choosing instead of discarding.
    Associations are balanced in the same way (`association_share`), so words that are odd among the others of the text
    tell little.

    These conditions make a linear programme whose few fractional units are settled by an integer programme. It takes as
    many sound foils as can be expected, less unsound ones (`unsound_penalty`), and of two alike the one whose margin is
    closer to 0.

    Args:
        options: any number for each unit.
        seed: decides between options that are equally good.
        pair_share: the highest share of units that one pair of words may have, in each direction.
        imbalance: how far from one half the share of uses in one direction may be, for words and pairs of words; half
            as far for what is longer, commoner or likelier.
        association_share: the highest share of foils, or of true texts, that go better with the other words.
        unsound_penalty: how many sound foils are given up to avoid one unsound foil.

    Returns:
        Indices of the chosen options, ascending; the order of the options does not change which are chosen.

    Raises:
        VttdataError: when ``scipy`` is not installed or finds no solution.
    """
    order = sorted(range(len(options)), key=lambda index: (options[index].unit, options[index].key))
    if not order:
        return []
    ranked = [options[index] for index in order]
    margins = np.array([option.margin for option in ranked])
    ties = np.array([_hash_to_unit_interval(seed, option) for option in ranked])
    unsound = np.array([option.unsound_probability for option in ranked])
    hardness = _MARGIN_COST * np.minimum(np.abs(margins), _MAX_MARGIN)
    costs = hardness + (1 + unsound_penalty) * unsound - 1 + _TIE_COST * ties
    programme = _Programme([option.unit for option in ranked])
    programme.balance_words(ranked, 0.5 + imbalance, max(1, int(pair_share * programme.units)))
    programme.balance_features(ranked, 0.5 + imbalance / 2)
    programme.balance_margins(margins, 0.5 + imbalance / 2)
    for association in zip(*(option.associations for option in ranked), strict=True):
        programme.balance_margins(np.array(association), association_share)
    return sorted(order[column] for column in programme.solve(costs))


class _Programme:
    """Constraints of the choice: a column for each option, which is 0 or 1, and a row for each condition."""

    def __init__(self, units: Sequence[str]) -> None:
        # Arrays take a tenth of the memory of tuples, and there are a dozen entries an option.
        self._rows, self._columns, self._values = array("i"), array("i"), array("d")
        self._unit_of = np.unique(units, return_inverse=True)[1]
        self.units = int(self._unit_of.max()) + 1
        self._lower = [-np.inf] * self.units
        self._upper = [1.0] * self.units
        for column, row in enumerate(self._unit_of.tolist()):
            self._add_entry(row, column, 1)

    def balance_words(self, options: Sequence[Option], max_share: float, max_uses: int) -> None:
        """Balance the two directions of each pair of words, and each word as a true and as a false one."""
        pairs: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
        words: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for column, option in enumerate(options):
            first, second = sorted((option.word, option.foil_word))
            pairs[first, second].append((column, 1 if option.word < option.foil_word else -1))
            words[option.word].append((column, 1))
            words[option.foil_word].append((column, -1))
        for _, signed in sorted(pairs.items()):
            self._balance_signs(signed, _SLACK, max_share)
            for direction in (1, -1):
                uses = [(column, 1) for column, sign in signed if sign == direction]
                if len(uses) > max_uses:
                    self._add_row(uses, 0, max_uses)
        for _, signed in sorted(words.items()):
            self._balance_signs(signed, _WORD_SLACK, max_share)

    def balance_features(self, options: Sequence[Option], max_share: float) -> None:
        """Balance foils that are longer, have more words, or are of a commoner word than the truth."""
        frequency = Counter(option.word for option in options)
        for feature in (len, lambda word: word.count(" "), frequency.__getitem__):
            signs = [int(np.sign(feature(option.foil_word) - feature(option.word))) for option in options]
            self._balance_signs([(column, sign) for column, sign in enumerate(signs) if sign], _SLACK, max_share)

    def balance_margins(self, margins: Floats, max_share: float) -> None:
        """Balance positive and negative margins within bins of their size."""
        sizes = np.abs(margins)
        edges = np.quantile(sizes, np.linspace(0, 1, _MARGIN_BINS + 1)[1:-1])
        bins = np.digitize(sizes, edges)
        for number in range(_MARGIN_BINS):
            signed = [(int(column), int(np.sign(margins[column]))) for column in np.flatnonzero(bins == number)]
            self._balance_signs(signed, _SLACK, max_share)

    def _balance_signs(self, signed: Sequence[tuple[int, int]], slack: float, max_share: float) -> None:
        """Let at most a share of the chosen columns have one sign, and half of the slack beyond it."""
        for direction in (1, -1):
            weights = [(column, 1 - max_share if sign == direction else -max_share) for column, sign in signed]
            self._add_row(weights, -np.inf, slack / 2)

    def _add_row(self, weights: Sequence[tuple[int, float]], lower: float, upper: float) -> None:
        for column, value in weights:
            if value:
                self._add_entry(len(self._lower), column, value)
        self._lower.append(lower)
        self._upper.append(upper)

    def _add_entry(self, row: int, column: int, value: float) -> None:
        self._rows.append(row)
        self._columns.append(column)
        self._values.append(value)

    def solve(self, costs: Floats) -> list[int]:
        """Return the columns of lowest cost."""
        try:
            from scipy import optimize, sparse
        except ImportError as error:
            raise VttdataError("Balanced foils need scipy: pip install 'vttdata[foil]'.") from error
        entries = (np.asarray(self._values), (np.asarray(self._rows), np.asarray(self._columns)))
        matrix = sparse.csc_matrix(entries, shape=(len(self._lower), len(costs)))

        def minimize(costs: Floats, matrix: Any, *, integer: bool) -> Floats:
            result = optimize.milp(
                costs,
                constraints=optimize.LinearConstraint(matrix, self._lower, self._upper),
                bounds=optimize.Bounds(0, 1),
                integrality=np.full(len(costs), int(integer)),
                options={"mip_rel_gap": _RELATIVE_GAP, "node_limit": _MAX_NODES},
            )
            if result.x is None:
                raise VttdataError(f"The solver found no balanced choice of foils ({result.message}).")
            values: Floats = result.x
            return values

        relaxed = minimize(costs, matrix, integer=False)
        fractional = np.zeros(len(self._lower), dtype=bool)
        fractional[self._unit_of[(relaxed > _INTEGRALITY) & (relaxed < 1 - _INTEGRALITY)]] = True
        left = np.flatnonzero(fractional[self._unit_of] | (relaxed >= 1 - _INTEGRALITY))
        chosen = minimize(costs[left], matrix[:, left], integer=True)
        return [int(column) for column in left[chosen > 0.5]]


def _hash_to_unit_interval(seed: int, option: Option) -> float:
    """Return a number in [0, 1) that depends on the seed and the option only."""
    text = f"foil\0{seed}\0{option.unit}\0{option.key}"
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "replace")).digest()[:7], "big") / 2**56


def combine_margins(margins: Floats, second_margins: Floats) -> Floats:
    """Estimate the margins of a third model from those of two models that were trained on different texts.

    Choosing by a model's margins also chooses by the noise in them, so a set on which that model is right half of the
    time is easier for every other one. The mean of two models has less noise, and their correlation tells how much is
    left: it shrinks the mean towards that of all options, by the formula of Spearman and Brown (1910).

    Args:
        margins: of options under one model.
        second_margins: of the same options under the other.
    """
    mean = (margins + second_margins) / 2
    if len(mean) < 2 or not (margins.std() and second_margins.std()):
        return mean
    correlation = max(correlate_margins(margins, second_margins), _MIN_CORRELATION)
    reliability = 2 * correlation / (1 + correlation)
    shrunk: Floats = mean.mean() + reliability * (mean - mean.mean())
    return shrunk


def correlate_margins(margins: Floats, second_margins: Floats) -> float:
    """Return the correlation of the margins of two models; 0 where those of one are all alike."""
    if not (margins.size and margins.std() and second_margins.std()):
        return 0.0
    return float(np.corrcoef(margins, second_margins)[0, 1])
