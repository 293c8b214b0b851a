"""`vttdata stats`, `diff` and `datasets` on small datasets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from vttdata.cli.main import main
from vttdata.dataset import Metadata, write_dataset
from vttdata.dataset.leak_audit import audit_all
from vttdata.records import Caption, Clip


def write(folder: Path, *texts: str) -> str:
    """Write a dataset with one clip and source for each text; the first clip is for training."""
    clips = [
        Clip(f"v{number}", f"s{number}", 0.0, 4.0, None, None, 1, split="test" if number else "train")
        for number in range(len(texts))
    ]
    captions = [Caption(clip.video_id, 0, text) for clip, text in zip(clips, texts, strict=True)]
    write_dataset(
        folder, clips=clips, captions=captions, sources=[], metadata=Metadata("me/x"), media=None, audit=audit_all
    )
    return str(folder)


def test_diff_names_changed_and_added_rows_and_the_version_they_need(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = write(tmp_path / "old", "a dog", "a cat"), write(tmp_path / "new", "a dog", "a cow", "a hen")
    assert main(["diff", old, old]) == 0
    assert capsys.readouterr().out == "No row differs.\n"
    assert main(["diff", old, new, "--json"]) == 4
    content = json.loads(capsys.readouterr().out)
    assert (content["version"], content["next_version"]) == ("1.0.0", "2.0.0")
    assert main(["diff", old, new]) == 4
    assert "needs a new MAJOR version (after 1.0.0: 2.0.0)" in capsys.readouterr().out


def test_stats_count_clips_and_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write(tmp_path / "x", "a dog runs", "a cat")
    assert main(["stats", folder, "--json"]) == 0
    assert "5" in capsys.readouterr().out
    assert main(["stats", folder]) == 0
    rows = {line[:12].strip(): line.split()[-1] for line in capsys.readouterr().out.splitlines() if line.strip()}
    assert (rows["clips"], rows["words"], rows["vocabulary"]) == ("2", "5", "4")


def test_datasets_describe_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write(tmp_path / "x", "a dog runs", "a cat")
    assert main(["datasets", folder]) == 0
    shown = capsys.readouterr().out
    assert "clips" in shown
    assert "train" in shown
    assert main(["datasets", str(tmp_path / "nowhere")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
