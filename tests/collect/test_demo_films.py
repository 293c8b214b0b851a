"""Test that the tables of the generated scenes describe what the videos show."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import av
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vttdata.collect.demo_films.corpus import (
    Film,
    draw_scenes,
    draw_spoiled,
    make_film,
    plan_scene,
    render_frames,
    write_scene_tables,
)
from vttdata.collect.demo_films.drawing import View
from vttdata.collect.demo_films.motifs import CATEGORIES, choose_motif
from vttdata.collect.demo_films.props import LIGHTS
from vttdata.collect.settings import SceneSettings
from vttdata.errors import MediaError
from vttdata.media.measure import measure
from vttdata.media.probe import probe

SMALL = SceneSettings(videos=7, width=128, height=72, frame_rate=12.5)
SEED = 5


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scenes") / "drawn"
    draw_scenes(folder, SMALL, SEED)
    return folder


def truth(folder: Path) -> dict[str, dict[str, Any]]:
    content: dict[str, dict[str, Any]] = json.loads((folder / "truth.json").read_text())
    return content


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def good_names() -> list[str]:
    return [plan_scene(index, SMALL, SEED).file for index in range(SMALL.videos)]


def decoded(path: Path) -> np.ndarray[Any, np.dtype[np.float32]]:
    with av.open(str(path)) as container:
        return np.stack([f.to_ndarray(format="rgb24")[::4, ::4].astype(np.float32) for f in container.decode(video=0)])


def test_folder_holds_exactly_the_listed_files(drawn: Path) -> None:
    listed = {row["path"] for row in rows(drawn / "manifest.csv")}
    assert len(listed) == SMALL.videos + 6
    assert {path.name for path in drawn.iterdir()} == listed | {"manifest.csv", "captions.csv", "truth.json"}


def test_good_videos_are_valid_and_have_the_stated_length(drawn: Path) -> None:
    for name in good_names():
        expected, container, measured = truth(drawn)[name], probe(drawn / name), measure(drawn / name)
        assert measured.frames == container.container_frames == expected["frames"]
        assert container.frame_rate == pytest.approx(expected["frame_rate"])
        assert not measured.variable_frame_rate
        assert measured.seconds == pytest.approx(expected["frames"] / expected["frame_rate"], abs=0.001)
        assert (container.width, container.height, container.audio_codec) == (128, 72, "aac")
        assert measured.scores["dark"] < 0.2
        assert max(measured.scores[name] for name in ("frozen", "blur", "blocky")) < 0.6


def test_spoiled_videos_have_the_stated_defects(drawn: Path) -> None:
    assert measure(drawn / "spoiled-short.mp4").seconds == pytest.approx(2, abs=0.05)
    assert measure(drawn / "spoiled-frozen.mp4").scores["frozen"] == 1.0
    assert measure(drawn / "spoiled-dark.mp4").scores["dark"] == 1.0
    assert (drawn / "spoiled-copy.mp4").read_bytes() == (drawn / good_names()[0]).read_bytes()
    for name, reason in (("spoiled-truncated.mp4", "truncated"), ("spoiled-text.mp4", "unreadable")):
        with pytest.raises(MediaError) as error:
            probe(drawn / name)
        assert error.value.reason == reason


def test_frames_change_most_at_the_true_cuts(drawn: Path) -> None:
    for name in good_names():
        expected, frames = truth(drawn)[name], decoded(drawn / name)
        changes = np.abs(np.diff(frames, axis=0)).mean(axis=(1, 2, 3))
        quiet = np.ones(len(changes), bool)
        quiet[[cut - 1 for cut in expected["cuts"]]] = False
        for first, last in expected["gradual"]:
            quiet[first - 1 : last + 1] = False
        assert all(changes[cut - 1] > 1.5 * changes[quiet].max() for cut in expected["cuts"])


def test_fades_are_black_in_the_middle_and_dissolves_mix_their_shots() -> None:
    films = [plan_scene(index, SMALL, SEED) for index in range(12)]
    entered = {shot.transition: (film, shot) for film in films for shot in film.shots if shot.blend}
    film, fade = entered["fade"]
    frames = list(render_frames(film, View(64, 36)))
    assert max(frames[fade.first - 1].mean(), frames[fade.first].mean()) < 0.2 * frames[fade.first + fade.blend].mean()
    film, dissolve = entered["dissolve"]
    frames = list(render_frames(film, View(64, 36)))
    middle = frames[dissolve.first].astype(float)
    mean = (frames[dissolve.first - dissolve.blend] + frames[dissolve.first + dissolve.blend].astype(float)) / 2
    assert np.abs(middle - mean).mean() < 8


def test_each_shot_has_its_tone(drawn: Path) -> None:
    film = plan_scene(1, SMALL, SEED)
    with av.open(str(drawn / film.file)) as container:
        sound = np.concatenate([frame.to_ndarray()[0] for frame in container.decode(audio=0)])
    assert len(sound) / 16000 == pytest.approx(film.frames / film.frame_rate, abs=0.1)
    for shot in film.shots:
        start, end = (round(float(frame / film.frame_rate) * 16000) for frame in (shot.first, shot.end))
        part = sound[start + 1600 : end - 1600]
        loudest = np.abs(np.fft.rfft(part)).argmax() * 16000 / len(part)
        assert loudest == pytest.approx(shot.tone, abs=2)


def test_every_shot_has_at_least_five_different_captions(drawn: Path) -> None:
    shots: dict[tuple[str, str, str], list[dict[str, str]]] = defaultdict(list)
    for row in rows(drawn / "captions.csv"):
        shots[row["source"], row["start"], row["end"]].append(row)
    for written in shots.values():
        assert len({row["caption"].lower().rstrip(".") for row in written}) >= 5
        assert len({row["annotator"] for row in written}) == len(written)
    for name in good_names():
        spans = [(float(start), float(end)) for source, start, end in shots if source == name]
        assert spans[0][0] == 0
        assert all(before[1] == after[0] for before, after in pairwise(spans))
        assert spans[-1][1] == pytest.approx(truth(drawn)[name]["frames"] / truth(drawn)[name]["frame_rate"], abs=1e-5)


def test_a_few_captions_are_flawed(drawn: Path) -> None:
    texts: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in rows(drawn / "captions.csv"):
        texts[row["source"], row["start"]].append(row["caption"])
    assert any(len(set(shot)) < len(shot) for shot in texts.values())
    assert any(len({text.lower() for text in shot}) < len(set(shot)) for shot in texts.values())
    assert any(" " not in text for shot in texts.values() for text in shot)


def test_films_have_the_same_bytes_in_any_order_and_after_an_interruption(drawn: Path, tmp_path: Path) -> None:
    leftover = tmp_path / f".{good_names()[3]}.part"
    leftover.mkdir()
    (leftover / "film.mp4").write_bytes(b"half a film")
    for index in (3, 0):
        make_film(plan_scene(index, SMALL, SEED), tmp_path, View(SMALL.width, SMALL.height))
    draw_spoiled(tmp_path, SMALL, SEED)
    write_scene_tables(tmp_path, SMALL, SEED)
    assert len(list(tmp_path.iterdir())) == 2 + 6 + 3
    for path in tmp_path.iterdir():
        assert path.read_bytes() == (drawn / path.name).read_bytes()


def test_another_seed_gives_different_films() -> None:
    first, second = (plan_scene(2, SMALL, seed) for seed in (1, 2))
    assert first.file == second.file
    assert [shot.frames for shot in first.shots] != [shot.frames for shot in second.shots]


def test_without_spoiled_files_only_good_videos_are_listed(tmp_path: Path) -> None:
    write_scene_tables(tmp_path, SceneSettings(videos=9, spoiled=False), SEED)
    listed = rows(tmp_path / "manifest.csv")
    assert len(listed) == 9
    assert {row["category"] for row in listed} == set(CATEGORIES)
    assert set(truth(tmp_path)) == {row["path"] for row in listed}


def test_odd_frame_sizes_are_rejected() -> None:
    with pytest.raises(ValueError, match="even"):
        SceneSettings(width=321)


def to_seconds(film: Film, frames: int) -> float:
    return float(frames / film.frame_rate)


@settings(max_examples=60, deadline=None)
@given(index=st.integers(0, 200), seed=st.integers(0, 2**40), rate=st.sampled_from([12.5, 25.0, 29.97, 60.0]))
def test_every_plan_respects_the_length_limits(index: int, seed: int, rate: float) -> None:
    film = plan_scene(index, SceneSettings(frame_rate=rate), seed)
    assert 19.5 <= to_seconds(film, film.frames) <= 40.5
    assert all(2.9 <= to_seconds(film, shot.frames) <= 12.1 for shot in film.shots)
    assert all(before.end == after.first for before, after in pairwise(film.shots))
    assert all(before.blend + after.blend < before.frames for before, after in pairwise(film.shots))
    assert [shot.blend > 0 for shot in film.shots] == [shot.transition in ("fade", "dissolve") for shot in film.shots]
    starts = [to_seconds(film, frame) for frame in (*(shot.first for shot in film.shots), film.frames)]
    assert any(10 <= end - start <= 30 for start in starts for end in starts)
    assert film.frame_rate <= Fraction(rate).limit_denominator(1001) * Fraction(1200, 1001)


@pytest.mark.parametrize("category", CATEGORIES)
@pytest.mark.parametrize("light", LIGHTS, ids=["day", "sunset", "night", "grey", "dawn"])
def test_every_motif_moves_and_has_at_least_twelve_captions(category: str, light: Any) -> None:
    for query in CATEGORIES[category]:
        motif = choose_motif(query, Random(1), light)
        assert len({text.lower() for text in motif.captions}) == len(motif.captions) >= 12
        assert not any("  " in text or "{" in text or " a orange" in text for text in motif.captions)
        drawing = motif.paint(View(64, 36))
        before, after = drawing.frame(1.0, 0.25), drawing.frame(1.7, 0.425)
        assert before.shape == (36, 64, 3)
        assert (before != after).any()
