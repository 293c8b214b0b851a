"""Kernel canonical correlation analysis of two views of the same items, for any number of them.

Hardoon et al. (2004), as in Hodosh et al. (JAIR 2013, section 3.2). Kernels are approximated from landmarks (Williams
and Seeger, NIPS 2000, the Nystroem method); with all items as landmarks they are exact. The cost grows with the items
times the square of the landmarks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from vttdata.statistics.arrays import Floats

# Directions of a kernel with a smaller share of its greatest eigenvalue are rounding.
_NEGLIGIBLE = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class KernelView:
    """Coordinates of n items, (n, r), by a kernel with m landmarks, and the axes that give those of others, (m, r)."""

    coordinates: Floats
    axes: Floats

    @classmethod
    def of(cls, kernel: Floats, landmarks: Sequence[int]) -> KernelView:
        """Make the view of a kernel of n items and m landmarks, (n, m), which are the items of these numbers."""
        values, vectors = np.linalg.eigh(kernel[list(landmarks)])
        kept = values > values[-1] * _NEGLIGIBLE
        axes = vectors[:, kept] / np.sqrt(values[kept])
        return cls(kernel @ axes, axes)


@dataclass(frozen=True, slots=True, eq=False)
class Correlated:
    """Projections of both views on the directions of highest correlation, (m, d) each, and the correlations, (d,)."""

    first: Floats
    second: Floats
    correlations: Floats

    def cosines(self, first: Floats, second: Floats, dimensions: int) -> Floats:
        """Return the cosine of n items of the first and k of the second view, given by kernels with the landmarks."""
        used = slice(0, dimensions)
        ours = first @ self.first[:, used] * self.correlations[used]
        return _unit(ours) @ _unit(second @ self.second[:, used]).T


def correlate_views(first: KernelView, second: KernelView, regularisation: float) -> Correlated:
    """Return the canonical directions of two views of the same items.

    `regularisation` is a share of the mean variance of a view that is added to each of its variances, so that noise in
    small directions is not blown up.
    """
    number = len(first.coordinates)
    whitened = []
    for view in (first, second):
        variances, axes = np.linalg.eigh(view.coordinates.T @ view.coordinates / number)
        variances = np.maximum(variances, 0)
        whitened.append(axes / np.sqrt(variances + regularisation * variances.mean()))
    shared = whitened[0].T @ (first.coordinates.T @ second.coordinates / number) @ whitened[1]
    left, correlations, right = np.linalg.svd(shared, full_matrices=False)
    return Correlated(first.axes @ whitened[0] @ left, second.axes @ whitened[1] @ right.T, correlations)


def try_settings(
    first: KernelView,
    second: KernelView,
    held_out: tuple[Floats, Floats],
    regularisations: Sequence[float],
    sizes: Sequence[int],
) -> Iterator[tuple[float, float, int]]:
    """Yield the mean reciprocal rank of held-out items for each regularisation and number of dimensions.

    `held_out` are their kernels with the landmarks in both views, (k, m); item i of one belongs to item i of the other.
    """
    for regularisation in regularisations:
        found = correlate_views(first, second, regularisation)
        for size in dict.fromkeys(min(size, len(found.correlations)) for size in sizes):
            cosines = found.cosines(*held_out, size)
            own = np.diagonal(cosines)[:, None]
            ranks = 1 + (cosines > own).sum(axis=1) + ((cosines == own).sum(axis=1) - 1) / 2
            yield float((1 / ranks).mean()), regularisation, size


def _unit(rows: Floats) -> Floats:
    lengths: Floats = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.maximum(lengths, 1e-12)
