"""The choice of the ffmpeg program."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.builds import LOOSE, build
from vttdata.errors import VttdataError
from vttdata.media.ffmpeg_program import ffmpeg_path, ffmpeg_version


@pytest.fixture(autouse=True)
def _empty_caches(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("VTTDATA_FFMPEG", raising=False)
    ffmpeg_path.cache_clear()
    ffmpeg_version.cache_clear()
    yield
    ffmpeg_path.cache_clear()
    ffmpeg_version.cache_clear()


@pytest.fixture
def old_ffmpeg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a program called ffmpeg first on the PATH."""
    program = tmp_path / "ffmpeg"
    program.write_text("#!/bin/sh\necho ffmpeg version 0.1-old\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    return program


def test_ffmpeg_on_the_path_is_not_preferred(old_ffmpeg: Path) -> None:
    assert ffmpeg_path() != str(old_ffmpeg)
    assert ffmpeg_version() != "0.1-old"


def test_builds_run_no_ffmpeg_of_the_path(videos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("ffmpeg", "ffprobe"):
        (programs / name).write_text(f"#!/bin/sh\necho $0 $* >> '{tmp_path}/calls'\nexit 99\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=":")
    done = build(tmp_path / "out", f"collect.folder={videos}", *LOOSE, "filter.max_frozen=1.0")
    assert done.returncode == 0, done.stderr
    assert list((tmp_path / "out" / "dataset" / "videos").glob("*/*.mp4"))
    assert not (tmp_path / "calls").exists()
    assert json.loads((tmp_path / "out" / "build.json").read_text())["tools"]["ffmpeg"] == ffmpeg_version()


def test_variable_names_another_ffmpeg(old_ffmpeg: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VTTDATA_FFMPEG", "ffmpeg")
    assert (ffmpeg_path(), ffmpeg_version()) == (str(old_ffmpeg), "0.1-old")


def test_variable_that_names_no_program_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VTTDATA_FFMPEG", "/nowhere/ffmpeg")
    with pytest.raises(VttdataError, match="'/nowhere/ffmpeg', which is not an executable program"):
        ffmpeg_path()


def test_variable_that_names_another_program_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VTTDATA_FFMPEG", "true")
    with pytest.raises(VttdataError, match="states no version of ffmpeg"):
        ffmpeg_version()


def test_ffmpeg_on_the_path_is_used_without_the_package(old_ffmpeg: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    assert ffmpeg_path() == str(old_ffmpeg)
