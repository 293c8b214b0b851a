"""Frames that the fast method skips: motion is interpolated, and cuts among them are kept sharp."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.media.shots.fast.test_fast import EXACT, FAST, X264, packets_of
from tests.media.shots.test_detect import HEIGHT, RATE, WIDTH, dissolved, encode, scene, starts
from tests.media.shots.test_overlays import lettered
from vttdata.media.decode import open_video
from vttdata.media.shots.boundaries import find_boundaries, find_cuts
from vttdata.media.shots.detect import detect_shots
from vttdata.media.shots.fast.gop_decode import describe_planned_gops, interpolate_gaps
from vttdata.media.shots.fast.gop_plan import plan_decoding
from vttdata.media.shots.fast.packets import Packets
from vttdata.media.shots.fast.refine import Gap, LocatedCut, locate_cuts
from vttdata.media.shots.features import SkippedFrames
from vttdata.media.shots.histogram import Descriptions, describe
from vttdata.media.shots.signals import measure_signals, radius_in_frames

FIXED = (*X264, "-sc_threshold", "0", "-b_strategy", "2")


def moving(places: list[int], jump: int, size: int) -> Descriptions:
    """A luma that moves on by a point a frame out of one bin, and by `size` more from frame `jump` on."""
    gone = np.array([place + size * (place >= jump) for place in places])
    histograms = np.zeros((len(places), 3, 16, 16), np.uint8)
    histograms[:, :, :, 0] = 140 - gone[:, None, None]
    histograms[:, :, :, 15] = gone[:, None, None]
    return Descriptions(histograms, np.zeros((len(places), 3, 96), np.int32), np.zeros((len(places), 2304), np.uint8))


def test_cut_in_a_gap_is_not_interpolated() -> None:
    places = [0, 4, 8, 12, 16, 20]
    filled = interpolate_gaps(moving(places, 10, 60), np.array(places)).histograms[:, 0, 0, 15]
    assert filled.tolist() == [*range(9), 8, 8, 8, *range(72, 81)]


def test_motion_in_a_gap_is_interpolated() -> None:
    places = [0, 4, 8, 12, 16, 20]
    filled = interpolate_gaps(moving(places, 10, 1), np.array(places)).histograms[:, 0, 0, 15]
    assert filled[8:13].tolist() == [8, 9, 10, 12, 13]


@given(st.lists(st.integers(1, 9), min_size=1, max_size=12), st.data())
def test_decoded_frames_are_not_changed(gaps: list[int], data: st.DataObject) -> None:
    places = np.cumsum([0, *gaps])
    seeds = np.random.default_rng(data.draw(st.integers(0, 99)))
    shape = (len(places), 3, 16, 16)
    known = Descriptions(
        seeds.integers(0, 140, shape).astype(np.uint8),
        np.zeros((len(places), 3, 96), np.int32),
        np.zeros((len(places), 2304), np.uint8),
    )
    filled = interpolate_gaps(known, places)
    assert len(filled) == places[-1] + 1
    assert np.array_equal(filled.histograms[places], known.histograms)


def grainy_then_calm() -> np.ndarray:
    """70 frames in motion under coarse grain, then 80 of a still slope: no size tells that something new begins."""
    rng = np.random.default_rng(3)
    grainy = scene(41, 70, 3) + rng.normal(0, 15, (70, HEIGHT, WIDTH, 1))
    slope = np.linspace(60, 180, HEIGHT)[None, :, None, None]
    return np.clip(np.concatenate((grainy, slope + rng.normal(0, 1, (80, HEIGHT, WIDTH, 3)))), 0, 255)


@pytest.mark.parametrize("container", ["mp4", "mkv", "ts"])
def test_cut_without_a_large_packet_is_found_to_the_frame(tmp_path: Path, container: str) -> None:
    path = encode(tmp_path / f"calm.{container}", grainy_then_calm(), *FIXED, "-g", "100", "-bf", "8")
    packets = packets_of(path)
    plan = plan_decoding(packets)
    before = np.flatnonzero((packets.frame_type == 0) & (packets.frame_index < 70))[-1]
    assert not plan.cut_expected[69:72].any()
    assert packets.frame_index[before] < 67
    assert detect_shots(path, FAST).method == "fast"
    assert starts(detect_shots(path, FAST)) == starts(detect_shots(path, EXACT)) == [(0, "start"), (70, "cut")]


def skipped(packets: Packets) -> SkippedFrames:
    return SkippedFrames(np.sort(packets.pts), packets.keyframes, np.zeros(len(packets), bool))


def test_gaps_that_cannot_be_decoded_again_give_none(tmp_path: Path) -> None:
    packets = packets_of(encode(tmp_path / "a.mp4", scene(1, 60), *FIXED))
    with open_video(encode(tmp_path / "b.mp4", scene(2, 20), *FIXED)) as other:
        assert list(locate_cuts(other, skipped(packets), packets.times, [Gap(40, 43), Gap(50, 51)])) == [None, None]


@pytest.mark.parametrize("container", ["mp4", "mkv", "ts"])
def test_cuts_in_several_gaps_are_located(tmp_path: Path, container: str) -> None:
    frames = np.concatenate([scene(seed, 11) for seed in range(60, 66)])
    path = encode(tmp_path / f"a.{container}", frames, *FIXED, "-g", "30")
    gaps = [Gap(9, 12), Gap(21, 23), Gap(33, 36), Gap(54, 55)]
    packets = packets_of(path)
    with open_video(path) as video:
        located = list(locate_cuts(video, skipped(packets), packets.times, gaps))
    assert located == [LocatedCut(frame, False) for frame in (11, 22, 33, 55)]


def test_broad_change_across_a_gap_that_is_undone_is_a_caption(tmp_path: Path) -> None:
    frames = scene(21, 100, 0)
    lettered(frames[40:60])
    with open_video(encode(tmp_path / "a.mp4", frames)) as video:
        signals = measure_signals(describe(frame.picture for frame in video.frames()), RATE)
    broad = replace(signals, breadth=np.full(100, 0.8), in_window=np.zeros(100, bool))
    seen = np.ones(100, bool)
    assert find_cuts(broad, 2.25, radius_in_frames(RATE), seen) == [40, 60]
    seen[[39, 59]] = False
    assert find_cuts(broad, 2.25, radius_in_frames(RATE), seen) == []


@pytest.mark.parametrize(
    ("lengths", "options", "ended_early"),
    [
        ((60, 71, 69), (), [True, True]),
        ((60, 60, 60), ("-g", "40"), [False, True, False, True, False]),
        ((270,), (), [False]),
        ((150,), ("-g", "50"), [False, False]),
    ],
    ids=["no length is met twice", "two a scene", "the usual longest", "all alike"],
)
def test_gops_of_regular_length_did_not_end_early(
    tmp_path: Path, lengths: tuple[int, ...], options: tuple[str, ...], ended_early: list[bool]
) -> None:
    frames = np.concatenate([scene(50 + place, length) for place, length in enumerate(lengths)])
    gops = plan_decoding(packets_of(encode(tmp_path / "a.mp4", frames, *X264, *options))).gops
    assert [gop.ended_early for gop in gops[:-1]] == ended_early


@pytest.mark.parametrize(("every", "kinds"), [(1, ["dissolve"]), (5, ["dissolve"]), (40, [])])
def test_interpolation_across_long_gaps_is_no_dissolve(tmp_path: Path, every: int, kinds: list[str]) -> None:
    frames = dissolved(scene(4, 72, 0), scene(5, 68, 0), 16)
    with open_video(encode(tmp_path / "a.mp4", frames)) as video:
        signals = measure_signals(describe(frame.picture for frame in video.frames()), RATE)
    known = np.zeros(len(signals), bool)
    known[::every] = known[-1] = True
    radius = radius_in_frames(RATE)
    found = find_boundaries(signals, cut_ratio=2.25, radius=radius, min_length=8, max_blank=RATE, is_decoded=known)
    assert [one.transition for one in found] == kinds


def known_frames(path: Path) -> np.ndarray:
    """Return which frames the fast method decodes, or knows without decoding."""
    packets = packets_of(path)
    known = np.zeros(len(packets), bool)
    with open_video(path) as video:
        assert sum(len(run) for run in describe_planned_gops(video, packets, plan_decoding(packets), known)) == len(
            packets
        )
    return known


def grainy(seed: int, length: int, grain: float) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.clip(scene(seed, length, 0) + rng.normal(0, grain, (length, HEIGHT, WIDTH, 1)), 0, 255)


def test_steady_gops_that_a_new_shot_ends_are_skipped(tmp_path: Path) -> None:
    path = encode(tmp_path / "a.mp4", np.concatenate((grainy(41, 80, 2), grainy(42, 95, 6), grainy(43, 90, 2))), *X264)
    gops = plan_decoding(packets_of(path)).gops
    assert [(gop.end, gop.ended_early, gop.is_steady) for gop in gops[:2]] == [
        (80, True, True),
        (175, True, True),
    ]
    known = known_frames(path)
    assert known[[0, 79, 80, 174, 175]].all()
    assert known[:175].sum() < 20
    assert starts(detect_shots(path, FAST)) == [(0, "start"), (80, "cut"), (175, "cut")]


def test_gop_with_a_dissolve_is_not_skipped(tmp_path: Path) -> None:
    frames = np.concatenate((dissolved(grainy(41, 80, 2), grainy(42, 90, 2), 16), grainy(43, 95, 5), grainy(44, 60, 1)))
    path = encode(tmp_path / "a.mp4", frames, *X264)
    first, second, _ = plan_decoding(packets_of(path)).gops
    assert (first.end, first.head_end > 80, second.is_steady) == (154, True, True)
    assert known_frames(path)[54:90].sum() >= 9
    assert starts(detect_shots(path, FAST)) == [(0, "start"), (72, "dissolve"), (154, "cut"), (249, "cut")]


@pytest.mark.parametrize(("other", "calm"), [(1, False), (3, False), (20, True)], ids=["even", "nearly so", "uneven"])
def test_even_packet_sizes_are_steady_only_at_a_variable_bit_rate(tmp_path: Path, other: int, calm: bool) -> None:
    packets = packets_of(encode(tmp_path / "a.mp4", scene(1, 200), *X264, "-g", "50", "-sc_threshold", "0"))
    sizes = np.where(packets.frame_index < 100, 1000.0, 1000.0 * other)
    assert [gop.is_steady for gop in plan_decoding(replace(packets, size=sizes)).gops[:-1]] == [calm] * 3


@pytest.mark.parametrize(("share", "decoded"), [(0.5, False), (0.7, True)])
def test_large_referenced_b_frames_are_decoded(tmp_path: Path, share: float, decoded: bool) -> None:
    packets = packets_of(encode(tmp_path / "a.mp4", scene(1, 150), *FIXED, "-g", "50", "-bf", "3"))
    plan = plan_decoding(replace(packets, size=1000.0 * np.choose(packets.frame_type, [1, share, 0.1])))
    middle = slice(*packets.keyframes[1:3])
    wanted, kinds = plan.needed[middle], packets.frame_type[middle]
    assert (kinds == 1).sum() > 5
    assert wanted.tolist() == ((kinds == 0) | ((kinds == 1) & decoded)).tolist()
