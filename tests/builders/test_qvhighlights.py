"""QVHighlights: the real validation queries where they are at hand, and small files of their form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from builders.qvhighlights import read
from vttdata.errors import VttdataError


def query(**changes: Any) -> dict[str, Any]:
    return {
        "qid": 7,
        "query": "A dog runs.",
        "duration": 150,
        "vid": "NUsG9BgSes0_210.0_360.0",
        "relevant_windows": [[0, 4]],
        "relevant_clip_ids": [0, 1],
        "saliency_scores": [[1, 2, 3], [4, 0, 2]],
    } | changes


def test_real_validation_has_published_counts(shared: Path) -> None:
    official = read(shared / "data" / "qvhighlights")
    assert (len(official.captions), len(official.clips)) == (1_550, 1_519)
    assert sum(len(moments.starts) for moments in official.moments) == 2_803
    first, clip = official.moments[0], official.clips[0]
    assert (first.video_id, first.sen_id, first.starts, first.ends) == ("NUsG9BgSes0_210.0_360.0", 2579, (82,), (150,))
    assert (first.salient[0], first.saliency[:6]) == (41, (1, 1, 2, 1, 1, 3))
    assert (clip.source_id, clip.start, clip.end) == ("NUsG9BgSes0", 210.0, 360.0)
    assert official.findings == ()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"vid": "NUsG9BgSes0"}, "highlight_val_release.jsonl:1: 'NUsG9BgSes0' is not <YouTube id>_<start>_<end>"),
        ({"relevant_clip_ids": [0]}, "highlight_val_release.jsonl:1: 1 parts have 2 judgments"),
        ({"saliency_scores": [[1, 2], [4, 0]]}, "saliency_scores"),
        ({"saliency_scores": [[1, 2, 5], [4, 0, 1]]}, "saliency_scores"),
        ({"relevant_windows": [[-1, 4]]}, "relevant_windows"),
    ],
)
def test_damaged_line_is_one_sentence(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    (tmp_path / "highlight_val_release.jsonl").write_text(json.dumps(query(**changes)) + "\n")
    with pytest.raises(VttdataError) as refused:
        read(tmp_path)
    assert words in str(refused.value)


def test_odd_windows_are_findings(tmp_path: Path) -> None:
    rows = [query(), query(qid=8, relevant_windows=[[4, 4]]), query(qid=9, relevant_windows=[[140, 152]])]
    rows += [query(qid=10, relevant_windows=[])]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "highlight_val_release.jsonl").write_text(text)
    assert {
        finding.kind: finding.ids for finding in read(tmp_path).findings if finding.kind != "duplicate_caption"
    } == {
        "end_before_start": ("NUsG9BgSes0_210.0_360.0/8",),
        "end_after_duration": ("NUsG9BgSes0_210.0_360.0/9",),
        "no_window": ("NUsG9BgSes0_210.0_360.0/10",),
    }
