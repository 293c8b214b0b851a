"""Test that folders of any shape are listed completely and in order."""

from __future__ import annotations

import os
import subprocess
import wave
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from vttdata.collect import list_folder
from vttdata.errors import MediaError, VttdataError, VttdataWarning
from vttdata.media.ffmpeg_program import ffmpeg_path
from vttdata.media.measure import measure
from vttdata.media.probe import probe

HOSTILE_NAMES = ("two words.mp4", "it's.mp4", 'a "quote".mp4', "line\nbreak.mp4", "-rf.mp4", "100%d.mp4", "猫とЁж.mp4")


def locators(folder: Path) -> list[str]:
    return [candidate.locator for candidate in list_folder(folder)]


def make(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"x")
    return folder


def test_videos_of_all_subfolders_are_listed_sorted_by_path(tmp_path: Path) -> None:
    make(tmp_path, "b/2.MKV", "a.mp4", "b.webm", "b/1.mov", "notes.txt", "b-1/x.avi", "poster.jpg", "noextension")
    assert locators(tmp_path) == ["a.mp4", "b-1/x.avi", "b.webm", "b/1.mov", "b/2.MKV"]


def test_names_with_any_characters_are_listed_unchanged(tmp_path: Path) -> None:
    make(tmp_path, *HOSTILE_NAMES)
    candidates = list(list_folder(tmp_path))
    assert [candidate.locator for candidate in candidates] == sorted(HOSTILE_NAMES)
    assert {candidate.title for candidate in candidates} == {name.removesuffix(".mp4") for name in HOSTILE_NAMES}
    assert all((tmp_path / candidate.locator).is_file() for candidate in candidates)


@settings(max_examples=30, deadline=None)
@given(st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=40))
def test_locator_of_any_file_name_leads_back_to_the_file(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    folder = make(tmp_path_factory.mktemp("names"), f"x{name}.mp4")
    (candidate,) = list_folder(folder)
    assert (folder / candidate.locator).read_bytes() == b"x"
    candidate.locator.encode()


def test_hidden_files_and_folders_are_skipped(tmp_path: Path) -> None:
    make(tmp_path, "._a.mp4", ".cache/b.mp4", "c.mp4")
    assert locators(tmp_path) == ["c.mp4"]


def test_links_are_followed_and_link_loops_end(tmp_path: Path) -> None:
    videos = make(tmp_path / "videos", "real/a.mp4")
    elsewhere = make(tmp_path / "elsewhere", "b.mp4")
    (videos / "real/up").symlink_to(videos)
    (videos / "other").symlink_to(elsewhere)
    (videos / "one.mp4").symlink_to(elsewhere / "b.mp4")
    assert locators(videos) == ["one.mp4", "other/b.mp4", "real/a.mp4"]


def test_dangling_links_are_listed_as_missing(tmp_path: Path) -> None:
    (tmp_path / "dangling.mp4").symlink_to(tmp_path / "absent.mp4")
    (tmp_path / "itself.mp4").symlink_to(tmp_path / "itself.mp4")
    assert [(candidate.locator, candidate.stamp) for candidate in list_folder(tmp_path)] == [
        ("dangling.mp4", "missing"),
        ("itself.mp4", "missing"),
    ]


def test_stamp_changes_only_with_the_file(tmp_path: Path) -> None:
    make(tmp_path, "a.mp4", "b.mp4")
    before = [candidate.stamp for candidate in list_folder(tmp_path)]
    (tmp_path / "a.mp4").write_bytes(b"longer")
    os.utime(tmp_path / "b.mp4", ns=(0, 1))
    after = [candidate.stamp for candidate in list_folder(tmp_path)]
    assert after == [candidate.stamp for candidate in list_folder(tmp_path)]
    assert before[0] != after[0]
    assert after[1] == "1-1"


def test_folders_may_be_nested_deeper_than_the_recursion_limit(tmp_path: Path) -> None:
    levels = 1200
    for depth in range(1, levels + 1):
        os.mkdir(f"{tmp_path}/{'d/' * depth}")
    deep = f"{tmp_path}/{'d/' * levels}deep.mp4"
    Path(deep).write_bytes(b"x")
    try:
        assert locators(tmp_path) == ["d/" * levels + "deep.mp4"]
    finally:
        # shutil.rmtree recurses.
        os.unlink(deep)
        for depth in range(levels, 0, -1):
            os.rmdir(f"{tmp_path}/{'d/' * depth}")


@pytest.mark.parametrize("names", [(), ("notes.txt", "sub/readme.md")])
def test_folder_without_videos_is_rejected_in_one_sentence(tmp_path: Path, names: tuple[str, ...]) -> None:
    make(tmp_path, *names)
    with pytest.raises(VttdataError, match=rf"no video among {len(names)} files") as caught:
        locators(tmp_path)
    assert "\n" not in str(caught.value)


def test_path_that_is_no_folder_is_rejected(tmp_path: Path) -> None:
    make(tmp_path, "a.mp4")
    for folder in ("absent", "a.mp4"):
        with pytest.raises(VttdataError, match=r"the folder cannot be read"):
            locators(tmp_path / folder)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every folder")
def test_unreadable_subfolder_is_rejected(tmp_path: Path) -> None:
    make(tmp_path, "a.mp4", "closed/b.mp4")
    (tmp_path / "closed").chmod(0)
    try:
        with pytest.raises(VttdataError, match=r"closed: the folder cannot be read") as error:
            locators(tmp_path)
        assert isinstance(error.value.__cause__, PermissionError)
    finally:
        (tmp_path / "closed").chmod(0o700)


def test_name_that_is_not_utf8_is_rejected_in_a_printable_sentence(tmp_path: Path) -> None:
    try:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.mp4")).write_bytes(b"x")
    except OSError:
        pytest.skip("this file system takes only UTF-8 names")
    with pytest.raises(VttdataError, match=r"caf\\xe9\.mp4' is not valid UTF-8; rename it") as caught:
        locators(tmp_path)
    str(caught.value).encode()


def test_title_of_a_decomposed_name_is_composed_and_its_file_still_found(tmp_path: Path) -> None:
    decomposed, composed = "cafe\u0301.mp4", "caf\u00e9.mp4"
    make(tmp_path, decomposed)
    (candidate,) = list_folder(tmp_path)
    assert candidate.title == composed.removesuffix(".mp4")
    assert (tmp_path / candidate.locator).is_file()


def test_names_that_differ_by_case_or_composition_only_are_videos_of_their_own(tmp_path: Path) -> None:
    names = {"Cat.mp4", "cat.mp4", "cafe\u0301.mp4", "caf\u00e9.mp4"}
    make(tmp_path, *names)
    names = {path.name for path in tmp_path.iterdir()}
    assert set(locators(tmp_path)) == names


CODECS = {
    "ivf": ("-c:v", "libvpx"),
    "webm": ("-c:v", "libvpx"),
    "obu": ("-c:v", "libaom-av1", "-cpu-used", "8", "-frames", "2"),
    "dv": ("-target", "pal-dv", "-frames", "2"),
}
FORMATS = (
    "h264 hevc mpegts mpeg mpeg2video matroska webm avi flv ogv asf mxf nut ivf yuv4mpegpipe gif apng webp mp4 mov"
)


def write_film(path: Path, form: str) -> None:
    """Write a real file of one of ffmpeg's formats, whatever its name."""
    picture = ("-v", "error", "-f", "lavfi", "-i", "testsrc2=s=96x64:r=25:d=1", "-pix_fmt", "yuv420p")
    options = () if form in ("gif", "apng", "webp") else picture[-2:]
    command = [ffmpeg_path(), *picture[:-2], *options, *CODECS.get(form, ()), "-f", form, str(path)]
    subprocess.run(command, check=True)


def test_films_are_found_by_their_content_and_the_other_files_are_counted(tmp_path: Path) -> None:
    for form in FORMATS.split():
        write_film(tmp_path / f"{form}.dat", form)
    make(tmp_path, "notes.txt", "empty", "captions.csv")
    (tmp_path / "empty").write_bytes(b"")
    picture = np.zeros((64, 96, 3), np.uint8)
    for form in ("png", "webp", "jpeg", "avif", "tiff"):
        Image.fromarray(picture).save(tmp_path / f"still-{form}", form)
    with wave.open(str(tmp_path / "sound.wav"), "wb") as sound:
        sound.setparams((1, 2, 8000, 0, "NONE", ""))
    (tmp_path / "GX01.MP4").write_bytes((tmp_path / "mp4.dat").read_bytes())
    (tmp_path / "GX01.LRF").write_bytes((tmp_path / "mp4.dat").read_bytes())
    with pytest.warns(
        VttdataWarning, match=r"10 files that are no videos, .* are left out: 'GX01.LRF', '\S+', '\S+', \.\.\."
    ):
        assert locators(tmp_path) == ["GX01.MP4", *sorted(f"{form}.dat" for form in FORMATS.split())]


def test_animations_are_decoded_or_refused_by_name(tmp_path: Path) -> None:
    write_film(tmp_path / "a.apng", "apng")
    write_film(tmp_path / "a.webp", "webp")
    assert measure(tmp_path / "a.apng").frames == 25
    with pytest.raises(MediaError, match="no WebP animation") as caught:
        probe(tmp_path / "a.webp")
    assert caught.value.reason == "unsupported"
