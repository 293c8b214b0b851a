"""Choice among possible foils: at random, the likeliest of each text, or so that the set cannot be solved blind.

Options are words and numbers here; texts, swaps and models are the business of `vttdata.generate.foils.search`.
"""

from __future__ import annotations

import hashlib
import itertools
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from vttdata.errors import VttdataError
from vttdata.generate.blind.words import lower_words

Selection = Literal["balanced", "paper", "random"]
Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

# Uses in one direction that need no counterpart, of a pair of words or a feature, and of a word: nobody can learn them.
_SLACK = 1.0
_WORD_SLACK = 2.0
# Imbalance of words beside others of their texts, of which a pair has a dozen, in units of that of other features, and
# options that have a word beside another from which so much can be learned that it is worth a condition.
_CONTEXT_WEIGHT = 4.0
_MIN_CONTEXTS = 100
# Rounds in which an adversary learns from the choice, and imbalance of its margins in units of that of features.
ROUNDS = 2
LEARNED_WEIGHT = 0.75
# Numbers above so many times their root mean square count as that much.
_MAX_SCALED = 3.0
# Cost of an option per unit of margin up to `MAX_MARGIN`, so that of equally sound foils the harder one is taken.
MARGIN_COST = 0.01
MAX_MARGIN = 5.0
# Cost of an option per unit of its hash, which decides ties.
TIE_COST = 1e-3
# Pairs that are given up rather than exceed a limit of imbalance by one; rounding may need to.
_OVERRUN_COST = 2.0
# Values of the linear programme this close to 0 or 1 count as integers, and of others so many digits. Last digits
# differ between machines and libraries, so that everything is rounded before it is compared.
_INTEGRALITY = 1e-6
_DIGITS = 6
_WEIGHT_DIGITS = 4
_COST_DIGITS = 9
# Share of the expected number of fractional options that are settled before the programme is solved again.
_SETTLED_SHARE = 0.25
# Undecided options from which on the programme is solved in integers, in a search of at most so many nodes: where few
# options are left, none can make up for what rounding exceeds.
_MAX_INTEGERS = 100
_MAX_NODES = 2000
# Correlation of two models below which they say nothing of each other's noise.
_MIN_CORRELATION = 0.1


@dataclass(frozen=True, slots=True)
class Option:
    """Possible foil of a unit (a caption, a paragraph, a video), of which at most one is chosen.

    Fields:
        unit: id of what gets at most one foil.
        key: distinguishes the options of a unit.
        word, foil_word: the true and the false word, as they are written.
        margin: by how much a model that sees no video prefers the true text, in natural logarithms of perplexity, or of
            probability for the choice of the likeliest. Below 0 it prefers the foil.
        unsound_probability: that the foil is not sound, from 0 to 1.
        associations: how much better the true word goes with the other words of its texts than the false word, by each
            count of words that occur together; as many numbers for every option. Below 0 the false word goes better.
        context: the other words of its texts.
        group: its supercategory.
        pairs: how many pairs of texts it makes.
    """

    unit: str
    key: str
    word: str
    foil_word: str
    margin: float
    unsound_probability: float = 0.0
    associations: tuple[float, ...] = ()
    context: tuple[str, ...] = ()
    group: str = ""
    pairs: int = 1


def choose(options: Sequence[Option], selection: Selection, *, seed: int) -> list[int]:
    """Choose one option of each unit without regard to the others; a balanced choice is that of `balance_foils`.

    ``paper`` takes the likeliest option of each unit (Shi et al., CVPR 2022, section 4.2), ``random`` one by
    a hash, and the seed decides between options that are equally good. The indices of the chosen options are ascending;
    the order of the options does not change which are chosen.
    """
    best: dict[str, int] = {}
    ranks = [
        (option.margin if selection == "paper" else 0.0, hash_to_unit_interval(seed, option), option.key)
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
    group_share: float = 1.0,
    imbalance: float = 0.02,
    unsound_penalty: float = 0.0,
    learn: Callable[[Sequence[int]], Iterable[Floats]] | None = None,
) -> list[int]:
    """Choose as many options as possible, at most one a unit, such that no feature reveals the foils.

    Each feature is a number by which the true text differs from its foil: +1 for the true word and -1 for the false
    one, of each word, of each pair of words, and of each word beside another word of the text where that is frequent;
    the differences in length and in frequency, the margin of the language model and the associations, in units of
    their root mean square; and the signs of the first three. A linear classifier learns from the sum of a feature over
    the set, so each sum is kept near 0: a guess by any of them, or by any weighted sum of them, is right for about
    half of the pairs. This is the adversarial refinement of SugarCrepe (Hsieh et al., NeurIPS 2023) done by choosing
    instead of discarding. What remains is limited for all words together, for all pairs of words, for all words beside
    others, and for each other feature; one or two uses of a word without their counterpart are free.

    An attacker that weights thousands of features can add up what is left of each. So an adversary learns from the
    choice, its margins become features themselves, more strictly limited, and the choice is made again, twice; not at
    all where there is too little to learn from.

    These conditions make a linear programme. Its few fractional options are rounded, the most certain first, and it is
    solved again for the rest. It takes as many sound foils as can be expected, less unsound ones (`unsound_penalty`),
    and of two alike the one whose margin is closer to 0.

    Args:
        options: any number for each unit.
        seed: decides between options that are equally good.
        pair_share: the highest share of units that one pair of words may have, in each direction.
        group_share: the highest share of pairs that one group of options may have, as near as rounding comes.
        imbalance: how far above one half the share may be that a guess by one feature is right on.
        unsound_penalty: how many sound foils are given up to avoid one unsound foil.
        learn: returns the margins of all options by classifiers that learned from the given ones, but nothing from
            those of the same video.

    Returns:
        Indices of the chosen options, ascending; the order of the options does not change which are chosen.

    Raises:
        VttdataError: when ``scipy`` is not installed or finds no solution.
    """
    order = sorted(range(len(options)), key=lambda index: (options[index].unit, options[index].key))
    if not order:
        return []
    ranked = [options[index] for index in order]
    margins = np.array([option.margin for option in ranked]).round(_DIGITS)
    swapped = [(option.word, option.foil_word) for option in ranked]
    directed_pair_ids: dict[tuple[str, str], int] = {}
    programme = Programme(
        np.unique([option.unit for option in ranked], return_inverse=True)[1],
        np.array([directed_pair_ids.setdefault(words, len(directed_pair_ids)) for words in swapped]),
        pair_share,
    )
    programme.limit_groups([option.group for option in ranked], [option.pairs for option in ranked], group_share)
    _balance_words(programme, ranked, imbalance)
    _balance_numbers(programme, ranked, margins, imbalance)
    ties = np.array([hash_to_unit_interval(seed, option) for option in ranked])
    unsound = np.array([option.unsound_probability for option in ranked])
    hardness = MARGIN_COST * np.minimum(np.abs(margins), MAX_MARGIN)
    costs = (hardness + (1 + unsound_penalty) * unsound - 1 + TIE_COST * ties).round(_COST_DIGITS)
    chosen = programme.solve(costs)
    for _ in range(ROUNDS):
        learned = [] if learn is None or not chosen else [*learn(sorted(order[column] for column in chosen))]
        if not learned:
            break
        for margins in learned:
            weights = scale_sum(margins[order], margins[order][chosen])
            programme.balance([weights], _SLACK, LEARNED_WEIGHT * imbalance)
        chosen = programme.solve(costs)
    return sorted(order[column] for column in chosen)


def _balance_words(programme: Programme, options: Sequence[Option], imbalance: float) -> None:
    """Limit the sums of words, of pairs of words, and of words beside frequent other ones of their texts."""
    words: dict[str, list[tuple[int, int]]] = defaultdict(list)
    pairs: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    contexts: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    surplus = [list_surplus(option.word, option.foil_word) for option in options]
    uses = Counter(
        (word, other)
        for option, signed in zip(options, surplus, strict=True)
        for word, _ in signed
        for other in option.context
    )
    for column, (option, signed) in enumerate(zip(options, surplus, strict=True)):
        for word, sign in signed:
            words[word].append((column, sign))
            for other in option.context:
                if uses[word, other] >= _MIN_CONTEXTS:
                    contexts[word, other].append((column, sign))
        first, second = sorted((option.word, option.foil_word))
        pairs[first, second].append((column, 1 if option.word == first else -1))
    programme.balance(words.values(), _WORD_SLACK, imbalance)
    programme.balance(pairs.values(), _SLACK, imbalance)
    programme.balance(contexts.values(), _WORD_SLACK, _CONTEXT_WEIGHT * imbalance)


def _balance_numbers(programme: Programme, options: Sequence[Option], margins: Floats, imbalance: float) -> None:
    """Limit the sums of the numbers by which true and false words differ, and of the signs of the first three."""
    frequency = Counter(option.word for option in options)
    lengths = [len(option.word) - len(option.foil_word) for option in options]
    rarity = [np.log((frequency[option.word] + 0.5) / (frequency[option.foil_word] + 0.5)) for option in options]
    likelihoods = (np.array(lengths, dtype=float), np.array(rarity), margins)
    associations = np.array([option.associations for option in options], dtype=float).reshape(len(options), -1)
    for values in (*(np.sign(numbers) for numbers in likelihoods), *likelihoods, *associations.T):
        programme.balance([scale_sum(values, values)], _SLACK, imbalance)


def scale_sum(values: Floats, typical: Floats) -> list[tuple[int, float]]:
    """Return each index and its value in units of the root mean square of typical ones, without outliers."""
    scaled = np.clip(values / (np.sqrt((typical**2).mean()) or 1.0), -_MAX_SCALED, _MAX_SCALED)
    return [*enumerate(scaled.round(_WEIGHT_DIGITS).tolist())]


def list_surplus(true_text: str, foil_text: str) -> list[tuple[str, int]]:
    """List the words that only the true text has, with 1, and those that only the foil has, with -1."""
    true, false = (Counter(lower_words(text)) for text in (true_text, foil_text))
    return [*((word, 1) for word in true - false), *((word, -1) for word in false - true)]


class Programme:
    """Linear programme of the choice, with a column for each option, which becomes 0 or 1.

    Further columns hold by how much each sum exceeds its slack, and each set of sums its limit.
    """

    def __init__(self, units: Integers, directed_pair_ids: Integers, directed_pair_share: float) -> None:
        """Limit each unit to one option, and each pair, from a word to another, to a share (0..1) of the units.

        Every option has the number of its unit and that of its directed pair, from 0.
        """
        # Arrays take a tenth of the memory of tuples, and there are a dozen entries an option.
        self._rows, self._columns, self._values = array("i"), array("i"), array("d")
        self._lower: list[float] = []
        self._upper: list[float] = []
        self._units, self._directed_pair_ids = units, directed_pair_ids
        self._max_uses = max(1, int(directed_pair_share * (int(units.max()) + 1)))
        self._options = self._width = len(units)
        self._overruns: list[int] = []
        for numbers, limit in ((units, 1), (directed_pair_ids, self._max_uses)):
            self._rows.extend((numbers + len(self._upper)).tolist())
            self._columns.extend(range(self._options))
            self._values.extend([1.0] * self._options)
            self._lower += [-np.inf] * (int(numbers.max()) + 1)
            self._upper += [float(limit)] * (int(numbers.max()) + 1)

    def limit_groups(self, groups: Sequence[str], pairs: Sequence[int], share: float) -> None:
        """Limit each group of options to a share (0..1) of all pairs, of which every option makes some."""
        if share >= 1:
            return
        for group in sorted(set(groups)):
            weights = [number * ((name == group) - share) for name, number in zip(groups, pairs, strict=True)]
            # Less one, since rounding may exceed a limit by one.
            self._add_row([*enumerate(weights), (self._width, -1)], -np.inf, -1)
            self._overruns.append(self._width)
            self._width += 1

    def balance(
        self,
        sums: Iterable[Sequence[tuple[int, float]]],
        slack: float,
        max_gain: float,
        targets: Iterable[float] = itertools.repeat(0.0),
    ) -> None:
        """Limit the total by which sums of weights are further than their slack from their targets, to either side.

        A sum is of options with their weights, -1 to 1 or so. `max_gain` is the share of chosen options that may be
        told by the signs of the sums, above one half.
        """
        first = self._width
        for weights, target in zip(sums, targets, strict=False):
            self._add_row([*weights, (self._width, -1), (self._width + 1, 1)], target - slack, target + slack)
            self._width += 2
        total = [(column, 1.0) for column in range(first, self._width)]
        total += [(column, -2 * max_gain) for column in range(self._options)]
        self._add_row([*total, (self._width, -1)], -np.inf, 0)
        self._overruns.append(self._width)
        self._width += 1

    def _add_row(self, weights: Sequence[tuple[int, float]], lower: float, upper: float) -> None:
        for column, value in weights:
            self._rows.append(len(self._upper))
            self._columns.append(column)
            self._values.append(value)
        self._lower.append(lower)
        self._upper.append(upper)

    def solve(self, costs: Floats, *, max_nodes: int = _MAX_NODES) -> list[int]:
        """Return the options of lowest cost, as near as rounding comes.

        Without a solution in `max_nodes` of the search in integers, the options are rounded.
        """
        from scipy import optimize, sparse

        entries = (np.asarray(self._values), (np.asarray(self._rows), np.asarray(self._columns)))
        matrix = sparse.csc_matrix(entries, shape=(len(self._upper), self._width))
        lower, upper = np.array(self._lower), np.array(self._upper)
        further = np.arange(self._options, self._width)
        costs = np.concatenate([costs, np.zeros(len(further))])
        costs[self._overruns] = _OVERRUN_COST
        chosen = np.zeros(self._options, dtype=bool)
        undecided = np.arange(self._options)
        while len(undecided):
            columns = np.concatenate([undecided, further])
            taken = np.asarray(matrix[:, np.flatnonzero(chosen)].sum(axis=1)).ravel()
            for integers in (True, False) if len(undecided) <= _MAX_INTEGERS else (False,):
                result = optimize.milp(
                    costs[columns],
                    integrality=(columns < self._options) & integers,
                    constraints=optimize.LinearConstraint(matrix[:, columns], lower - taken, upper - taken),
                    bounds=optimize.Bounds(0, np.where(columns < self._options, 1, np.inf)),
                    # A solution that is only known to be nearly the best one depends on the version of the solver.
                    options={"node_limit": max_nodes, "mip_rel_gap": 0},
                )
                if result.status == 0:
                    break
            if result.x is None:
                raise VttdataError(f"The solver found no balanced choice of foils ({result.message}).")
            values = result.x[: len(undecided)]
            chosen[undecided[values >= 1 - _INTEGRALITY]] = True
            fractional = (values > _INTEGRALITY) & (values < 1 - _INTEGRALITY)
            undecided, values = undecided[fractional], values[fractional]
            settled = max(1, int(_SETTLED_SHARE * values.round(_DIGITS).sum()))
            for column in undecided[np.argsort(-values.round(_DIGITS), kind="stable")][:settled].tolist():
                chosen[column] = self._find_available(chosen)[column]
            undecided = undecided[self._find_available(chosen)[undecided]]
        return np.flatnonzero(chosen).tolist()

    def _find_available(self, chosen: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Return which options can be chosen beside others, by their unit and by their words."""
        of_unit = np.bincount(self._units[chosen], minlength=len(self._upper))[self._units]
        pairs = self._directed_pair_ids
        of_pair = np.bincount(pairs[chosen], minlength=len(self._upper))[pairs]
        available: npt.NDArray[np.bool_] = (of_unit == 0) & (of_pair < self._max_uses)
        return available


def hash_to_unit_interval(seed: int, option: Option) -> float:
    """Return a number in [0, 1) that depends on the seed and the option only."""
    text = f"foil\0{seed}\0{option.unit}\0{option.key}"
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "replace")).digest()[:7], "big") / 2**56


def combine_margins(margins: Floats, second_margins: Floats) -> Floats:
    """Estimate the margins of a third model from those of two models that were trained on different texts.

    Choosing by a model's margins also chooses by the noise in them, so a set on which that model is right half of the
    time is easier for every other one. The mean of two models has less noise, and their correlation tells how much is
    left: it shrinks the mean towards that of all options, by the formula of Spearman and Brown (1910).
    """
    mean = (margins + second_margins) / 2
    if len(mean) < 2 or not (margins.std() and second_margins.std()):
        return mean
    correlation = max(round(correlate_margins(margins, second_margins), _DIGITS), _MIN_CORRELATION)
    reliability = 2 * correlation / (1 + correlation)
    shrunk: Floats = mean.mean() + reliability * (mean - mean.mean())
    return shrunk


def correlate_margins(margins: Floats, second_margins: Floats) -> float:
    """Return the correlation of the margins of two models; 0 where those of one are all alike."""
    if not (margins.size and margins.std() and second_margins.std()):
        return 0.0
    return float(np.corrcoef(margins, second_margins)[0, 1])
