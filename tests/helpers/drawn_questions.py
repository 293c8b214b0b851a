"""Films made to need colour, direction, order, speed or count, questions about them, and an oracle that sees pictures.

What the oracle reaches in a condition follows from how the films are drawn: a disc that moves across the picture and
comes in again on the other side, one that changes its colour, or one that flashes.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import av
import numpy as np
import numpy.typing as npt
from PIL import Image

from vttdata.cli.main import main
from vttdata.collect.demo_films.drawing import Canvas, Drawing, View, paste
from vttdata.dataset.stimuli import read_stimuli

KINDS = ("colour", "direction", "order", "speed", "count")
OPTIONS = {
    "colour": ("red", "green", "blue", "yellow"),
    "direction": ("to the left", "to the right"),
    "order": ("red comes before blue", "blue comes before red"),
    "speed": ("slowly", "fast"),
    "count": ("two", "three", "four"),
}
FRAMES, RATE = 24, 12
_VIEW = View(96, 64)
# Share of the frame's height that a disc moves from frame to frame, slowly and fast.
_SLOW, _FAST = 0.04, 0.12
_FLASH_FRAMES = 2

Picture = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Film:
    """Film, its question and the index of the right option."""

    name: str
    kind: str
    answer: int


def draw_benchmark(folder: Path, number: int) -> list[Film]:
    """Write that many films of each kind, and ``questions.jsonl``, a question about each."""
    films = []
    with (folder / "questions.jsonl").open("w", encoding="utf-8") as stream:
        for kind in KINDS:
            for index in range(number):
                film = Film(f"{kind}{index}", kind, index % len(OPTIONS[kind]))
                write_film(folder / f"{film.name}.mp4", film)
                films.append(film)
                row = {
                    "question_id": film.name,
                    "video": f"{film.name}.mp4",
                    "question": f"Which {kind}?",
                    "type": kind,
                }
                stream.write(json.dumps(row | {"options": OPTIONS[kind], "answer_index": film.answer}) + "\n")
    return films


def write_film(path: Path, film: Film) -> None:
    """Draw and encode a film."""
    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream("libx264", rate=RATE)
        stream.width, stream.height, stream.pix_fmt = _VIEW.width, _VIEW.height, "yuv420p"
        stream.options = {"crf": "10", "threads": "1"}
        for picture in draw_film(film):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, "rgb24")))
        container.mux(stream.encode(None))


def draw_film(film: Film) -> Iterator[Picture]:
    """Yield the frames of a film; where the disc is at first is drawn."""
    draw = random.Random(film.name)
    width, start = _VIEW.aspect, draw.random()
    empty = Drawing(Canvas(width, 1, _VIEW).box(0, 0, width, 1, "#202020"))
    discs = {
        name: Canvas(0.5, 0.5, _VIEW).disc((0.25, 0.25), 0.24, name).sprite()
        for name in ("red", "green", "blue", "yellow", "white")
    }
    step = {
        "direction": (-1, 1)[film.answer % 2] * _SLOW,
        "speed": draw.choice((-1, 1)) * (_SLOW, _FAST)[film.answer % 2],
    }
    flashes = [2 + 5 * k + draw.randrange(2) for k in range(film.answer + 2)]
    for number in range(FRAMES):
        frame = empty.frame(0, 0)
        if film.kind in step:
            x = (start * width + number * step[film.kind]) % width
            for shift in (-width, 0, width):
                paste(frame, discs["white"], (x + shift, 0.5))
        elif film.kind == "colour":
            paste(frame, discs[OPTIONS["colour"][film.answer]], (start * width, 0.5))
        elif film.kind == "order" and 2 <= number < FRAMES - 2:
            colours = ("red", "blue") if film.answer == 0 else ("blue", "red")
            paste(frame, discs[colours[number >= FRAMES // 2]], (width / 2, 0.5))
        elif film.kind == "count" and any(flash <= number < flash + _FLASH_FRAMES for flash in flashes):
            paste(frame, discs["white"], (width / 2, 0.5))
        yield frame


def answer_by_oracle(kind: str, pictures: Sequence[Picture]) -> list[float]:
    """Return the score of each option by what the pictures show in their order; all are equal where it cannot tell."""
    tie, seen = [0.0] * len(OPTIONS[kind]), [_look(picture) for picture in pictures]
    if kind == "colour":
        names = [name for name, _ in seen if name]
        return [float(names[:1] == [option]) for option in OPTIONS[kind]]
    if kind == "order":
        named = [name for name, _ in seen if name in ("red", "blue")]
        if len(set(named)) < 2:
            return tie
        changes = sum(first != second for first, second in itertools.pairwise(named))
        return [float(named[0] == "red"), float(named[0] == "blue")] if changes == 1 else tie
    if kind == "count":
        flashes = round(sum(bool(name) for name, _ in seen) / _FLASH_FRAMES)
        return [float(flashes == number) for number in (2, 3, 4)] if len(pictures) == FRAMES else tie
    places = np.array([place for _, place in seen])
    steps = (np.diff(places) + 0.5) % 1 - 0.5
    # A disc that stands still is not coded alike in every frame.
    if not len(steps) or np.abs(steps).max() < 0.005:
        return tie
    if kind == "direction":
        is_steady = np.abs(np.sign(steps).sum()) == len(steps)
        return [float(steps[0] < 0), float(steps[0] > 0)] if is_steady else tie
    speed = np.median(np.abs(steps)) * _VIEW.aspect
    is_steady = np.abs(steps).max() * _VIEW.aspect < 1.5 * _FAST and len(pictures) == FRAMES
    return [float(speed < (_SLOW + _FAST) / 2), float(speed >= (_SLOW + _FAST) / 2)] if is_steady else tie


def _look(picture: Picture) -> tuple[str, float]:
    """Return the colour of the disc, empty without one, and how far it is to the right, 0..1 around the picture."""
    colours = picture.astype(float)
    lit = colours.max(axis=2) > 100
    if lit.mean() < 0.02:
        return "", 0.0
    red, green, blue = colours[lit].mean(axis=0)
    name = "white" if min(red, green, blue) > 130 else "yellow" if min(red, green) > 130 else ""
    name = name or ("red", "green", "blue")[int(np.argmax((red, green, blue)))]
    angles = 2 * np.pi * (np.arange(picture.shape[1]) + 0.5) / picture.shape[1]
    weights = lit.sum(axis=0)
    place = np.arctan2((weights * np.sin(angles)).sum(), (weights * np.cos(angles)).sum()) / (2 * np.pi)
    return name, float(place % 1)


def read_pictures(files: Sequence[Path]) -> list[Picture]:
    """Return the pictures of files of pictures, or of a video, with no code of the package."""
    if files and files[0].suffix == ".mp4":
        with av.open(str(files[0])) as container:
            return [np.asarray(frame.to_ndarray(format="rgb24"), np.uint8) for frame in container.decode(video=0)]
    return [np.asarray(Image.open(file).convert("RGB")) for file in files]


def write_oracle(films: Sequence[Film], stimuli: Path, folder: Path) -> None:
    """Write the answers of the oracle to each condition of a folder of stimuli, a file for each."""
    folder.mkdir(parents=True)
    kinds = {film.name: film.kind for film in films}
    for stimulus in read_stimuli(stimuli):
        pictures = read_pictures([stimuli / name for name in stimulus.files])
        row = {"question_id": stimulus.video_id, "scores": answer_by_oracle(kinds[stimulus.video_id], pictures)}
        with (folder / f"{stimulus.condition}.jsonl").open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(row) + "\n")


def build_questions(folder: Path) -> Path:
    """Build the dataset of ``questions.jsonl`` in a folder, and return the folder of the build."""
    build = ["build", "questions", "--quiet", "--workers", "1", "--out", str(folder / "build")]
    assert main([*build, "--set", f"annotations={folder / 'questions.jsonl'}"]) == 0
    return folder / "build"
