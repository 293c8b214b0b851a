"""The videos of the shot benchmark change where their truth says, as decoded again from what an encoder kept."""

from __future__ import annotations

import dataclasses
import itertools
import json
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.shots.annotated import annotated, composed
from benchmarks.shots.detectors import names
from benchmarks.shots.draw import Planes, frames
from benchmarks.shots.footage import TAKES, Take, read_takes
from benchmarks.shots.generate import ENCODINGS, Job, make, plan_jobs
from benchmarks.shots.plan import Entry, Event, Move, Plan, PlannedShot, plan_video
from benchmarks.shots.run import Run, counts_table, measure, mistakes, predicted, recall_table, scores
from tests.helpers.barcode import picture, read_number
from tests.media.shots.test_detect import encode
from vttdata.media.shots.detect import detect_shots
from vttdata.media.shots.scoring import Change, Score

TINTS = (60, 100, 150, 195)  # the Cb of each take: neither the tone curve nor a camera move changes it
SIZE = (160, 90)


@pytest.fixture(scope="module")
def footage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four takes of 30 frames, each of one tint."""
    folder = tmp_path_factory.mktemp("footage")
    for number, tint in enumerate(TINTS):
        with av.open(str(folder / f"{number}.mp4"), "w") as container:
            stream = container.add_stream("libx264", rate=25, options={"threads": "1"})
            stream.width, stream.height, stream.pix_fmt = *SIZE, "yuv420p"
            for index in range(30):
                plane = np.full((SIZE[1] * 3 // 2, SIZE[0]), 128, np.uint8)
                plane[: SIZE[1]] = 90 + index
                plane.reshape(-1)[SIZE[0] * SIZE[1] : SIZE[0] * SIZE[1] * 5 // 4] = tint
                container.mux(stream.encode(av.VideoFrame.from_ndarray(plane, format="yuv420p")))
            container.mux(stream.encode(None))
    return folder


def take(number: int) -> Take:
    return Take(f"{number}.mp4", 0, 29, str(number), "tune")


def plan_of(
    *entries: tuple[Entry, tuple[int, int] | None], move: Move = "none", events: tuple[Event, ...] = ()
) -> Plan:
    """Shots of 25 frames, each of the next take."""
    shots = [
        PlannedShot(25 * number, entry, mixed, "take", take(number % 4), move, number)
        for number, (entry, mixed) in enumerate(entries)
    ]
    shots[0] = dataclasses.replace(shots[0], events=events)
    return Plan("film", 25.0, 25 * len(entries), None, tuple(shots))


ALL_ENTRIES = (("start", None), ("cut", None), ("dissolve", (45, 54)), ("wipe", (70, 79)), ("fade", (92, 107)))


def tints(pictures: list[Planes]) -> list[float]:
    return [float(one[1].mean()) for one in pictures]


def pure(tint: float) -> int | None:
    """Which take a picture shows alone, if any."""
    return next((number for number, own in enumerate(TINTS) if abs(own - tint) < 1.5), None)


def changes_seen(shown: list[int | None]) -> list[list[int]]:
    """[first frame that does not show the take before alone, first that shows another alone], from pictures alone."""
    found: list[list[int]] = []
    last = shown[0]
    for frame, one in enumerate(shown):
        if one is not None and one != last:
            first = next(index for index in range(frame, -1, -1) if shown[index - 1] == last)
            found.append([first, frame])
            last = one
    return found


@pytest.mark.parametrize("move", ["none", "pan", "whip", "zoom", "shake", "twos", "fifths", "still"])
def test_pictures_change_where_the_truth_says(footage: Path, tmp_path: Path, move: Move) -> None:
    plan = plan_of(*ALL_ENTRIES, move=move)
    drawn = list(frames(plan, SIZE, footage, tmp_path))
    assert len(drawn) == plan.frames == 125
    assert {tuple(plane.shape for plane in one) for one in drawn} == {((90, 160), (45, 80), (45, 80))}
    seen = changes_seen([pure(tint) for tint in tints(drawn)])
    assert seen == [transition[:2] for transition in plan.truth()["transitions"]]
    assert seen == [[25, 25], [45, 55], [70, 80], [92, 108]]


def test_fade_passes_through_black(footage: Path, tmp_path: Path) -> None:
    drawn = list(frames(plan_of(*ALL_ENTRIES), SIZE, footage, tmp_path))
    light = [float(one[0].mean()) for one in drawn]
    assert min(light[92:108]) <= 16
    assert min(light[:92] + light[108:]) > 40


def test_flash_brightens_its_frames_only(footage: Path, tmp_path: Path) -> None:
    plan = plan_of(("start", None), ("cut", None), events=(Event("flash", 10, 12, 0),))
    light = [float(one[0].mean()) for one in frames(plan, SIZE, footage, tmp_path)]
    assert [frame for frame, value in enumerate(light) if value > 150] == [10, 11, 12]
    assert plan.truth()["transitions"] == [[25, 25, "cut"]]
    assert plan.truth()["events"] == [["flash", 10, 12]]


def test_text_covers_part_of_its_frames_only(footage: Path, tmp_path: Path) -> None:
    plain = list(frames(plan_of(("start", None)), SIZE, footage, tmp_path))
    texted = list(frames(plan_of(("start", None), events=(Event("text", 5, 20, 3),)), SIZE, footage, tmp_path))
    changed = [float((one[0] != other[0]).mean()) for one, other in zip(plain, texted, strict=True)]
    assert [frame for frame, share in enumerate(changed) if share] == list(range(5, 21))
    assert 0.02 < max(changed) < 0.35


def test_footage_runs_forwards_within_its_take(tmp_path: Path) -> None:
    with av.open(str(tmp_path / "0.mp4"), "w") as container:
        stream = container.add_stream("libx264", rate=25, options={"threads": "1"})
        stream.width, stream.height = 160, 120
        for number in range(40):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture(number, 160, 120), format="rgb24")))
        container.mux(stream.encode(None))
    shot = PlannedShot(0, "start", None, "take", Take("0.mp4", 8, 27, "0", "tune"), "none", 0)
    drawn = list(frames(Plan("film", 25.0, 60, None, (shot,)), (160, 120), tmp_path, tmp_path))
    numbers = [_number(one) for one in drawn]
    assert set(numbers) == set(range(8, 28))
    assert {abs(before - after) for before, after in itertools.pairwise(numbers)} == {1}


def _number(planes: Planes) -> int:
    grey = np.clip((planes[0].astype(float) - 16) / 219 * 255, 0, 255)
    try:
        return read_number(grey)
    except ValueError:
        return read_number(grey[:, ::-1])  # takes are mirrored at times


@pytest.mark.parametrize("name", ["h264-360p-default", "vp9-360p", "h264-intra-360p", "mpeg4-360p"])
def test_encoded_video_changes_where_the_truth_says(footage: Path, tmp_path: Path, name: str) -> None:
    encoding = next(one for one in ENCODINGS if one.name == name)
    job = Job(dataclasses.replace(encoding, size=SIZE), plan_of(*ALL_ENTRIES), footage, tmp_path)
    video = composed(make(job))
    with av.open(str(video.path)) as container:
        decoded = [frame.reformat(format="yuv420p").to_ndarray() for frame in container.decode(video=0)]
        rate = container.streams.video[0].average_rate
    assert (len(decoded), rate) == (125, Fraction(25))
    shown = [pure(float(one[90:].reshape(-1)[: 80 * 45].mean())) for one in decoded]
    seen = changes_seen(shown)
    assert seen[0] == [25, 25]
    for found, truth in zip(seen, video.changes, strict=True):
        assert abs(found[0] - truth.first) <= 1  # a coder may blur the faint ends of a gradual transition
        assert abs(found[1] - truth.last) <= 1


def test_existing_video_is_not_made_again(footage: Path, tmp_path: Path) -> None:
    small = dataclasses.replace(ENCODINGS[0], size=SIZE)
    job = Job(small, plan_of(("start", None)), footage, tmp_path)
    before = make(job).stat().st_mtime_ns
    assert make(job).stat().st_mtime_ns == before
    other = Job(small, plan_of(("start", None), ("cut", None)), footage, tmp_path)
    assert make(other).stat().st_mtime_ns != before


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**31), st.sampled_from([24.0, 25.0, 30000 / 1001, 30.0]), st.sampled_from(["tune", "report"]))
def test_plans_keep_their_rules(seed: int, rate: float, half: str) -> None:
    plan = plan_video("film", half, TAKES, seconds=60, rate=rate, seed=seed)  # type: ignore[arg-type]
    assert plan == plan_video("film", half, TAKES, seconds=60, rate=rate, seed=seed)  # type: ignore[arg-type]
    firsts = [shot.first for shot in plan.shots] + [plan.frames]
    lengths = [(after - before) / rate for before, after in itertools.pairwise(firsts)]
    assert 1.95 < min(lengths) <= max(lengths) < 8.05
    truth = plan.truth()
    spans = [(first, last) for first, last, _ in truth["transitions"]]
    assert all(one[1] <= other[0] for one, other in itertools.pairwise(spans))
    for _, first, last in truth["events"]:
        assert all(last < start - 5 or end + 5 < first for start, end in spans)
    scenes = [shot.take.scene if shot.take else None for shot in plan.shots]
    assert all(one is None or one != other for one, other in itertools.pairwise(scenes))
    assert {shot.take.half for shot in plan.shots if shot.take} <= {half}


def test_halves_share_no_file_and_no_plan(tmp_path: Path) -> None:
    files = [{one.file for one in TAKES if one.half == half} for half in ("tune", "report")]
    assert files[0]
    assert files[1]
    assert not files[0] & files[1]
    plans = [[job.plan.truth() for job in plan_jobs(half, tmp_path, tmp_path)] for half in ("tune", "report")]  # type: ignore[arg-type]
    assert all(one != other for one, other in zip(*plans, strict=True))


def test_takes_are_read_from_a_table(tmp_path: Path) -> None:
    table = tmp_path / "takes.json"
    table.write_text(json.dumps([{"file": "a.mp4", "first": 3, "last": 400, "scene": "a", "half": "report"}]))
    (only,) = read_takes(table)
    assert (only.half, only.frames) == ("report", 300)


def test_run_is_scored_and_its_mistakes_are_listed(footage: Path, tmp_path: Path) -> None:
    job = Job(dataclasses.replace(ENCODINGS[0], size=SIZE), plan_of(*ALL_ENTRIES), footage, tmp_path)
    video = composed(make(job))
    run = Run((26, 50, 61, 75), ("cut", "dissolve", "cut", "cut"), 1.0, 1.0, 50.0)
    assert predicted(run)[0] == Change(26, 26)
    assert scores([video], [run]) == (Score(1, 1, 0), Score(2, 1, 1))
    missed, added = mistakes([video], [run])
    assert missed.startswith("film: missed 92-108")
    assert added.startswith("film: added 61 (cut)")
    assert list(recall_table([video], {"own": [run]}))[2:] == [
        "| cut | 1 | 1 |", "| dissolve | 1 | 1 |", "| wipe | 1 | 1 |", "| fade | 1 | 0 |",
    ]  # fmt: skip
    assert list(counts_table([video, video], {"own": [run, run]}, lambda video: video.label))[2:] == [
        "| film | 10 | 8 | 2, 2 |"
    ]


def test_real_footage_has_first_files_and_copies_with_the_same_boundaries(tmp_path: Path) -> None:
    assert annotated("report", tmp_path) == ([], [])
    (tmp_path / "near-duplicates").mkdir()
    for name in ("dog.1.mp4", "dog.2.mp4"):
        encode(tmp_path / "near-duplicates" / name, np.zeros((25, 16, 16, 3)))
    (first,), (copy,) = annotated("report", tmp_path)
    assert (first.label, copy.label) == ("dog.1", "dog.2")
    assert first.changes == copy.changes
    assert first.changes[0] == Change(119, 119)
    assert (first.kind(0), first.seconds) == ("cut", 1.0)


def test_detector_of_an_earlier_checkout_is_measured_beside_this_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VTTDATA_BEFORE", str(Path(__file__).parents[2]))
    assert {"vttdata", "vttdata, before"} <= set(names())
    run = measure("vttdata, before", Path("missing.mp4"))
    assert "cannot be read now" in run.error


def test_detector_is_measured_in_its_own_process(footage: Path, tmp_path: Path) -> None:
    path = make(Job(dataclasses.replace(ENCODINGS[0], size=SIZE), plan_of(*ALL_ENTRIES[:2]), footage, tmp_path))
    bare, ours = measure("bare decode", path), measure("vttdata", path)
    assert (bare.frames, bare.error) == ((), "")
    found = detect_shots(path).shots[1:]
    assert ours.frames == tuple(shot.first_frame for shot in found)
    assert ours.kinds == tuple(shot.transition for shot in found)
    assert found
    assert 5 < bare.memory < ours.memory
    assert bare.cpu > 0
    assert ours.cpu > 0


def test_failing_detector_is_reported(tmp_path: Path) -> None:
    (tmp_path / "broken.mp4").write_bytes(b"this is no video")
    for detector in ("vttdata", "ffmpeg scdet"):
        run = measure(detector, tmp_path / "broken.mp4")
        assert run.frames == ()
        assert run.error
