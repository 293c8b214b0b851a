"""A few of the thousand changes of ``benchmarks/changes.py``."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.changes import run_changes


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.long
def test_no_change_loses_captions_or_moves_clips_without_a_word(tmp_path: Path, seed: int) -> None:
    outcomes = list(run_changes(tmp_path / "changes", videos=8, changes=12, seed=seed))
    assert [fault for outcome in outcomes for fault in outcome.faults] == []
    assert len({outcome.kind for outcome in outcomes}) > 3
    assert {outcome.result for outcome in outcomes} >= {"built"}
