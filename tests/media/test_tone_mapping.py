"""Clips of high dynamic range are toned down to the standard one, look like it, and say so."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from tests.helpers.cuts import cut_file, read_shown, times_of
from vttdata.media import probe
from vttdata.media.ffmpeg_program import ffmpeg_path
from vttdata.media.filters import FilterSettings, screen
from vttdata.media.frames_in_span import thumbnail

# Up to .8 of the signal of white, which tone mapping keeps, and in colours of natural films.
PICTURE = (
    "-f",
    "lavfi",
    "-i",
    "testsrc2=s=320x240:r=25:d=2,format=gbrp,lutrgb=r=val*.8:g=val*.8:b=val*.8,gblur=2,hue=s=.5",
)
_TAGS = "range=tv:color_primaries=bt709:color_trc=bt709:colorspace=bt709"
BT709 = f"scale=out_color_matrix=bt709:out_range=tv,format=yuv444p10le,setparams={_TAGS}"
TRANSFERS = {"PQ": "smpte2084", "HLG": "arib-std-b67"}
ODD = {"hdr10-av1.mp4": "PQ", "hlg10-color-test.mp4": "HLG", "dolbyVision-hdr.MOV": "HLG"}


def write(path: Path, graph: str, *coding: str) -> Path:
    command = [ffmpeg_path(), "-v", "error", "-y", *PICTURE, "-vf", graph, *(coding or ("-c:v", "ffv1")), str(path)]
    subprocess.run(command, check=True)
    return path


def write_hdr(path: Path, name: str, primaries: str = "bt2020", *coding: str) -> Path:
    """Write a film whose white has 203 cd/m2."""
    linear = f"{BT709},zscale=t=linear:npl=203:agamma=false,format=gbrpf32le"
    target = f"zscale=p={primaries}:t={TRANSFERS[name]}:m=bt2020nc:r=tv:npl=203:agamma=false,format=yuv420p10le"
    return write(path, f"{linear},{target}", *coding)


def pictures(path: Path) -> tuple[list[Any], np.ndarray]:
    """Return decoded pictures and their RGB values by BT.709."""
    with av.open(str(path)) as container:
        frames = list(container.decode(video=0))
    size = [ffmpeg_path(), "-v", "error", "-i", str(path), "-vf", "scale=in_color_matrix=bt709", "-f", "rawvideo"]
    done = subprocess.run([*size, "-pix_fmt", "rgb24", "-"], check=True, capture_output=True)
    rgb = np.frombuffer(done.stdout, np.uint8).reshape(len(frames), frames[0].height, frames[0].width, 3)
    return frames, rgb.astype(float)


@pytest.mark.parametrize("codec", ["h264", "h265", "vp9"])
@pytest.mark.parametrize("name", TRANSFERS)
@pytest.mark.sampled(2)
def test_clip_looks_like_the_film_of_standard_range(name: str, codec: str, tmp_path: Path) -> None:
    _, expected = pictures(write(tmp_path / "sdr.mkv", f"{BT709},format=yuv420p"))
    source = write_hdr(tmp_path / "hdr.mkv", name)
    assert cut_file(source, 0.0, 2.0, tmp_path / "clip.mp4", codec=codec, quality=12).frames == 50
    frames, found = pictures(tmp_path / "clip.mp4")
    assert np.abs(found - expected).mean() < 3
    for frame in frames:
        assert (frame.format.name, frame.color_trc, frame.color_primaries, frame.colorspace) == ("yuv420p", 1, 1, 1)


def test_clip_whose_film_states_the_transfer_function_alone_or_other_primaries(tmp_path: Path) -> None:
    _, expected = pictures(write(tmp_path / "sdr.mkv", f"{BT709},format=yuv420p"))
    other = write_hdr(tmp_path / "p3.mkv", "PQ", "smpte432")
    assert probe(other).color_primaries == "smpte432"
    alone = tmp_path / "alone.mkv"
    unset = "setparams=color_primaries=unknown:colorspace=unknown"
    copy = ["-i", str(write_hdr(tmp_path / "all.mkv", "PQ")), "-vf", unset, "-c:v", "ffv1"]
    subprocess.run([ffmpeg_path(), "-v", "error", *copy, str(alone)], check=True)
    facts = probe(alone)
    assert (facts.color_transfer, facts.color_primaries, facts.color_matrix) == ("smpte2084", None, None)
    for source in (other, alone):
        cut_file(source, 0.0, 2.0, tmp_path / "clip.mp4", quality=12)
        assert np.abs(pictures(tmp_path / "clip.mp4")[1] - expected).mean() < 3


@pytest.mark.parametrize("codec", ["h264", "h265"])
@pytest.mark.parametrize("file", ODD)
@pytest.mark.sampled(1)
def test_real_film_is_toned_down_and_its_pictures_are_recognized(
    shared: Path, file: str, codec: str, tmp_path: Path
) -> None:
    source = shared / "videos" / "odd" / file
    facts = probe(source)
    assert (facts.color_transfer, facts.color_primaries) == (TRANSFERS[ODD[file]], "bt2020")
    end = float(times_of(source)[-1])
    clip = cut_file(source, 0.0, end, tmp_path / "clip.mp4", codec=codec)
    assert clip.frames == len(times_of(source)) - 1
    frames, _ = pictures(tmp_path / "clip.mp4")
    for frame in frames:
        assert (frame.color_trc, frame.color_primaries, frame.colorspace, frame.color_range) == (1, 1, 1, 1)
        # PyAV 19 yields the kinds, and earlier versions the data.
        kinds = {str(getattr(data, "type", data)).partition(".")[2] for data in frame.side_data}
        assert not kinds & {"MASTERING_DISPLAY_METADATA", "CONTENT_LIGHT_LEVEL", "DOVI_METADATA", "DOVI_RPU_BUFFER"}
    span = read_shown(source, 0.0, end)
    for reference, frame in ((span.first, frames[0]), (span.last, frames[-1])):
        assert np.abs(thumbnail(frame) - reference.frame).mean() < 4


def test_recipe_may_refuse_high_dynamic_range(shared: Path, tmp_path: Path) -> None:
    sdr = probe(write(tmp_path / "sdr.mkv", f"{BT709},format=yuv420p"))
    loose = {"min_seconds": 0.0}
    assert screen(sdr, FilterSettings(**loose, keep_hdr=False)) is None
    for file, name in ODD.items():
        facts = probe(shared / "videos" / "odd" / file)
        assert screen(facts, FilterSettings(**loose)) is None
        verdict = screen(facts, FilterSettings(**loose, keep_hdr=False))
        assert verdict
        assert verdict[0] == "hdr"
        assert verdict[1].startswith(name)


def test_film_without_tags_and_films_of_standard_range_are_left_as_they_are(tmp_path: Path) -> None:
    wide = "setparams=color_primaries=bt2020:color_trc=bt2020-10:colorspace=bt2020nc"
    unknown = "setparams=color_primaries=unknown:color_trc=unknown:colorspace=unknown"
    for tags in ("copy", wide, unknown):
        source = write(tmp_path / "film.mkv", f"{BT709},{tags},format=yuv420p10le")
        cut_file(source, 0.0, 2.0, tmp_path / "clip.mp4")
        facts, clip = probe(source), probe(tmp_path / "clip.mp4")
        assert clip.color_transfer == facts.color_transfer
        assert clip.color_primaries == facts.color_primaries
