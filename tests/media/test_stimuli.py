"""Stimuli of a clip: which frames are shown, when, with which sound, and that the clip is decoded once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.barcode import RATE, Movie, read_beeps, read_number, read_sound, read_video
from tests.helpers.drawn_questions import read_pictures
from tests.helpers.span_matrix import CODECS, CONTAINERS, Cell
from tests.helpers.stimulus_matrix import try_cell_pictures
from vttdata.conditions import CONDITIONS, StimuliSettings, Stimulus, choose_frames
from vttdata.media.decode import Frame, Video
from vttdata.media.stimuli import ClipStimuli

pytestmark = pytest.mark.not_on("win32")

# Files of which measuring says that their times go back; see `tests/media/test_span_matrix.py`.
_REFUSED = {("MPG", "wrap"), ("VOB", "wrap")}
ONE_OF_EACH = [
    Cell(
        name,
        next(codec for codec in CODECS if codec.startswith(box.kinds) and (name, codec[:5]) != ("MPG", "H.264")),
        12,
        offset,
    )
    for name, box in CONTAINERS.items()
    for offset in box.offsets
    if (name, offset) not in _REFUSED
]


@given(st.integers(1, 60), st.integers(1, 20), st.integers(0, 5))
def test_the_frames_of_a_condition_are_those_that_its_name_says(number: int, count: int, seed: int) -> None:
    settings = StimuliSettings(seed=seed, frames=count)
    shown = {name: choose_frames(name, number, settings, "v") for name in CONDITIONS}
    every = list(range(number))
    assert (shown["text"], shown["first"]) == ([], [0])
    assert shown["all"] == shown["muted"] == every
    assert shown["reversed"] == every[::-1]
    assert sorted(shown["shuffled"]) == every
    assert (shown["shuffled"] != every) == (number > 1)
    assert len(shown["frames"]) == min(number, count)
    assert shown["frames"] == sorted(set(shown["frames"]))
    assert count == 1 or (shown["frames"][0], shown["frames"][-1]) == (0, number - 1)
    assert shown["reversed-frames"] == shown["frames"][::-1]
    assert sorted(shown["shuffled-frames"]) == shown["frames"]
    assert shown["frozen"] == shown["middle"] * number
    assert abs(shown["middle"][0] - (number - 1) / 2) <= 0.5
    assert 0 <= shown["random"][0] < number


def test_draws_depend_on_seed_clip_and_condition_alone() -> None:
    drawn = [
        tuple(choose_frames("shuffled", 50, StimuliSettings(("shuffled",), seed=seed), name))
        for seed in (0, 1)
        for name in ("a", "b")
    ]
    assert len(set(drawn)) == 4
    again = choose_frames("shuffled", 50, StimuliSettings(seed=1, frames=3, pictures="jpeg"), "b")
    assert tuple(again) == drawn[3]


@pytest.mark.parametrize("cell", ONE_OF_EACH, ids=lambda cell: f"{cell.container}, {cell.offset}")
@pytest.mark.sampled(7)
def test_pictures_are_the_frames_of_the_source_at_their_indices(cell: Cell, tmp_path: Path) -> None:
    found = try_cell_pictures(cell, tmp_path)
    assert {outcome for outcome, _ in found} == {"exact"}
    assert sum(number for _, number in found) == 3 + 12 + 12


def write_all(source: Path, folder: Path, **changed: Any) -> dict[str, Stimulus]:
    (folder / "scratch").mkdir(parents=True)
    with ClipStimuli(source, StimuliSettings(**changed), folder, folder / "scratch") as stimuli:
        made = {condition: stimuli.write("v", condition, "v") for condition in CONDITIONS}
    assert not any((folder / "scratch").iterdir())
    return made


@pytest.mark.parametrize("kind", ["30 fps", "variable", "rotated", "offset"])
@pytest.mark.sampled(1)
def test_videos_show_their_frames_in_order_each_as_long_as_in_the_clip(
    movies: dict[str, Movie], tmp_path: Path, kind: str
) -> None:
    movie = movies[kind]
    made = write_all(movie.path, tmp_path)
    lengths = np.diff([*movie.times, made["all"].times[0] + (made["all"].seconds or 0)])
    for condition in ("all", "muted", "shuffled", "reversed", "frozen", "other"):
        stimulus = made[condition]
        shown = read_video(tmp_path / stimulus.files[0])
        order = list(stimulus.indices)
        assert [number for number, _ in shown] == order
        taken = lengths if condition == "frozen" else lengths[order]
        assert np.allclose([time for _, time in shown], np.cumsum([0, *taken[:-1]]), atol=0.002)
        assert np.allclose(stimulus.times, [movie.times[index] for index in order], atol=1e-6)
        assert stimulus.seconds == pytest.approx(lengths.sum(), abs=0.002)


def test_only_the_whole_clip_has_sound_and_that_of_its_source(movies: dict[str, Movie], tmp_path: Path) -> None:
    movie = movies["offset"]
    made = write_all(movie.path, tmp_path)
    silent = [name for name, each in made.items() if each.seconds and not has_sound(tmp_path / each.files[0])]
    assert silent == ["muted", "shuffled", "reversed", "frozen"]
    heard = read_beeps(read_sound(tmp_path / made["all"].files[0]))
    begin = movie.clock[0]
    expected = {second: second - begin for second in range(int(begin) + 1, int(begin) + 4)}
    found = {second: time for time, second in heard}
    for second, time in expected.items():
        assert found[second] == pytest.approx(time, abs=0.05)
    assert len(read_sound(tmp_path / made["all"].files[0])) / RATE == pytest.approx(made["all"].seconds or 0, abs=0.05)


def has_sound(path: Path) -> bool:
    with av.open(str(path)) as container:
        return bool(container.streams.audio)


def test_a_clip_shorter_than_the_frames_shows_each_once(movies: dict[str, Movie], tmp_path: Path) -> None:
    number = len(movies["30 fps"].times)
    made = write_all(movies["30 fps"].path, tmp_path, frames=number + 5, pictures="jpeg")
    assert made["frames"].indices == tuple(range(number))
    pictures = read_pictures([tmp_path / name for name in made["frames"].files])
    assert [read_number(picture[:, :, 0]) for picture in pictures] == list(range(number))


def test_every_frame_of_the_source_is_decoded_once(
    movies: dict[str, Movie], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    movie, decoded, frames = movies["30 fps"], Counter[str](), Video.frames

    def count(self: Video) -> Iterator[Frame]:
        for frame in frames(self):
            decoded[Path(self.container.name.removeprefix("file:")).name] += 1
            yield frame

    monkeypatch.setattr(Video, "frames", count)
    write_all(movie.path, tmp_path)
    assert decoded[movie.path.name] == len(movie.times)


def test_height_and_odd_sizes_are_those_of_clips(movies: dict[str, Movie], tmp_path: Path) -> None:
    made = write_all(movies["rotated"].path, tmp_path, height=64)
    assert {picture.shape[0] for picture in read_pictures([tmp_path / name for name in made["frames"].files])} == {64}
    assert read_pictures([tmp_path / made["all"].files[0]])[0].shape[0] == 64
