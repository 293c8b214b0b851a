"""A short campaign of seeded mutations; ``benchmarks/hostile.py`` is the long one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.helpers.hostile_campaign import SHORT_KINDS, Campaign


@pytest.mark.skipif(not hasattr(os, "fork"), reason="trials are forked")
def test_mutations_end_in_a_sentence_or_in_the_whole_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VTTDATA_HOME", str(tmp_path / "home"))
    report = Campaign(tmp_path).run(SHORT_KINDS, range(5))
    assert not report.failures, "\n".join(report.failures)
    assert sum(report.tried.values()) == len(SHORT_KINDS) * 5
    # Most mutations are noticed; a trial that does nothing would be refused never.
    assert all(report.refused[kind] >= 1 for kind in SHORT_KINDS), report.refused
    assert report.megabytes < 1024
