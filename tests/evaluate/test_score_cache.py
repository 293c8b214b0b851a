"""Arrays come back as they were kept, or not at all."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from vttdata import evaluate
from vttdata.evaluate import score_cache
from vttdata.evaluate.evaluation import EvaluationSettings
from vttdata.evaluate.reference_index import forget_indexes
from vttdata.evaluate.score_cache import keep_arrays, read_arrays
from vttdata.load.local_builds import BuildRegistry


def as_lists(arrays: Mapping[str, NDArray[Any]]) -> tuple[list[Any], list[Any]]:
    return arrays["a"].tolist(), arrays["b"].tolist()


def test_damaged_files_are_never_read(tmp_path: Path) -> None:
    keep_arrays(tmp_path, "x", {"a": np.arange(3), "b": np.array([[0.5]])})
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    for position in range(0, len(whole), 4):
        file.write_bytes(whole[:position] + bytes([whole[position] ^ 0xFF]) + whole[position + 1 :])
        # Some bytes, such as dates, are not part of the content.
        assert read_arrays(tmp_path, "x", as_lists) in (None, ([0, 1, 2], [[0.5]]))
        file.write_bytes(whole[:position])
        assert read_arrays(tmp_path, "x", as_lists) is None
    assert read_arrays(tmp_path, "y", as_lists) is None


def test_files_that_were_not_used_for_longest_go_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for age, name in enumerate(["new", "middle", "old"]):
        keep_arrays(tmp_path, name, {"a": np.zeros(1000)})
        os.utime(tmp_path / f"{name}.npz", (100 - age, 100 - age))
    read_arrays(tmp_path, "old", dict)
    monkeypatch.setattr(score_cache, "MAX_BYTES", 2 * (tmp_path / "old.npz").stat().st_size)
    keep_arrays(tmp_path, "newest", {"a": np.zeros(1000)})
    assert {file.stem for file in tmp_path.iterdir()} == {"old", "newest"}


def test_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    keep_arrays(tmp_path / "file", "x", {"a": np.zeros(1)})
    assert read_arrays(tmp_path / "file", "x", dict) is None


def test_references_are_kept_in_the_home_of_builds(
    dataset: Path, tmp_path: Path, predictions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VTTDATA_HOME", str(tmp_path / "home"))
    forget_indexes()
    evaluate(dataset, predictions(), metrics=["bleu4"], settings=EvaluationSettings(draws=10))
    assert len(list((tmp_path / "home/.metrics").glob("references-*.npz"))) == 1
    assert list(BuildRegistry().builds()) == []
