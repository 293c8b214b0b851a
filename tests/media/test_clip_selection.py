"""Clip selection: rules that hold for all shots, preferences on chosen ones, and real videos."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vttdata.media.clip_selection import ClipSettings, ClipSpan, choose_clips, why_none
from vttdata.media.shots.detect import detect_shots
from vttdata.records import Shot, Transition

GREY = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0) * 3
RATE = 25


def shots_of(
    *seconds: float,
    kinds: dict[int, Transition] | None = None,
    dark: dict[int, float] | None = None,
    motion: dict[int, float] | None = None,
    colours: dict[int, tuple[float, ...]] | None = None,
) -> list[Shot]:
    """Shots of these lengths, all alike but for what is said of some."""
    shots, frame = [], 0
    for index, length in enumerate(seconds):
        after = frame + round(length * RATE)
        shots.append(
            Shot(
                source_id="s",
                index=index,
                start=frame / RATE,
                end=after / RATE,
                first_frame=frame,
                last_frame=after - 1,
                transition=(kinds or {}).get(index, "cut" if index else "start"),
                dark=(dark or {}).get(index, 0.0),
                motion=(motion or {}).get(index, 0.004),
                colours=(colours or {}).get(index, GREY),
            )
        )
        frame = after
    return shots


def spans(clips: tuple[ClipSpan, ...]) -> list[tuple[float, float]]:
    return [(clip.start, clip.end) for clip in clips]


@st.composite
def any_shots(draw: st.DrawFn) -> list[Shot]:
    lengths = draw(st.lists(st.floats(0.04, 45), max_size=40))
    count = len(lengths)
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    kinds: list[Transition] = ["cut", "fade", "dissolve", "gradual"]
    return shots_of(
        *lengths,
        kinds={index: kinds[rng.integers(4)] for index in range(1, count)},
        dark={index: float(rng.choice([0, 0.3, 1])) for index in range(count)},
        motion={index: float(rng.choice([0, 0.0005, 0.01])) for index in range(count)},
        colours={index: tuple(rng.dirichlet(np.ones(8), 3).ravel()) for index in range(count)},
    )


@st.composite
def any_settings(draw: st.DrawFn) -> ClipSettings:
    shortest = draw(st.floats(0.5, 20))
    return ClipSettings(shortest, shortest + draw(st.floats(0, 30)), draw(st.integers(1, 5)))


@given(any_shots(), any_settings())
def test_clips_keep_all_rules_for_any_shots(shots: list[Shot], settings: ClipSettings) -> None:
    clips = choose_clips(shots, settings)
    assert len(clips) <= settings.per_source
    by_first, by_last = ({shot.first_frame: shot for shot in shots}, {shot.last_frame: shot for shot in shots})
    for clip in clips:
        assert settings.min_seconds - 2e-6 <= clip.end - clip.start <= settings.max_seconds + 2e-6
        first, last = by_first[clip.first_frame], by_last[clip.last_frame]
        assert (clip.start, clip.end) == (first.start, last.end)
        assert clip.shots == last.index - first.index + 1
    assert all(before.end <= after.start for before, after in pairwise(clips))


@given(any_shots(), any_settings())
def test_no_clips_exactly_where_no_run_has_an_allowed_length(shots: list[Shot], settings: ClipSettings) -> None:
    lengths = [last.end - first.start for index, first in enumerate(shots) for last in shots[index:]]
    fits = any(settings.min_seconds - 1e-7 <= length <= settings.max_seconds + 1e-7 for length in lengths)
    if fits:
        assert choose_clips(shots, settings)
    elif not any(settings.min_seconds - 2e-6 <= length <= settings.max_seconds + 2e-6 for length in lengths):
        assert choose_clips(shots, settings) == ()


@given(any_shots(), any_settings())
def test_choice_of_clips_is_deterministic(shots: list[Shot], settings: ClipSettings) -> None:
    assert choose_clips(shots, settings) == choose_clips(tuple(shots), settings)


def test_whole_source_is_one_clip_whatever_its_shots_and_length() -> None:
    shots = shots_of(2, 50, 1)
    assert choose_clips(shots, ClipSettings(whole=True)) == (ClipSpan(0.0, 53.0, 0, 53 * RATE - 1, 3),)
    assert choose_clips([], ClipSettings(whole=True)) == ()


@pytest.mark.parametrize("seconds", [10.0, 30.0])
def test_source_of_exactly_the_minimum_or_maximum_length_is_one_clip(seconds: float) -> None:
    assert spans(choose_clips(shots_of(seconds))) == [(0, seconds)]


def test_lengths_are_compared_with_a_tolerance_for_rounding() -> None:
    start = 1234.567891
    shot = Shot("s", 0, start, start + 10 - 4e-7, 0, 249, "start")
    assert len(choose_clips([shot])) == 1
    assert choose_clips([Shot("s", 0, start, start + 10 - 4e-6, 0, 249, "start")]) == ()


def test_per_source_limits_the_number_of_clips() -> None:
    many = shots_of(*[5.0] * 60)
    assert len(choose_clips(many)) == 3
    assert len(choose_clips(many, ClipSettings(per_source=1))) == 1
    assert len(choose_clips(many, ClipSettings(per_source=8))) == 8


def test_typical_clips_have_two_shots_and_fifteen_seconds() -> None:
    """MSR-VTT (section 3.2): the median clip has 2 shots, 10K clips last 41.2 hours (14.8 s each)."""
    rng = np.random.default_rng(7)
    clips = [
        clip for _ in range(60) for clip in choose_clips(shots_of(*np.maximum(rng.lognormal(np.log(5), 0.8, 40), 0.4)))
    ]
    assert np.median([clip.shots for clip in clips]) == 2
    assert np.mean([clip.end - clip.start for clip in clips]) == pytest.approx(14.8, abs=1)


def test_dark_shots_are_avoided() -> None:
    assert spans(choose_clips(shots_of(15, 3, 15, dark={1: 1.0}))) == [(0, 15), (18, 33)]


def test_dark_source_still_gives_a_clip() -> None:
    assert len(choose_clips(shots_of(15, dark={0: 1.0}))) == 1


def test_motion_is_preferred() -> None:
    one = ClipSettings(per_source=1)
    assert spans(choose_clips(shots_of(15, 15, motion={0: 0.0}), one)) == [(15, 30)]


def test_cuts_are_preferred_to_dissolves_as_ends() -> None:
    shots = shots_of(15, 15, 15, 15, kinds={1: "dissolve", 2: "gradual"})
    assert spans(choose_clips(shots, ClipSettings(per_source=1))) == [(45, 60)]


def test_few_shots_are_preferred() -> None:
    one = ClipSettings(per_source=1)
    assert spans(choose_clips(shots_of(*[1.0] * 15, 7, 8, *[1.0] * 15), one)) == [(15, 30)]


def test_clips_of_different_colours_are_preferred() -> None:
    other = tuple(np.roll(GREY, 3))
    chosen = choose_clips(shots_of(*[15.0] * 8, colours={4: other}), ClipSettings(per_source=2))
    assert (60, 75) in spans(chosen)


def test_clips_are_spread_over_a_uniform_source() -> None:
    chosen = spans(choose_clips(shots_of(*[15.0] * 40)))
    assert chosen[0][0] == 0
    assert chosen[-1][1] == 600
    assert 200 < chosen[1][0] < 400


def test_poor_runs_are_not_chosen_as_further_clips() -> None:
    assert spans(choose_clips(shots_of(15, 15, dark={1: 0.8}))) == [(0, 15)]


def test_reason_is_given_where_there_is_no_clip() -> None:
    assert why_none(shots_of(4, 5)) == ("too_short", "the source lasts 9.00 s and a clip at least 10 s.")
    assert why_none([])[0] == "too_short"
    reason, detail = why_none(shots_of(40, 35))
    assert reason == "no_fitting_run"
    assert detail == "no run of its 2 shots lasts 10 to 30 s."


def test_contradicting_settings_are_refused() -> None:
    with pytest.raises(ValueError, match="must not exceed"):
        ClipSettings(min_seconds=20, max_seconds=10)


def test_thousands_of_shots_are_handled() -> None:
    rng = np.random.default_rng(3)
    assert len(choose_clips(shots_of(*np.maximum(rng.exponential(3, 5000), 0.4)))) == 3


@pytest.mark.parametrize(("name", "shots"), [("near-duplicates/chair-20-sd-bar.mp4", 1), ("codecs/nasa_13013.mp4", 3)])
def test_short_real_video_is_one_clip(shared: Path, name: str, shots: int) -> None:
    found = detect_shots(shared / "videos" / name)
    (clip,) = choose_clips(found.shots)
    assert (clip.start, clip.end, clip.last_frame, clip.shots) == (0, found.seconds, found.frames - 1, shots)


def test_clips_of_a_real_video_lie_between_its_cuts(shared: Path) -> None:
    found = detect_shots(shared / "videos/near-duplicates/dog.1.mp4")
    clips = choose_clips(found.shots)
    assert 2 <= len(clips) <= 3
    true_starts = {0, 119, 149, 220, 372, 399, 431, 473, 489, 525, 824, 880, 955, 1032, 1067, 1080}
    assert {clip.first_frame for clip in clips} | {clip.last_frame + 1 for clip in clips} <= true_starts
    assert not any(clip.first_frame <= 372 < clip.last_frame for clip in clips)  # a black second, 372 to 399
