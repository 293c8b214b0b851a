"""Thumbnails of videos that may come from anybody: what cannot be decoded is left out, and memory does not grow."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.needs import library

library("av")

from PIL import Image

from tests.helpers.films import write_film
from vttdata.report.thumbnails import Still, make_stills, sample_times


def test_many_thumbnails_need_little_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each frame that is resized by several threads keeps them: 39 videos were enough for 2 GB."""
    monkeypatch.setenv("VTTDATA_WORKER_MEMORY", "500")
    film = write_film(tmp_path / "film.mp4", 1, 4)
    stills = [Still(f"copy {number}", film, sample_times(0, 4)) for number in range(40)]
    assert make_stills(stills, tmp_path / "stills", workers=2) == {still.name for still in stills}


def test_what_cannot_be_decoded_is_left_out(tmp_path: Path) -> None:
    film = write_film(tmp_path / "film.mp4", 1, 4)
    (tmp_path / "broken.mp4").write_bytes(film.read_bytes()[:600])
    stills = [Still(name, tmp_path / f"{name}.mp4", width=320) for name in ("film", "broken", "missing")]
    assert make_stills(stills, tmp_path / "stills") == {stills[0].name}
    assert Image.open(tmp_path / "stills" / stills[0].name).size == (320, 180)
