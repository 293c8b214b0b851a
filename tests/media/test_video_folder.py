"""Videos of a folder are found by their ids, and two that differ are not taken for one."""

from __future__ import annotations

from pathlib import Path

import pytest

from vttdata.errors import VttdataError
from vttdata.media.video_folder import locate_videos


def write(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_build_has_each_clip_twice(tmp_path: Path) -> None:
    clip = write(tmp_path / "dataset/videos/test/a.mp4", b"one")
    (tmp_path / "media").mkdir()
    (tmp_path / "media/a.mp4").hardlink_to(clip)
    write(tmp_path / "copied/a.mp4", b"one")
    assert [path.read_bytes() for path in locate_videos(tmp_path).values()] == [b"one"]
    write(tmp_path / "other/a.MOV", b"two")
    with pytest.raises(VttdataError, match="two videos are called 'a'"):
        locate_videos(tmp_path)
    assert locate_videos(tmp_path, ["b"]) == {}
