"""Generate the videos of the demo with a manifest, captions and the true shot boundaries.

Every film is a function of the settings, its number and the seed, and can be drawn alone: it is planned down to every
frame and caption before anything is drawn. Some files are spoiled on purpose, so that every later check has something
to detect.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
import os
import shutil
import wave
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Literal

import numpy as np

from vttdata.collect.demo_films.drawing import Frame, View
from vttdata.collect.demo_films.motifs import CATEGORIES, Motif, choose_motif
from vttdata.collect.demo_films.props import LIGHTS
from vttdata.collect.settings import SceneSettings
from vttdata.errors import MediaError, VttdataError
from vttdata.files.csv_safety import escape_formula
from vttdata.files.output_file import write_whole
from vttdata.json_types import JsonObject
from vttdata.media.ffmpeg_program import ffmpeg_path
from vttdata.subprocesses import run

Transition = Literal["start", "cut", "fade", "dissolve"]
Look = Literal["plain", "frozen", "dark"]

_MIN_SHOT_SECONDS, _MAX_SHOT_SECONDS = 3.0, 12.0
_TRANSITIONS: tuple[Transition, ...] = ("cut", "cut", "cut", "fade", "dissolve")
_RATE_FACTORS = (Fraction(1), Fraction(1), Fraction(24, 25), Fraction(1200, 1001), Fraction(4, 5), Fraction(3, 5))
# The C major pentatonic scale around middle C, in hertz.
_TONES = (220.0, 261.63, 293.66, 329.63, 392.0, 440.0, 523.25)
_SAMPLE_RATE = 16000
_ENCODE_SECONDS = 600.0
# Ending of unfinished files and folders, whose names begin with a dot.
_PART_SUFFIX = ".part"
# One thread and bit-exact flags give the same bytes on every machine.
_ENCODING = (
    "-map 0:v -map 1:a -c:v libx264 -preset superfast -crf 22 -pix_fmt yuv420p -threads 1 -filter_threads 1 "
    "-sws_flags bilinear+accurate_rnd+bitexact -c:a aac -aac_coder fast -b:a 48k "
    "-map_metadata -1 -fflags +bitexact -flags +bitexact -movflags +faststart -f mp4"
)

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
    for part in folder.glob(f".*{_PART_SUFFIX}"):
        shutil.rmtree(part) if part.is_dir() else part.unlink()
    for index in range(settings.videos):
        make_film(plan_scene(index, settings, seed), folder, View(settings.width, settings.height))
    if settings.spoiled:
        draw_spoiled(folder, settings, seed)
    write_scene_tables(folder, settings, seed)


def draw_spoiled(folder: Path, settings: SceneSettings, seed: int) -> None:
    """Write the spoiled videos into a folder that holds the good ones.

    Raises:
        VttdataError: if ffmpeg cannot encode one.
    """
    for film in _plan_spoiled(settings, seed):
        make_film(film, folder, View(settings.width, settings.height))
    first = (folder / plan_scene(0, settings, seed).file).read_bytes()
    for name, spoil in _SPOILED_COPIES.items():
        part = folder / f".{name}{_PART_SUFFIX}"
        part.write_bytes(spoil(first))
        os.replace(part, folder / name)


def plan_scene(index: int, settings: SceneSettings, seed: int) -> Film:
    """Plan the good video with a number (0-based), frame by frame and word by word, without drawing it."""
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
    write_whole(folder / "manifest.csv", _to_csv(("path", "title", "category", "query", "licence"), rows))
    write_whole(folder / "captions.csv", _to_csv(("source", "start", "end", "caption", "annotator"), captions))
    write_whole(folder / "truth.json", truth)


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


def _write_captions(film: Film, index: int, seed: int) -> Iterator[tuple[str, ...]]:
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


def _to_csv(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    stream = io.StringIO()
    cells = ([escape_formula(cell) for cell in row] for row in rows)
    csv.writer(stream, lineterminator="\n").writerows([header, *cells])
    return stream.getvalue()


@dataclass(frozen=True, slots=True)
class FilmShot:
    """One shot of a film: its first frame, and how many it has, what they show, and the frequency of its tone in hertz.

    The film passes to it from the shot before by a transition of `blend` frames on either side of `first`; 0 at a cut.
    """

    first: int
    frames: int
    motif: Motif
    transition: Transition
    blend: int
    tone: float

    @property
    def end(self) -> int:
        """Return the first frame after the shot."""
        return self.first + self.frames


@dataclass(frozen=True, slots=True)
class Film:
    """Planned film. With the look ``frozen`` it stands still, with ``dark`` it is almost black."""

    file: str
    frame_rate: Fraction
    shots: tuple[FilmShot, ...]
    look: Look = "plain"

    @property
    def frames(self) -> int:
        """Return the number of frames."""
        return self.shots[-1].end

    def truth(self) -> JsonObject:
        """Return rate, length and transitions: the first frame after each cut, first and last of each gradual one."""
        gradual = [[shot.first - shot.blend, shot.first + shot.blend - 1] for shot in self.shots if shot.blend]
        cuts = [shot.first for shot in self.shots if shot.transition == "cut"]
        return {"frame_rate": float(self.frame_rate), "frames": self.frames, "cuts": cuts, "gradual": gradual}


def plan_film(file: str, queries: Sequence[str], frame_rate: Fraction, seed: int, seconds: float = 0) -> Film:
    """Plan a film whose first shot shows the motif of the first query; neighbouring shots differ in motif and light.

    The frame rate is a base that varies between films. `seconds` is the length of a film of a single shot; without it a
    film has 20 to 40 seconds in shots of 3 to 12 seconds.
    """
    random = Random(f"{seed}\0{file}\0plan")
    rate = frame_rate if seconds else frame_rate * random.choice(_RATE_FACTORS)
    lengths = [seconds] if seconds else _choose_shot_lengths(random, random.uniform(20, 40))
    lights = random.sample(LIGHTS, len(LIGHTS))
    shots: list[FilmShot] = []
    query = ""
    for number, length in enumerate(lengths):
        query = random.choice([other for other in queries if other != query]) if number else queries[0]
        transition: Transition = random.choice(_TRANSITIONS) if number else "start"
        shots.append(
            FilmShot(
                first=shots[-1].end if shots else 0,
                frames=round(length * rate),
                motif=choose_motif(query, Random(f"{seed}\0{file}\0{number}"), lights[number % len(lights)]),
                transition=transition,
                blend=round(random.uniform(0.3, 0.6) * rate) if transition in ("fade", "dissolve") else 0,
                tone=random.choice(_TONES),
            )
        )
    return Film(file, rate, tuple(shots))


def _choose_shot_lengths(random: Random, total: float) -> list[float]:
    lengths = []
    while total > 0:
        length = random.uniform(_MIN_SHOT_SECONDS, _MAX_SHOT_SECONDS)
        if total - length < _MIN_SHOT_SECONDS:
            length = total if total <= _MAX_SHOT_SECONDS else total / 2
        lengths.append(length)
        total -= length
    return lengths


def render_frames(film: Film, view: View) -> Iterator[Frame]:
    """Draw every frame of a film, in order."""
    drawings = [shot.motif.paint(view) for shot in film.shots]

    def draw(number: int, index: int) -> Frame:
        shot = film.shots[number]
        seconds = 2.0 if film.look == "frozen" else float((index - shot.first) / film.frame_rate)
        return drawings[number].frame(seconds, seconds / float(shot.frames / film.frame_rate))

    for number, shot in enumerate(film.shots):
        following = film.shots[number + 1] if number + 1 < len(film.shots) else None
        for index in range(shot.first, shot.end):
            frame = draw(number, index)
            if index < shot.first + shot.blend:
                frame = _blend(frame, draw(number - 1, index), shot, index)
            elif following and index >= following.first - following.blend:
                frame = _blend(frame, draw(number + 1, index), following, index)
            yield np.right_shift(frame, 4, dtype=np.uint8) if film.look == "dark" else frame


def _blend(frame: Frame, other: Frame, entered: FilmShot, index: int) -> Frame:
    """Return a frame of a transition: darkened by a fade through black, or mixed with the other shot's frame."""
    distance = abs(index + 0.5 - entered.first) / entered.blend
    weight = round(256 * (distance if entered.transition == "fade" else (1 + distance) / 2))
    mixed = frame.astype(np.uint16) * weight
    if entered.transition == "dissolve":
        mixed += other.astype(np.uint16) * (256 - weight)
    return (mixed >> 8).astype(np.uint8)


def make_film(film: Film, folder: Path, view: View) -> None:
    """Draw a film with its sound, in any order with others, and write it into a folder, where it appears when complete.

    Raises:
        MediaError: if encoding takes too long.
        VttdataError: if ffmpeg cannot encode it.
    """
    part = folder / f".{film.file}{_PART_SUFFIX}"
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)

    def feed(descriptor: int) -> None:
        with os.fdopen(descriptor, "wb", closefd=False) as stream:
            for frame in render_frames(film, view):
                stream.write(frame.data)

    try:
        _write_tones(film, part / "tones.wav")
        frame_size = f"{view.width}x{view.height}"
        command = [ffmpeg_path(), "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", frame_size]
        command += ["-r", str(film.frame_rate), "-i", "pipe:0", "-i", "tones.wav", *_ENCODING.split(), "film.mp4"]
        done = run(command, seconds=_ENCODE_SECONDS, folder=part, feed=feed)
        if done.stopped:
            raise MediaError("timeout", f"ffmpeg exceeded the time limit for {film.file}.")
        if done.code:
            reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
            raise VttdataError(f"ffmpeg cannot encode the generated video {film.file}: {reason}.")
        os.replace(part / "film.mp4", folder / film.file)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _write_tones(film: Film, path: Path) -> None:
    """Write a tone for each shot, with soft ends that avoid clicks."""
    ends = [round(shot.end / film.frame_rate * _SAMPLE_RATE) for shot in film.shots]
    with wave.open(str(path), "wb") as stream:
        stream.setparams((1, 2, _SAMPLE_RATE, 0, "NONE", ""))
        for shot, (start, end) in zip(film.shots, itertools.pairwise([0, *ends]), strict=True):
            index = np.arange(end - start)
            envelope = np.minimum(1, np.minimum(index, index[::-1]) / (0.05 * _SAMPLE_RATE))
            samples = 8000 * envelope * np.sin(2 * math.pi * shot.tone / _SAMPLE_RATE * index)
            stream.writeframes(np.rint(samples).astype("<i2").tobytes())
