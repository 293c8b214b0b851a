"""A video that was cut off or has a hole is refused with what its container states; odd but whole files are kept."""

from __future__ import annotations

import subprocess
from pathlib import Path

import av
import pytest

from vttdata.errors import MediaError
from vttdata.media import container_structure
from vttdata.media.ffmpeg_program import ffmpeg_path
from vttdata.media.measure import measure
from vttdata.media.probe import probe

X264 = ("-c:v", "libx264", "-preset", "ultrafast", "-g", "25")
THEORA = ("-c:v", "libtheora", "-g", "25")
CODECS = {
    "ogv": THEORA,
    "webm": ("-c:v", "libvpx", "-cpu-used", "8", "-deadline", "realtime", "-g", "25"),
    "avi": ("-c:v", "mpeg4"),
}
SECONDS = 12
PICTURE = ("-f", "lavfi", "-i", f"testsrc2=s=96x64:r=25:d={SECONDS}")


def film(path: Path, *options: str) -> Path:
    """Write a film; an option ``-`` instead of a file writes it to a pipe, so that sizes stay open."""
    command = [ffmpeg_path(), "-v", "error", "-y", *PICTURE, *options]
    if options[-1] == "-":
        path.write_bytes(subprocess.run(command, check=True, capture_output=True).stdout)
    else:
        subprocess.run([*command, str(path)], check=True)
    return path


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """A whole film in each container."""
    folder = tmp_path_factory.mktemp("films")
    suffixes = ("webm", "mkv", "mp4", "flv", "avi", "ogv")
    return {name: film(folder / f"a.{name}", *CODECS.get(name, X264)).read_bytes() for name in suffixes}


def check(path: Path) -> None:
    probe(path)
    measure(path)


def refused(path: Path) -> MediaError:
    with pytest.raises(MediaError) as caught:
        check(path)
    return caught.value


@pytest.mark.parametrize("percent", [10, 50, 90, 99])
@pytest.mark.parametrize("suffix", ["webm", "mkv", "flv", "avi", "ogv"])
@pytest.mark.sampled(6)
def test_film_that_was_cut_off_is_refused(films: dict[str, bytes], suffix: str, percent: int, tmp_path: Path) -> None:
    path = tmp_path / f"cut.{suffix}"
    path.write_bytes(films[suffix][: len(films[suffix]) * percent // 100])
    problem = refused(path)
    assert problem.reason == "truncated"
    assert f"({path.stat().st_size} bytes)" in problem.detail
    # libavformat believes no AVI file that is cut off, and Ogg states no duration but the time of the last page.
    assert suffix in ("avi", "ogv") or f"the container states {SECONDS}.0" in problem.detail


@pytest.mark.parametrize("suffix", ["webm", "mkv", "flv", "avi", "ogv"])
def test_film_with_a_zero_filled_hole_is_refused(films: dict[str, bytes], suffix: str, tmp_path: Path) -> None:
    content = bytearray(films[suffix])
    start, end = len(content) * 4 // 10, len(content) * 7 // 10
    content[start:end] = bytes(end - start)
    path = tmp_path / f"hole.{suffix}"
    path.write_bytes(content)
    problem = refused(path)
    # The checksum of the page in which the hole begins.
    if suffix == "ogv":
        assert problem.reason == "damaged"
        return
    assert problem.reason == "gaps"
    assert f"the container states {SECONDS}.0" in problem.detail
    assert f"of {len(content)} are bytes that are no part of it" in problem.detail


def read_pages(content: bytes) -> list[bytes]:
    """Return the pages of an Ogg file."""
    starts, position = [], 0
    while position < len(content):
        starts.append(position)
        lacing = content[position + 26]
        position += 27 + lacing + sum(content[position + 27 : position + 27 + lacing])
    return [content[start:end] for start, end in zip(starts, [*starts[1:], len(content)], strict=True)]


def test_ogg_files_with_sound_and_chained_ones_are_not_taken_for_cut_off(tmp_path: Path) -> None:
    sound = ("-f", "lavfi", "-i", f"sine=d={SECONDS + 3}", *THEORA)
    for codec in ("libvorbis", "libopus"):
        path = film(tmp_path / f"{codec}.ogv", *sound, "-c:a", codec)
        probe(path)
        assert measure(path).frames == SECONDS * 25
    # libavformat reads no second chain of streams.
    chained = tmp_path / "chained.ogv"
    chained.write_bytes((tmp_path / "libvorbis.ogv").read_bytes() + (tmp_path / "libopus.ogv").read_bytes())
    assert refused(chained).reason in ("damaged", "timestamps")


@pytest.mark.parametrize("lost", ["last", "middle"])
def test_ogg_file_without_one_of_its_pages_is_refused(films: dict[str, bytes], lost: str, tmp_path: Path) -> None:
    pages = read_pages(films["ogv"])
    del pages[-1 if lost == "last" else len(pages) // 2]
    path = tmp_path / "a.ogv"
    path.write_bytes(b"".join(pages))
    problem = refused(path)
    assert problem.reason == ("truncated" if lost == "last" else "gaps")
    assert ("the page that should follow ends 27 bytes after" in problem.detail) == (lost == "last")


@pytest.mark.parametrize("part", ["granule position", "lacing", "packet", "checksum"])
def test_ogg_page_that_does_not_match_its_checksum_is_refused(
    films: dict[str, bytes], part: str, tmp_path: Path
) -> None:
    pages = read_pages(films["ogv"])
    before, middle = b"".join(pages[: len(pages) // 2]), pages[len(pages) // 2]
    content = bytearray(films["ogv"])
    # The lengths of two packets of a page change places.
    if part == "lacing":
        position = len(before) + 27 + next(i for i in range(middle[26] - 1) if middle[27 + i] != middle[28 + i])
        content[position : position + 2] = reversed(content[position : position + 2])
    else:
        position = {"granule position": 6, "checksum": 22, "packet": len(middle) - 1}[part]
        content[len(before) + position] ^= 16
    path = tmp_path / "flipped.ogv"
    path.write_bytes(content)
    problem = refused(path)
    assert problem.reason == "damaged"
    assert problem.detail == f"the page at byte {len(before)} does not match its checksum."


def test_bytes_between_frames_are_refused_where_readers_take_them_for_an_element(
    films: dict[str, bytes], tmp_path: Path
) -> None:
    content = films["webm"]
    # "[[@" begins an element of 2 bytes of name and a length of seven digits, which readers skip.
    position = content.index(b"\xa3", len(content) * 9 // 10)
    for noise in (b"[" * 64, b"[[@\x10" + bytes(16)):
        path = tmp_path / "noise.webm"
        path.write_bytes(content[:position] + noise + content[position:])
        assert refused(path).reason == "gaps"


@pytest.mark.parametrize("change", ["cluster", "track", "avi name", "avi length", "flv tag"])
def test_damaged_head_of_one_element_is_refused(films: dict[str, bytes], change: str, tmp_path: Path) -> None:
    suffix = {"cluster": "mkv", "track": "webm", "flv tag": "flv"}.get(change, "avi")
    content = bytearray(films[suffix])
    if change == "cluster":
        # An element that ends with its cluster extends beyond it when the cluster is shorter.
        content[content.index(b"\x1f\x43\xb6\x75") + 6] ^= 1
    elif change == "track":
        head = content.index(b"\xe7\x81\x00\xa3") + 4
        track = head + 9 - content[head].bit_length()
        assert content[track] == 0x81
        content[track] = 0x80
    elif change == "flv tag":
        # The head of the last tag is cut through.
        del content[-int.from_bytes(content[-4:]) - 4 + 7 :]
    else:
        frame = content.index(b"00dc", len(content) // 2)
        content[frame + (0 if change == "avi name" else 7)] ^= 0x80
    path = tmp_path / f"a.{suffix}"
    path.write_bytes(content)
    assert refused(path).reason in ("gaps", "truncated")


def test_frames_that_end_before_the_stated_duration_are_refused_with_both_figures(
    films: dict[str, bytes], tmp_path: Path
) -> None:
    # As a recorder leaves it that is killed: sizes are open, and the duration was written first.
    stated = tmp_path / "stated.mkv"
    stated.write_bytes(films["mkv"])
    content = bytearray(stated.read_bytes())
    segment = content.index(b"\x18\x53\x80\x67") + 4
    content[segment : segment + 8] = b"\x01" + b"\xff" * 7
    # The file ends with a whole cluster.
    path = tmp_path / "cut.mkv"
    path.write_bytes(content[: content.rindex(b"\x1f\x43\xb6\x75", 0, len(content) * 7 // 10)])
    problem = refused(path)
    with av.open(str(path)) as container:
        frames = sum(1 for _ in container.decode(video=0))
    assert problem.reason == "truncated"
    assert f"the container states {SECONDS}.00 s, and only {frames / 25:.2f} s can be decoded" in problem.detail
    assert f"({frames} frames)" in problem.detail


SOUND = ("-f", "lavfi", "-i", f"sine=d={3 * SECONDS}")
SLIDES = ("-vf", "fps=1/4,settb=1/1000", "-fps_mode", "vfr")
STILLS = ("-vf", "select='lt(t,2)+between(t,6,7)+gt(t,11.9)'", "-fps_mode", "vfr")
WHOLE = {
    "sound-lasts-longer.mkv": (*SOUND, *X264, "-c:a", "mp3"),
    "sound-lasts-longer.mp4": (*SOUND, *X264, "-c:a", "mp3"),
    "sound-lasts-longer.avi": (*SOUND, "-c:v", "mpeg4", "-c:a", "mp3"),
    "starts-late.mkv": (*X264, "-output_ts_offset", "100"),
    "starts-late.mp4": (*X264, "-output_ts_offset", "50"),
    "piped.mkv": (*X264, "-f", "matroska", "-"),
    "piped.flv": (*X264, "-f", "flv", "-"),
    "piped.avi": ("-c:v", "mpeg4", "-f", "avi", "-"),
    "live.webm": (*CODECS["webm"], "-live", "1", "-f", "webm", "-"),
    "fragments.mp4": (*X264, "-movflags", "frag_keyframe+empty_moov", "-f", "mp4", "-"),
    "slides.mkv": (*SLIDES, *X264),
    "slides.mp4": (*SLIDES, *X264),
    "stills.mkv": (*STILLS, *X264),
    "stills.flv": (*STILLS, *X264),
    "a.wmv": ("-c:v", "wmv2"),
    "a.ts": X264,
    "piped.ogv": (*THEORA, "-f", "ogg", "-"),
    "sound.ogv": (*SOUND, *THEORA, "-c:a", "libvorbis"),
}


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.sampled(6)
def test_whole_film_is_kept_however_odd_it_is(name: str, tmp_path: Path) -> None:
    path = film(tmp_path / name, *WHOLE[name])
    probe(path)
    assert measure(path).frames > 0


@pytest.mark.parametrize("suffix", ["mkv", "flv", "avi", "ogv"])
def test_bytes_after_the_end_are_no_gap(films: dict[str, bytes], suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"a.{suffix}"
    # An FLV file has no end, so that only what no reader takes for a tag may follow.
    path.write_bytes(films[suffix] + (b"" if suffix == "flv" else bytes(5000)))
    probe(path)


def test_unpadded_chunks_and_two_chained_ogg_films_are_kept(films: dict[str, bytes], tmp_path: Path) -> None:
    first = read_pages(films["ogv"])
    (tmp_path / "chained.ogv").write_bytes(b"".join(first + first))
    probe(tmp_path / "chained.ogv")
    content = bytearray(films["avi"])
    position = content.index(b"movi") + 4
    while content[position : position + 2] == b"00":
        length = int.from_bytes(content[position + 4 : position + 8], "little")
        if length % 2:
            del content[position + 8 + length]
        position += 8 + length
    assert len(content) < len(films["avi"])
    for name in (b"RIFF", b"LIST"):
        position = content.rindex(name, 0, content.index(b"movi")) + 4
        lost = len(films["avi"]) - len(content)
        stated = int.from_bytes(content[position : position + 4], "little")
        content[position : position + 4] = (stated - lost).to_bytes(4, "little")
    (tmp_path / "unpadded.avi").write_bytes(content)
    probe(tmp_path / "unpadded.avi")


def test_whole_films_of_each_container_are_kept(films: dict[str, bytes], tmp_path: Path) -> None:
    for suffix, content in films.items():
        path = tmp_path / f"a.{suffix}"
        path.write_bytes(content)
        probe(path)
        assert measure(path).frames == 25 * SECONDS


def test_file_of_too_many_elements_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container_structure, "MAX_ELEMENTS", 1000)
    path = tmp_path / "a.mkv"
    path.write_bytes(b"\xec\x80" * 1001)
    with pytest.raises(MediaError, match="more than 1000 elements"):
        container_structure.check_structure(path, "matroska,webm", 1.0)
