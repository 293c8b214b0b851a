"""Generate the videos of the demo with a manifest, captions and the true shot boundaries.

Every film is a function of the settings, its number and the seed, and can be drawn alone. Some files are spoiled on
purpose, so that every later check has something to detect.
"""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Annotated

from annotated_types import Ge, Le

from vttdata.collect.demo_films.drawing import View
from vttdata.collect.demo_films.film import PART_SUFFIX, Film, Look, make_film, plan_film
from vttdata.collect.demo_films.motifs import CATEGORIES
from vttdata.files.csv_safety import escape_formula
from vttdata.settings import Pixels, PositiveCount, Strict

_LICENCE = "cc0-1.0"
_ANNOTATORS = tuple(f"a{number}" for number in range(1, 9))
# These annotators write sentences with a capital letter and a full stop.
_SENTENCE_WRITERS = {"a2", "a5", "a7"}
_SPOILED_FILMS: dict[str, tuple[str, Look, float]] = {
    "spoiled-short.mp4": ("traffic", "plain", 2.0),
    "spoiled-frozen.mp4": ("weather", "frozen", 16.0),
    "spoiled-dark.mp4": ("animals", "dark", 16.0),
}
# These files are made of the first good video.
_SPOILED_COPIES: dict[str, Callable[[bytes], bytes]] = {
    "spoiled-truncated.mp4": lambda data: data[: len(data) * 3 // 5],
    "spoiled-copy.mp4": lambda data: data,
    "spoiled-text.mp4": lambda _: b"This is a text file with the name of a video.\n",
}


@dataclass(frozen=True, slots=True)
class SceneSettings(Strict):
    """Number and format of the generated videos.

    Attributes:
        videos: how many good videos to draw.
        width: of the frames in pixels; even.
        height: of the frames in pixels; even.
        frame_rate: frames per second of most videos; others have 0.6, 0.8, 0.96 or 1200/1001 times as many.
        spoiled: whether to add a truncated file, one of 2 seconds, an exact copy, a frozen and a dark video, and a
            text file with a video's name, all listed as if they were good.
    """

    videos: PositiveCount = 14
    width: Pixels = 320
    height: Pixels = 180
    frame_rate: Annotated[float, Ge(5), Le(120)] = 25.0
    spoiled: bool = True

    def __post_init__(self) -> None:
        if self.width % 2 or self.height % 2:
            raise ValueError("width and height must be even, since videos store colour at half the resolution")


def draw_scenes(folder: Path, settings: SceneSettings, seed: int) -> None:
    """Write all videos and the tables that go with them into a folder.

    Beside the videos there are ``manifest.csv`` (path, title, category, query, licence), ``captions.csv`` (source,
    start, end, caption, annotator; at least five for each shot, a few of them flawed) and ``truth.json``, which holds
    `Film.truth` of each video. Same settings and seed: same bytes.

    Raises:
        VttdataError: if ffmpeg cannot encode a video.
        OSError: if the folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    # Left by a process that was killed while it drew.
    for part in folder.glob(f".*{PART_SUFFIX}"):
        shutil.rmtree(part) if part.is_dir() else part.unlink()
    for index in range(settings.videos):
        draw_scene(folder, index, settings, seed)
    if settings.spoiled:
        draw_spoiled(folder, settings, seed)
    write_scene_tables(folder, settings, seed)


def draw_scene(folder: Path, index: int, settings: SceneSettings, seed: int) -> None:
    """Write the good video with a number (0-based) into a folder, in any order and in parallel with others.

    Raises:
        VttdataError: if ffmpeg cannot encode it.
    """
    make_film(plan_scene(index, settings, seed), folder, View(settings.width, settings.height))


def draw_spoiled(folder: Path, settings: SceneSettings, seed: int) -> None:
    """Write the spoiled videos into a folder that holds the good ones.

    Raises:
        VttdataError: if ffmpeg cannot encode one.
    """
    for film in _plan_spoiled(settings, seed):
        make_film(film, folder, View(settings.width, settings.height))
    first = (folder / plan_scene(0, settings, seed).file).read_bytes()
    for name, spoil in _SPOILED_COPIES.items():
        _write(folder / name, spoil(first))


def plan_scene(index: int, settings: SceneSettings, seed: int) -> Film:
    """Plan the good video with a number, frame by frame and word by word, without drawing it."""
    category, lead = _subject(index)
    queries = list(CATEGORIES[category])
    ordered = (queries.pop(lead), *queries)
    return plan_film(f"{category}-{index:02d}.mp4", ordered, _frame_rate(settings), seed)


def write_scene_tables(folder: Path, settings: SceneSettings, seed: int) -> None:
    """Write manifest, captions and truth of all videos into a folder."""
    films = [plan_scene(index, settings, seed) for index in range(settings.videos)]
    subjects = {film.file: _subject(index) for index, film in enumerate(films)}
    if settings.spoiled:
        films += _plan_spoiled(settings, seed)
        subjects |= {name: (category, 0) for name, (category, *_) in _SPOILED_FILMS.items()}
        subjects |= dict.fromkeys(_SPOILED_COPIES, (_subject(0)[0], 0))
    rows = []
    for number, (name, (category, lead)) in enumerate(subjects.items(), 1):
        query = list(CATEGORIES[category])[lead]
        rows.append((name, f"{query.capitalize()}, no. {number}", category, query, _LICENCE))
    captions = [row for index, film in enumerate(films) for row in _write_captions(film, index, seed)]
    truth = json.dumps({film.file: film.truth() for film in films}, indent=1) + "\n"
    _write(folder / "manifest.csv", _to_csv(("path", "title", "category", "query", "licence"), rows))
    _write(folder / "captions.csv", _to_csv(("source", "start", "end", "caption", "annotator"), captions))
    _write(folder / "truth.json", truth.encode())


def _subject(index: int) -> tuple[str, int]:
    """Return category and leading motif of a video: categories take turns, as do their first two motifs."""
    names = tuple(CATEGORIES)
    return names[index % len(names)], index // len(names) % 2


def _frame_rate(settings: SceneSettings) -> Fraction:
    return Fraction(settings.frame_rate).limit_denominator(1001)


def _plan_spoiled(settings: SceneSettings, seed: int) -> Iterator[Film]:
    for name, (category, look, seconds) in _SPOILED_FILMS.items():
        film = plan_film(name, tuple(CATEGORIES[category]), _frame_rate(settings), seed, seconds)
        yield replace(film, look=look)


def _write_captions(film: Film, index: int, seed: int) -> Iterator[tuple[str, str, str, str, str]]:
    for number, shot in enumerate(film.shots):
        random = Random(f"{seed}\0{film.file}\0{number}\0captions")
        annotators = random.sample(_ANNOTATORS, random.choice((5, 6, 7)))
        texts = [
            text[0].upper() + text[1:] + "." if annotator in _SENTENCE_WRITERS else text
            for text, annotator in zip(shot.motif.captions, annotators, strict=False)
        ]
        # The first shot of each film has one more caption, which is flawed in most films.
        if number == 0:
            texts.append((texts[0], texts[1].upper(), "nice", shot.motif.captions[-1])[index % 4])
            annotators.append(random.choice([annotator for annotator in _ANNOTATORS if annotator not in annotators]))
        start, end = (f"{float(frame / film.frame_rate):.6f}" for frame in (shot.first, shot.end))
        for text, annotator in zip(texts, annotators, strict=True):
            yield film.file, start, end, text, annotator


def _to_csv(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> bytes:
    stream = io.StringIO()
    cells = ([escape_formula(cell) for cell in row] for row in rows)
    csv.writer(stream, lineterminator="\n").writerows([header, *cells])
    return stream.getvalue().encode()


def _write(path: Path, data: bytes) -> None:
    part = path.with_name(f".{path.name}{PART_SUFFIX}")
    part.write_bytes(data)
    os.replace(part, path)
