"""`vttdata video shots`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from vttdata.cli.main import main


def test_each_video_is_a_json_object_and_an_unreadable_one_an_error(
    shared: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = shared / "videos" / "shots" / "sintel-trailer-30s.mp4", shared / "videos" / "broken" / "corrupted.mp4"
    assert main(["video", "shots", "--json", str(bad), str(good)]) == 1
    first, second = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert set(first) == {"file", "error"}
    assert set(second) == {"file", "frames", "fps", "seconds", "shots"}
    assert (second["frames"], second["fps"], second["seconds"]) == (720, 24.0, 30.0)
    assert set(second["shots"][0]) == {"start", "end", "first_frame", "last_frame", "transition"}
    assert second["shots"][0]["first_frame"] == 0
    assert second["shots"][-1]["last_frame"] == 719


def test_a_contact_sheet_is_drawn_for_one_video(
    shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    video = str(shared / "videos" / "shots" / "bikes.mp4")
    assert main(["video", "shots", "--sheet", str(tmp_path / "sheet.png"), video]) == 0
    assert (tmp_path / "sheet.png").read_bytes().startswith(b"\x89PNG")
    assert main(["video", "shots", "--sheet", str(tmp_path / "sheet.png"), video]) == 0
    (tmp_path / "mine.png").write_bytes(b"\x89PNG\r\n\x1a\nmine")
    assert main(["video", "shots", "--sheet", str(tmp_path / "mine.png"), video]) == 2
    assert "mine.png: is not of this version" in capsys.readouterr().err
    assert (tmp_path / "mine.png").read_bytes() == b"\x89PNG\r\n\x1a\nmine"
    assert main(["video", "shots", "--sheet", str(tmp_path / "two.png"), video, video]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert main(["video", "shots", "--sheet", str(tmp_path / "no" / "folder.png"), video]) == 1
    assert capsys.readouterr().err.count("\n") == 1
