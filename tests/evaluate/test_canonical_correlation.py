"""Kernel canonical correlations equal SciPy's solution of the eigenproblem, and landmarks approximate them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigh

from vttdata.evaluate.canonical_correlation import KernelView, correlate_views, try_settings


def two_views(number: int, noise: float = 0.3) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(3)
    shared = draw.normal(size=(number, 4))
    return tuple(shared @ draw.normal(size=(4, width)) + noise * draw.normal(size=(number, width)) for width in (8, 11))


def test_correlations_are_those_of_the_generalised_eigenproblem() -> None:
    first, second = two_views(60)
    landmarks = range(60)
    views = [KernelView.of(features @ features.T, landmarks) for features in (first, second)]
    found = correlate_views(*views, regularisation=0.2)
    covariances = [features.T @ features / 60 for features in (first, second)]
    regular = [c + 0.2 * np.trace(c) / len(c) * np.eye(len(c)) for c in covariances]
    cross = first.T @ second / 60
    left = np.block([[np.zeros((8, 8)), cross], [cross.T, np.zeros((11, 11))]])
    right = np.block([[regular[0], np.zeros((8, 11))], [np.zeros((11, 8)), regular[1]]])
    wanted = eigh(left, right, eigvals_only=True)[::-1][:8]
    assert found.correlations == pytest.approx(wanted, abs=1e-9)


def test_coordinates_reproduce_the_kernel_with_all_items_as_landmarks() -> None:
    first, _ = two_views(30)
    kernel = first @ first.T
    view = KernelView.of(kernel, range(30))
    assert view.coordinates @ view.coordinates.T == pytest.approx(kernel, abs=1e-8)


def test_a_quarter_of_the_items_as_landmarks_finds_held_out_pairs() -> None:
    first, second = two_views(400, noise=0.1)
    landmarks = list(range(0, 300, 4))
    kernels = [features @ features[landmarks].T for features in (first, second)]
    places = list(range(0, 300, 4))
    views = [KernelView.of(kernel[:300], places) for kernel in kernels]
    tried = list(try_settings(*views, (kernels[0][300:], kernels[1][300:]), (0.01, 5.0), (1, 4)))
    assert len(tried) == 4
    best, regularisation, size = max(tried)
    # Guessing gets about .05 of 100 items.
    assert best > 0.5
    assert size == 4
    found = correlate_views(*views, regularisation)
    cosines = found.cosines(kernels[0][300:], kernels[1][300:], size)
    assert (cosines.argmax(axis=1) == np.arange(100)).mean() > 0.4
