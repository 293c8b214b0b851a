"""Means of people's ratings when a judge rated everything and people a part: judge scores corrected by people.

Of each group of items, such as a system's captions, the estimate is the mean of people's ratings plus `power` times the
difference between the judge's mean over all items and over the rated ones (prediction-powered inference: Angelopoulos
et al., Science 2023; with the power tuned: Angelopoulos, Duchi and Zrnic, arXiv:2311.01453). A judge of any quality and
on any scale leaves the estimate unbiased where the rated items are a random part; the better it orders the items of a
group, the fewer ratings are needed. Several judges correct together, with a power each.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from vttdata.statistics.arrays import Flags, Floats, Integers
from vttdata.statistics.hypothesis_tests import scipy_stats

Target = Literal["population", "items"]
"""What a mean is of: videos like these, of which the items are a sample, or exactly these items."""

LEAST_RATINGS = 20
"""With fewer rated items, or items of fewer sources, no interval is given."""


@dataclass(frozen=True, slots=True)
class MeanEstimate:
    """Estimate of a mean or of a difference of two, with its 95 % interval and two-sided p-value of being 0.

    Fields:
        value: in units of people's ratings.
        low, high: ends of the interval, NaN where there are too few ratings for one.
        p: NaN likewise.
        error: standard error.
    """

    value: float
    low: float
    high: float
    p: float
    error: float


@dataclass(frozen=True, slots=True, eq=False)
class CorrectedMean:
    """Mean of a group of items.

    Fields:
        items: number of items that the judge rated.
        rated: number of them that people rated, too.
        power: units of people's ratings that a unit of each judge's counts; 0 where a judge tells nothing.
        correlation: Pearson's r of people and the judge, or the sum of judges by their powers, on the rated items; NaN
            where one does not vary.
        judge: mean over all items of the judge on its own scale, or of the sum of judges by their powers.
        people: by people's ratings alone.
        corrected: by both.
        share: ratings that the corrected mean needs of those that people alone need for the same interval.
    """

    items: int
    rated: int
    power: tuple[float, ...]
    correlation: float
    judge: float
    people: MeanEstimate
    corrected: MeanEstimate
    share: float


@dataclass(frozen=True, slots=True, eq=False)
class _Influence:
    """Value of an estimate, by how much each source moves it, ``(sources,)``, and how many parameters were fitted."""

    value: float
    by_source: Floats
    sources: Flags
    parameters: int

    def minus(self, other: _Influence) -> _Influence:
        return _Influence(
            self.value - other.value,
            self.by_source - other.by_source,
            self.sources | other.sources,
            max(self.parameters, other.parameters),
        )

    def correction(self) -> float:
        """Return by how much errors are larger than they look after the fit; NaN where nothing is left to judge by."""
        number = int(self.sources.sum())
        return math.sqrt(number / (number - self.parameters)) if number > self.parameters else math.nan

    def estimate(self) -> MeanEstimate:
        number = int(self.sources.sum())
        freedom = number - self.parameters
        error = math.sqrt(float((self.by_source**2).sum())) * self.correction()
        if number < LEAST_RATINGS or math.isnan(error):
            return MeanEstimate(self.value, math.nan, math.nan, math.nan, math.nan)
        if error == 0:
            return MeanEstimate(self.value, self.value, self.value, math.nan if self.value == 0 else 0.0, 0.0)
        t = scipy_stats().t
        reach = float(t.ppf(0.975, freedom)) * error
        p = float(2 * t.sf(abs(self.value) / error, freedom))
        return MeanEstimate(self.value, self.value - reach, self.value + reach, p, error)


@dataclass(frozen=True, slots=True, eq=False)
class _Group:
    people: _Influence
    corrected: _Influence
    summary: tuple[int, int, tuple[float, ...], float, float]

    def mean(self) -> CorrectedMean:
        alone, corrected = self.people.estimate(), self.corrected.estimate()
        share = (corrected.error / alone.error) ** 2 if alone.error > 0 else math.nan
        return CorrectedMean(*self.summary, alone, corrected, share)


@dataclass(frozen=True, slots=True, eq=False)
class CorrectedMeans:
    """Means of groups of items, see `correct_means`.

    Fields:
        means: of each group; the group's number is its place.
    """

    means: Sequence[CorrectedMean]
    _groups: Sequence[_Group]

    def difference(self, first: int, second: int, *, judge: bool = True) -> MeanEstimate:
        """Return how much higher the first group's mean is, paired by source; without `judge` by people alone."""
        one, other = self._groups[first], self._groups[second]
        return (one.corrected.minus(other.corrected) if judge else one.people.minus(other.people)).estimate()


def correct_means(
    judge: Floats,
    people: Floats,
    groups: Integers,
    sources: Integers,
    *,
    target: Target = "population",
    power: Floats | None = None,
) -> CorrectedMeans:
    """Estimate the mean of people's ratings of each group of items.

    The rated items of a group are taken as drawn at random from its items. Intervals are robust to what items of one
    source have in common, and use Student's t.

    Args:
        judge: scores of the n items by the judge, ``(n,)``, or by k judges, ``(n, k)``; finite.
        people: ratings by people, ``(n,)``, NaN where nobody rated the item.
        groups: group of each item, from 0, each of which has at least one rated item.
        sources: original video of each item, from 0.
        target: what the means are of.
        power: of each judge, ``(k,)``, used for all groups, or of each group and judge, ``(groups, k)``; by default
            those of each group that make its standard error smallest where items are independent (0 is people alone, 1
            the first paper's estimate on a common scale).

    Raises:
        ValueError: if a group has no rated item, or a score of the judge is not finite.
        VttdataError: if SciPy is not installed.
    """
    if not np.isfinite(judge).all():
        raise ValueError("the judge's scores must be finite")
    judges = judge if judge.ndim == 2 else judge[:, np.newaxis]
    number = int(sources.max(initial=-1)) + 1
    made = []
    for group in range(int(groups.max(initial=-1)) + 1):
        rows = groups == group
        if np.isnan(people[rows]).all():
            raise ValueError(f"group {group} has no rated item")
        of_group = power[group] if power is not None and power.ndim == 2 else power
        made.append(_make_group(judges[rows], people[rows], sources[rows], number, target, of_group))
    return CorrectedMeans([group.mean() for group in made], made)


def selection_shift(judge: Floats, rated: Flags, sources: Integers) -> MeanEstimate:
    """Estimate how much higher a judge scores items that people rated than the others.

    It is 0 but for chance where the rated items were drawn at random and the judge did not know which they are, without
    which `correct_means` is biased. There is no interval where there are fewer than `LEAST_RATINGS` items of a kind.

    Args:
        judge: scores of the n items, ``(n,)``; finite.
        rated: whether people rated each item, ``(n,)``.
        sources: original video of each item, from 0.

    Raises:
        VttdataError: if SciPy is not installed.
    """
    number = int(sources.max(initial=-1)) + 1
    if min(int(rated.sum()), int((~rated).sum())) < LEAST_RATINGS:
        return MeanEstimate(math.nan, math.nan, math.nan, math.nan, math.nan)
    means = []
    for rows in (rated, ~rated):
        mean, n = float(judge[rows].mean()), int(rows.sum())
        moved = np.bincount(sources[rows], judge[rows] - mean, number).astype(np.float64) / math.sqrt(n * (n - 1))
        means.append(_Influence(mean, moved, np.bincount(sources[rows], minlength=number) > 0, 0))
    return means[0].minus(means[1]).estimate()


def pool_rounds(rounds: Sequence[CorrectedMeans]) -> CorrectedMeans:
    """Return the means of several rounds of ratings, in each of which items of every group were drawn from all of them.

    A mean in a round is taken for that of the group plus what the round adds to all groups, since people may be milder
    in one round than in another, and groups have different numbers of ratings in it. Both are fitted by least squares,
    in which a mean counts by its number of ratings, so that differences of groups are those within rounds; what rounds
    add is 0 over all ratings. Groups and sources have the same numbers in all rounds, and what was drawn in a round may
    depend on earlier ones, and so may the powers. A group of which a round has one rating has no interval.
    """
    parts = [one._groups for one in rounds]
    rated = np.array([[group.summary[1] for group in groups] for groups in parts])
    coefficients = _fit_rounds(rated)
    pooled = []
    for number, of_group in enumerate(zip(*parts, strict=True)):
        counts = rated[:, number]
        items, _, _, _, judge = of_group[0].summary
        powers = np.average([part.summary[2] for part in of_group], axis=0, weights=counts).tolist()
        r = float(np.average([part.summary[3] for part in of_group], weights=counts))
        pooled.append(
            _Group(
                _pool([[group.people for group in groups] for groups in parts], coefficients[number], number),
                _pool([[group.corrected for group in groups] for groups in parts], coefficients[number], number),
                (items, int(counts.sum()), tuple(powers), r, judge),
            )
        )
    return CorrectedMeans([group.mean() for group in pooled], pooled)


def _fit_rounds(rated: Integers) -> Floats:
    """Return by how much the mean of each round and group counts for each group's, ``(groups, rounds, groups)``."""
    rounds, groups = rated.shape
    design = np.hstack([np.tile(np.eye(groups), (rounds, 1)), np.repeat(np.eye(rounds), groups, axis=0)])
    weights = np.sqrt(rated.ravel())
    fitted = np.linalg.pinv(design * weights[:, np.newaxis]) * weights
    coefficients: Floats = fitted[:groups] + rated.sum(axis=1) / rated.sum() @ fitted[groups:]
    return np.reshape(coefficients, (groups, rounds, groups))


def _pool(parts: Sequence[Sequence[_Influence]], coefficients: Floats, group: int) -> _Influence:
    sources = np.logical_or.reduce([of_round[group].sources for of_round in parts])
    pooled = _Influence(0.0, np.zeros(len(sources)), sources, 1)
    value, moved = 0.0, np.zeros(len(sources))
    for of_round, counts in zip(parts, coefficients.tolist(), strict=True):
        for number, (part, count) in enumerate(zip(of_round, counts, strict=True)):
            # Each part is corrected for its own fitted parameters, in place of the correction of the estimate. A part
            # of another group that is too small for it says next to nothing about the round.
            correction = part.correction()
            if number != group and math.isnan(correction):
                correction = 1.0
            value += count * part.value
            moved += count * correction / pooled.correction() * part.by_source
    return dataclasses.replace(pooled, value=value, by_source=moved)


def _make_group(
    judges: Floats, people: Floats, sources: Integers, number: int, target: Target, power: Floats | None
) -> _Group:
    rated = ~np.isnan(people)
    n, items = int(rated.sum()), len(people)
    # Of exactly these items, those that are rated have no error.
    finite = math.sqrt(1 - n / items) if target == "items" else 1.0

    def by_source(values: Floats, rows: Flags) -> Floats:
        columns = [np.bincount(sources[rows], column, number) for column in np.atleast_2d(values.T)]
        return np.stack(columns, axis=1).astype(np.float64)

    has_rated = np.bincount(sources[rated], minlength=number) > 0
    mean, of_rated, of_items = float(people[rated].mean()), judges[rated].mean(axis=0), judges.mean(axis=0)
    of_people = by_source((people[rated] - mean) / n, rated)[:, 0] * finite
    gain = -by_source((judges[rated] - of_rated) / n, rated) * finite
    if target == "population":
        gain += by_source((judges - of_items) / items, np.ones(items, dtype=np.bool_))
    fitted = 0
    if power is None:
        # Covariances with people are known of rated items only, those of the judges of all items: with the rated
        # ones alone, a judge of which they have two or three values other than 0 would fit these.
        centred = judges - of_items
        scale = np.sqrt((centred**2).mean(axis=0))
        centred /= np.where(scale > 0, scale, 1)
        covariance = (people[rated] - mean) @ (centred[rated] - centred[rated].mean(axis=0)) / max(n - 1, 1)
        spread = centred.T @ centred / max(items - 1, 1)
        inverse = np.linalg.pinv(spread, rcond=1e-8, hermitian=True)
        power = covariance @ inverse / np.where(scale > 0, scale, 1) if n < items else np.zeros(len(scale))
        fitted = np.linalg.matrix_rank(inverse, hermitian=True) if n < items else 0
    combined = judges[:, 0] if judges.shape[1] == 1 else judges @ power
    r = math.nan
    if n > 1 and np.ptp(combined[rated]) > 0 and np.ptp(people[rated]) > 0:
        r = float(np.corrcoef(combined[rated], people[rated])[0, 1])
    value = mean + float((of_items - of_rated) @ power)
    return _Group(
        _Influence(mean, of_people, has_rated, 1),
        _Influence(value, of_people + gain @ power, has_rated, 1 + int(fitted)),
        (items, n, tuple(power.tolist()), r, float(combined.mean())),
    )
