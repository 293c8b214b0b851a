"""Put people's scores of several rounds of one campaign on one scale."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from vttdata.evaluate.meta.judgments import RAW_HEADLINE, Z_HEADLINE, JudgmentTable
from vttdata.statistics.arrays import Floats, Integers

# The variance of an annotator with few ratings is drawn to that of all, which counts as so many ratings.
_PRIOR = 6


def standardise_rounds(tables: Sequence[JudgmentTable]) -> list[JudgmentTable]:
    """Return the tables with z of one scale, see `standardise_ratings`, or without z if a score names no annotator.

    Most captions of a later round are by systems whose order is open, and the mean and the standard deviation of an
    annotator's scores in one round follow that mix: z of two rounds that are standardised by themselves have different
    zeros and units. Annotators of one name are one person.
    """
    parts = [np.full(len(table.raw), math.nan) for table in tables]
    headline, note = RAW_HEADLINE, ""
    if all(table.annotators for table in tables):
        # One annotator's ratings are the scores themselves.
        ratings = [table.raw[:, np.newaxis] if table.ratings is None else table.ratings for table in tables]
        known = [np.nonzero(~np.isnan(part)) for part in ratings]
        people = [np.array(table.annotators)[column] for table, (_, column) in zip(tables, known, strict=True)]
        authors = [np.array(table.systems)[row] for table, (row, _) in zip(tables, known, strict=True)]
        z = standardise_ratings(
            np.concatenate([part[cells] for part, cells in zip(ratings, known, strict=True)]),
            np.unique(np.concatenate(people), return_inverse=True)[1],
            np.unique(np.concatenate(authors), return_inverse=True)[1],
        )
        if z is not None:
            headline, note = Z_HEADLINE, "z is standardised by annotator over all rounds together."
            for part, (row, _), values in zip(
                parts, known, np.split(z, np.cumsum([len(row) for row, _ in known])[:-1]), strict=True
            ):
                number = np.bincount(row, minlength=len(part))
                part[number > 0] = (np.bincount(row, values, len(part)) / np.maximum(number, 1))[number > 0]
    elif any("z" in table.human_scores for table in tables):
        note = "Raw scores count, since z has another zero in every round, and not every score names its annotator."
    made = [dataclasses.replace(table, z=z, headline=headline) for table, z in zip(tables, parts, strict=True)]
    if note:
        made[0] = dataclasses.replace(made[0], notes=(*made[0].notes, note))
    return made


def standardise_ratings(ratings: Floats, annotators: Integers, systems: Integers) -> Floats | None:
    """Standardise ratings by annotator, whatever mix of systems each of them rated; None if ratings do not vary.

    Ratings are divided by the annotator's standard deviation within systems. Of the quotients, annotators' levels and
    systems' means are fitted together (annotators as random effects), and a rating's z is its difference from the
    annotator's level by the other ratings: by a level in which the rating itself counts, ratings of annotators who gave
    few would differ too little, and intervals of means would be too short. In z, the mean over systems is 0, and the
    standard deviation is that of ratings of which each system has equally many.

    Args:
        ratings: ``(n,)``, by any annotators of captions of any systems.
        annotators: number of the annotator of each rating, from 0, ``(n,)``.
        systems: number of the system of each rating, from 0, ``(n,)``.
    """
    shape = int(annotators.max()) + 1, int(systems.max()) + 1
    cell = annotators * shape[1] + systems
    numbers = np.bincount(cell, minlength=shape[0] * shape[1])
    means = np.bincount(cell, ratings, len(numbers)) / np.maximum(numbers, 1)
    table = numbers.reshape(shape).astype(np.float64)
    of_annotator, of_system = table.sum(axis=1), table.sum(axis=0)
    squares = np.bincount(annotators, (ratings - means[cell]) ** 2, shape[0])
    freedom = of_annotator - (table > 0).sum(axis=1)
    if not squares.sum() > 0:
        return None
    variance = (squares + _PRIOR * squares.sum() / freedom.sum()) / (freedom + _PRIOR)
    scaled = (ratings - ratings.mean()) / np.sqrt(variance)[annotators]
    within = float((squares / variance).sum() / freedom.sum())
    sums = np.append(np.bincount(annotators, scaled, shape[0]), np.bincount(systems, scaled, shape[1]))

    def fit(ridge: float) -> Floats:
        """Return the means of systems where levels of annotators are drawn to 0."""
        normal = np.block([[np.diag(of_annotator + ridge), table], [table.T, np.diag(of_system)]])
        solution: Floats = np.linalg.lstsq(normal, sums, rcond=1e-10)[0]
        return solution[shape[0] :]

    # Variance of levels by the method of moments, from levels that are not drawn to anything.
    rest = scaled - fit(0)[systems]
    levels = np.bincount(annotators, rest, shape[0]) / of_annotator
    spread = float((of_annotator * (levels - rest.mean()) ** 2).sum()) - (shape[0] - 1) * within
    between = spread / (len(rest) - float((of_annotator**2).sum()) / len(rest)) if shape[0] > 1 else 0.0
    # Without any, all annotators have one level.
    ridge = within / between if between > 0 else math.inf
    worth = fit(ridge) if between > 0 else np.bincount(systems, scaled, shape[1]) / of_system
    rest = scaled - worth[systems]
    others = np.bincount(annotators, rest, shape[0])[annotators] - rest
    level = others / (of_annotator[annotators] - 1 + ridge) if between > 0 else 0.0
    z: Floats = (scaled - level - worth.mean()) / math.sqrt(within + float(worth.var()))
    return z
