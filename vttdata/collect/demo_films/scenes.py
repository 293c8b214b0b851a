"""Generates the videos of the demo: short films of drawn scenes whose content, cuts and captions are known exactly.

Every film is a function of the settings, its number and the seed, and can be drawn on its own, so films may be drawn
in parallel. Some files are spoiled on purpose, so that every check that follows has something to find.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Annotated, Any, ClassVar

from annotated_types import Ge, Le

from vttdata.collect.demo_films import CATEGORIES, View
from vttdata.collect.demo_films.film import Film, Look, make_film, plan_film
from vttdata.settings import STRICT, Pixels, PositiveCount

_LICENCE = "cc0-1.0"
_ANNOTATORS = tuple(f"a{number}" for number in range(1, 9))
_WRITES_SENTENCES = {"a2", "a5", "a7"}  # with a capital letter and a full stop
_SPOILED_FILMS: dict[str, tuple[str, Look, float]] = {
    "spoiled-short.mp4": ("traffic", "plain", 2.0),
    "spoiled-frozen.mp4": ("weather", "frozen", 16.0),
    "spoiled-dark.mp4": ("animals", "dark", 16.0),
}
_SPOILED_FILES: dict[str, Callable[[bytes], bytes]] = {
    "spoiled-truncated.mp4": lambda data: data[: len(data) * 3 // 5],
    "spoiled-copy.mp4": lambda data: data,
    "spoiled-text.mp4": lambda _: b"This is a text file with the name of a video.\n",
}


@dataclass(frozen=True, slots=True)
class SceneSettings:
    """How the generated videos look.

    Attributes:
        videos: how many good videos to draw.
        width: of the picture in pixels; even.
        height: of the picture in pixels; even.
        frame_rate: frames per second of most videos; others have 0.6, 0.8, 0.96 or 1200/1001 times as many.
        spoiled: whether to add a truncated file, one of 2 seconds, an exact copy, a frozen and a dark video, and a
            text file with a video's name, all listed as if they were good.
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    videos: PositiveCount = 14
    width: Pixels = 320
    height: Pixels = 180
    frame_rate: Annotated[float, Ge(5), Le(120)] = 25.0
    spoiled: bool = True

    def __post_init__(self) -> None:
        if self.width % 2 or self.height % 2:
            raise ValueError("width and height must be even, since the pictures are stored with halved colour planes")


def draw_scenes(folder: Path, settings: SceneSettings, seed: int) -> None:
    """Write all videos and the tables that go with them into a folder.

    Beside the videos there are ``manifest.csv`` (path, title, category, query, licence), ``captions.csv`` (source,
    start, end, caption, annotator; at least five for each shot, a few of them flawed) and ``truth.json``, which gives
    for each video `Film.truth`. Same settings and seed: same bytes.

    Raises:
        VttdataError: when ffmpeg cannot encode a video.
        OSError: when the folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for index in range(settings.videos):
        draw_scene(folder, index, settings, seed)
    if settings.spoiled:
        draw_spoiled(folder, settings, seed)
    write_tables(folder, settings, seed)


def draw_scene(folder: Path, index: int, settings: SceneSettings, seed: int) -> None:
    """Write the good video with a number (0-based) into a folder. Films may be drawn in any order, and in parallel.

    Raises:
        VttdataError: when ffmpeg cannot encode it.
    """
    make_film(plan_scene(index, settings, seed), folder, View(settings.width, settings.height))


def draw_spoiled(folder: Path, settings: SceneSettings, seed: int) -> None:
    """Write the spoiled videos into a folder that holds the good ones.

    Raises:
        VttdataError: when ffmpeg cannot encode one.
    """
    for film in _spoiled_films(settings, seed):
        make_film(film, folder, View(settings.width, settings.height))
    first = (folder / plan_scene(0, settings, seed).file).read_bytes()
    for name, spoil in _SPOILED_FILES.items():
        _write(folder / name, spoil(first))


def plan_scene(index: int, settings: SceneSettings, seed: int) -> Film:
    """What the good video with a number shows, frame by frame and word by word, without drawing it."""
    category, lead = _subject(index)
    motifs = [motif for _, motif in CATEGORIES[category]]
    ordered = (motifs[lead], *motifs[:lead], *motifs[lead + 1 :])
    return plan_film(f"{category}-{index:02d}.mp4", ordered, _rate(settings), seed)


def write_tables(folder: Path, settings: SceneSettings, seed: int) -> None:
    """Write manifest, captions and truth of all videos into a folder."""
    good = [plan_scene(index, settings, seed) for index in range(settings.videos)]
    spoiled = list(_spoiled_films(settings, seed)) if settings.spoiled else []
    rows = [(film.file, *_listing(*_subject(index), index + 1)) for index, film in enumerate(good)]
    if settings.spoiled:
        subjects = {name: category for name, (category, *_) in _SPOILED_FILMS.items()}
        subjects |= dict.fromkeys(_SPOILED_FILES, _subject(0)[0])
        numbered = enumerate(subjects.items(), len(good) + 1)
        rows += [(name, *_listing(category, 0, number)) for number, (name, category) in numbered]
    _write(folder / "manifest.csv", _csv(("path", "title", "category", "query", "licence"), rows))
    captions = [row for index, film in enumerate((*good, *spoiled)) for row in _captions(film, index, seed)]
    _write(folder / "captions.csv", _csv(("source", "start", "end", "caption", "annotator"), captions))
    truth = {film.file: film.truth() for film in (*good, *spoiled)}
    _write(folder / "truth.json", (json.dumps(truth, indent=1) + "\n").encode())


def _subject(index: int) -> tuple[str, int]:
    """Category and leading motif: each category once, then each again with its next of two leading motifs."""
    names = tuple(CATEGORIES)
    return names[index % len(names)], index // len(names) % 2


def _listing(category: str, lead: int, number: int) -> tuple[str, str, str, str]:
    query = CATEGORIES[category][lead][0]
    return f"{query.capitalize()}, no. {number}", category, query, _LICENCE


def _rate(settings: SceneSettings) -> Fraction:
    return Fraction(settings.frame_rate).limit_denominator(1001)


def _spoiled_films(settings: SceneSettings, seed: int) -> Iterator[Film]:
    for name, (category, look, seconds) in _SPOILED_FILMS.items():
        motifs = tuple(motif for _, motif in CATEGORIES[category])
        yield replace(plan_film(name, motifs, _rate(settings), seed, seconds), look=look)


def _captions(film: Film, index: int, seed: int) -> Iterator[tuple[str, str, str, str, str]]:
    for number, shot in enumerate(film.shots):
        random = Random(f"{seed}\0{film.file}\0{number}\0captions")
        annotators = random.sample(_ANNOTATORS, random.choice((5, 6, 7)))
        texts = [_as_written(text, who) for text, who in zip(shot.motif.captions, annotators, strict=False)]
        if number == 0:
            texts.append((texts[0], texts[1].upper(), "nice", shot.motif.captions[-1])[index % 4])
            annotators.append(random.choice([who for who in _ANNOTATORS if who not in annotators]))
        start, end = (f"{float(frame / film.frame_rate):.6f}" for frame in (shot.first, shot.end))
        for text, who in zip(texts, annotators, strict=True):
            yield film.file, start, end, text, who


def _as_written(text: str, annotator: str) -> str:
    return text[0].upper() + text[1:] + "." if annotator in _WRITES_SENTENCES else text


def _csv(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> bytes:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return stream.getvalue().encode()


def _write(path: Path, data: bytes) -> None:
    part = path.with_name(f".{path.name}.part")
    part.write_bytes(data)
    os.replace(part, path)
