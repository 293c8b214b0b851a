"""Datasets with videos have a picture of their clips, which follows from the clips alone."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from PIL import Image

from tests.helpers.builds import film
from vttdata.dataset.videos import PREVIEW, add_preview
from vttdata.records import Clip, ClipMedia


@pytest.fixture(scope="module")
def media(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Fourteen clips with a picture for each source: c0 of s0, c1 of s1, all others of s2; c5 is no video."""
    folder = tmp_path_factory.mktemp("media")
    for number, picture in enumerate(("testsrc2", "smptebars", "rgbtestsrc")):
        film(folder / f"c{number}.mp4", 1, picture)
    for number in range(3, 14):
        shutil.copy(folder / "c2.mp4", folder / f"c{number}.mp4")
    (folder / "c5.mp4").write_bytes(b"no video")
    return folder


def clip(number: int, *, has_file: bool = True) -> Clip:
    file = ClipMedia(f"videos/c{number}.mp4", "0" * 64, 1) if has_file else None
    return Clip(f"c{number}", f"s{min(number, 2)}", 0.0, 1.0, None, None, None, media=file)


@pytest.mark.not_on("win32")
def test_picture_begins_with_every_source_and_follows_from_the_clips(media: Path, tmp_path: Path) -> None:
    clips = [clip(number) for number in range(14)]
    for name, order in (("a", clips), ("b", clips[::-1])):
        (tmp_path / name).mkdir()
        add_preview(tmp_path / name, media, order)
    assert (tmp_path / "a" / PREVIEW).read_bytes() == (tmp_path / "b" / PREVIEW).read_bytes()
    with Image.open(tmp_path / "a" / PREVIEW) as sheet:
        assert sheet.size == (4 * 244 + 4, 3 * 139 + 4)
        cells = [sheet.crop((4 + 244 * column, 4, 244 * (column + 1), 139)) for column in range(4)]
    assert len({cell.resize((4, 4)).tobytes() for cell in cells[:3]}) == 3
    assert (tmp_path / "a" / PREVIEW).stat().st_size < 100_000


@pytest.mark.parametrize("clips", [[], [clip(0, has_file=False)], [clip(5)]])
def test_without_a_readable_file_there_is_no_picture(media: Path, tmp_path: Path, clips: list[Clip]) -> None:
    add_preview(tmp_path, media, clips)
    assert list(tmp_path.iterdir()) == []
