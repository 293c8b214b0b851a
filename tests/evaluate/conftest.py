"""Provide a dataset with leaks, and predictions for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers.leaking_dataset import write_leaking_dataset, write_predictions

Write = Callable[..., Path]


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    return write_leaking_dataset(tmp_path / "dataset")


@pytest.fixture
def predictions(tmp_path: Path) -> Write:
    """Provide a function that writes predictions with changed captions."""

    def write(name: str = "captions.json", **changes: str | None) -> Path:
        return write_predictions(tmp_path / name, **changes)

    return write
