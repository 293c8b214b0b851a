"""Listed spans become clips within what their source shows, and a clip has the frames that its record names."""

from __future__ import annotations

import dataclasses
import subprocess
from pathlib import Path

import pytest

from vttdata.collect import CollectSettings, fetch, list_folder
from vttdata.errors import MediaError
from vttdata.files.reading import file_sha256
from vttdata.media.clip_selection import ClipSettings
from vttdata.media.cut import MediaSettings
from vttdata.media.ffmpeg_program import ffmpeg_path
from vttdata.media.probe import probe
from vttdata.pipeline.stage import Kept, Outcome, Rejected
from vttdata.pipeline.stages.videos import Clips, Cut, MeasureSources, SourceClip, SourceFolders, SourceShots
from vttdata.records import Clip, Shot, Source, Span

SOURCE = Source("a", "a.ts", "listed", "0" * 64, 1)


def clips_of(spans: tuple[Span, ...]) -> list[Outcome[Clip]]:
    source = dataclasses.replace(SOURCE, spans=spans)
    shots = (Shot("a", 0, 0.4, 6.0, 0, 139, "start"), Shot("a", 1, 6.0, 9.0, 140, 214, "cut"))
    return list(Clips(ClipSettings()).process(SourceShots(source, shots)))


@pytest.mark.parametrize(
    ("start", "end", "kept"),
    [(0.0, 5.0, (0.4, 5.0)), (2.0, 9.3, (2.0, 9.0)), (0.4, 9.0, (0.4, 9.0)), (0.0, 0.3, None), (5.0, 9.6, None),
     (9.0, 9.2, None)],
)  # fmt: skip
def test_listed_span_keeps_what_the_source_shows(start: float, end: float, kept: tuple[float, float] | None) -> None:
    (outcome,) = clips_of((Span(start, end, "clip"),))
    if kept:
        assert isinstance(outcome, Kept)
        assert (outcome.record.start, outcome.record.end) == kept
    else:
        assert isinstance(outcome, Rejected)
        assert outcome.reason == "outside"


@pytest.fixture
def cutting(tmp_path: Path) -> tuple[Cut, Source]:
    """Return the cut of clips of a transport stream of 12 s, and the measured stream."""
    stream = [
        "-f",
        "lavfi",
        "-i",
        "testsrc2=s=320x240:r=30:d=12",
        "-c:v",
        "libx264",
        "-g",
        "60",
        str(tmp_path / "a.ts"),
    ]
    subprocess.run([ffmpeg_path(), "-v", "error", *stream], check=True, timeout=60)
    (candidate,) = list_folder(tmp_path)
    source = fetch(candidate, originals=tmp_path, store=tmp_path, settings=CollectSettings(folder=str(tmp_path)))
    source = dataclasses.replace(source, probe=probe(tmp_path / "a.ts"))
    folders = SourceFolders(tmp_path, tmp_path)
    (kept,) = MeasureSources("av", folders, tmp_path).process(source)
    assert isinstance(kept, Kept)
    return Cut(MediaSettings(), "ffmpeg", folders, tmp_path, tmp_path), kept.record


def frame_digests(path: Path) -> list[str]:
    """Return the MD5 of each picture that a plain decode gives."""
    command = [ffmpeg_path(), "-v", "error", "-i", str(path), "-map", "0:v", "-fps_mode", "passthrough"]
    done = subprocess.run([*command, "-f", "framemd5", "-"], check=True, capture_output=True, text=True, timeout=60)
    return [line.split(",")[-1].strip() for line in done.stdout.splitlines() if not line.startswith("#")]


def test_streams_joined_end_to_end_are_copied_with_new_times(tmp_path: Path) -> None:
    parts = [tmp_path / "1.ts", tmp_path / "2.ts"]
    for number, part in enumerate(parts, 2):
        pictures = ("-f", "lavfi", "-i", f"testsrc2=s=96x64:r=25:d={number},hue=h={number * 90}")
        sound = ("-f", "lavfi", "-i", f"sine=d={number}", "-c:v", "libx264", "-bf", "2")
        subprocess.run([ffmpeg_path(), "-v", "error", *pictures, *sound, str(part)], check=True, timeout=60)
    joined, store = tmp_path / "joined.ts", tmp_path / "store"
    joined.write_bytes(b"".join(part.read_bytes() for part in parts))
    source = Source("joined", "joined.ts", "listed", file_sha256(joined), joined.stat().st_size, probe=probe(joined))
    stage = MeasureSources("av", SourceFolders(tmp_path, store), tmp_path)
    with pytest.raises(MediaError, match="times go back"):
        list(stage.process(source))
    (kept,) = dataclasses.replace(stage, new_times=True).process(source)
    assert isinstance(kept, Kept)
    copy = store / kept.record.file
    assert frame_digests(copy) == [digest for part in parts for digest in frame_digests(part)]
    assert kept.record.measure is not None
    assert (kept.record.measure.frames, kept.record.measure.seconds) == (125, pytest.approx(5.0, abs=0.1))
    assert not kept.record.measure.variable_frame_rate
    assert (kept.record.source_id, kept.record.sha256) == ("joined", file_sha256(copy))


def test_clip_has_the_frames_of_its_record(cutting: tuple[Cut, Source]) -> None:
    cut, source = cutting
    assert source.measure is not None
    for first, last in ((0, 359), (0, 149), (40, 90), (359, 359)):
        clip = Clip("clip", source.source_id, first / 30, (last + 1) / 30, first, last, 1)
        (kept,) = cut.process(SourceClip(source, clip))
        assert isinstance(kept, Kept)
        assert kept.record.media is not None
        assert kept.record.media.frames == last - first + 1


def test_clip_with_other_frames_than_its_record_is_refused(cutting: tuple[Cut, Source]) -> None:
    cut, source = cutting
    clip = Clip("clip", source.source_id, 1.0, 2.0, 30, 60, 1)
    with pytest.raises(MediaError) as caught:
        list(cut.process(SourceClip(source, clip)))
    assert caught.value.reason == "cut_mismatch"
    assert not (cut.folder / "clip.mp4").exists()
