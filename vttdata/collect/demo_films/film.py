"""Films made of motifs: planned down to every frame and caption before anything is drawn, then drawn and encoded.

A plan depends on its name, its number and the seed alone.
"""

from __future__ import annotations

import functools
import itertools
import math
import os
import shutil
import wave
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any, Literal

import numpy as np

from vttdata.collect.demo_films.drawing import Picture, View
from vttdata.collect.demo_films.motifs import ChooseMotif, Motif
from vttdata.collect.demo_films.props import MOODS
from vttdata.errors import VttdataError
from vttdata.media.ffmpeg import ffmpeg_path
from vttdata.subprocesses import run

Entry = Literal["start", "cut", "fade", "dissolve"]
Look = Literal["plain", "frozen", "dark"]

_SHORTEST, _LONGEST = 3.0, 12.0
_ENTRIES: tuple[Entry, ...] = ("cut", "cut", "cut", "fade", "dissolve")
_RATES = (Fraction(1), Fraction(1), Fraction(24, 25), Fraction(1200, 1001), Fraction(4, 5), Fraction(3, 5))
_TONES = (220.0, 261.63, 293.66, 329.63, 392.0, 440.0, 523.25)  # a pentatonic scale and its neighbours
_SAMPLE_RATE = 16000
_ENCODE_SECONDS = 600.0
_CODING = (
    *("-map", "0:v", "-map", "1:a", "-c:v", "libx264", "-preset", "superfast", "-crf", "22", "-pix_fmt", "yuv420p"),
    *("-threads", "1", "-filter_threads", "1", "-sws_flags", "bilinear+accurate_rnd+bitexact"),
    *(
        "-c:a",
        "aac",
        "-aac_coder",
        "fast",
        "-b:a",
        "48k",
        "-map_metadata",
        "-1",
        "-fflags",
        "+bitexact",
        "-flags",
        "+bitexact",
    ),
    *("-movflags", "+faststart", "-f", "mp4"),
)


@dataclass(frozen=True, slots=True)
class FilmShot:
    """One shot of a film: its first frame and how many, how it is entered, over how many frames on either side."""

    first: int
    frames: int
    motif: Motif
    entry: Entry
    blend: int
    tone: float

    @property
    def end(self) -> int:
        """The first frame after the shot."""
        return self.first + self.frames


@dataclass(frozen=True, slots=True)
class Film:
    """A planned film. `look` says whether it moves and is lit as planned, or stands still, or is almost black."""

    file: str
    frame_rate: Fraction
    shots: tuple[FilmShot, ...]
    look: Look = "plain"

    @property
    def frames(self) -> int:
        """How many frames the film has."""
        return self.shots[-1].end

    def truth(self) -> dict[str, Any]:
        """Rate, length and transitions: the first frame after each cut, first and last frame of each gradual one."""
        gradual = [[shot.first - shot.blend, shot.first + shot.blend - 1] for shot in self.shots if shot.blend]
        cuts = [shot.first for shot in self.shots if shot.entry == "cut"]
        return {"frame_rate": float(self.frame_rate), "frames": self.frames, "cuts": cuts, "gradual": gradual}


def plan_film(file: str, motifs: tuple[ChooseMotif, ...], frame_rate: Fraction, seed: int, seconds: float = 0) -> Film:
    """Plan a film whose first shot shows the first motif; with `seconds` a film of one shot that long.

    Other films have 20 to 40 seconds in shots of 3 to 12 s, neighbours differing in motif and in light.
    """
    random = Random(f"{seed}\0{file}\0plan")
    rate = frame_rate if seconds else frame_rate * random.choice(_RATES)
    lengths = [seconds] if seconds else _shot_lengths(random, random.uniform(20, 40))
    shots: list[FilmShot] = []
    previous = None
    lights = random.sample(MOODS, len(MOODS))
    for number, length in enumerate(lengths):
        chosen = motifs[0] if number == 0 else random.choice([motif for motif in motifs if motif is not previous])
        previous = chosen
        entry: Entry = "start" if number == 0 else random.choice(_ENTRIES)
        shots.append(
            FilmShot(
                first=shots[-1].end if shots else 0,
                frames=round(length * rate),
                motif=chosen(Random(f"{seed}\0{file}\0{number}"), lights[number % len(lights)]),
                entry=entry,
                blend=round(random.uniform(0.3, 0.6) * rate) if entry in ("fade", "dissolve") else 0,
                tone=random.choice(_TONES),
            )
        )
    return Film(file, rate, tuple(shots))


def _shot_lengths(random: Random, total: float) -> list[float]:
    lengths = []
    while total > 0:
        length = random.uniform(_SHORTEST, _LONGEST)
        if total - length < _SHORTEST:
            length = total if total <= _LONGEST else total / 2
        lengths.append(length)
        total -= length
    return lengths


def pictures(film: Film, view: View) -> Iterator[Picture]:
    """Every frame of a film, in order."""
    drawings = [shot.motif.paint(view) for shot in film.shots]

    def draw(number: int, frame: int) -> Picture:
        shot = film.shots[number]
        time = 2.0 if film.look == "frozen" else float((frame - shot.first) / film.frame_rate)
        return drawings[number].frame(time, time / float(shot.frames / film.frame_rate))

    for number, shot in enumerate(film.shots):
        after = film.shots[number + 1] if number + 1 < len(film.shots) else None
        for frame in range(shot.first, shot.end):
            picture = draw(number, frame)
            if frame < shot.first + shot.blend:
                other = functools.partial(draw, number - 1, frame)
                picture = _blended(picture, other, shot, frame)
            elif after and frame >= after.first - after.blend:
                picture = _blended(picture, functools.partial(draw, number + 1, frame), after, frame)
            yield np.right_shift(picture, 4, dtype=np.uint8) if film.look == "dark" else picture


def _blended(picture: Picture, other: functools.partial[Picture], entered: FilmShot, frame: int) -> Picture:
    """The picture as a transition shows it: darkened by a fade through black, or mixed with the other shot's."""
    distance = abs(frame + 0.5 - entered.first) / entered.blend
    weight = round(256 * (distance if entered.entry == "fade" else (1 + distance) / 2))
    mixed = picture.astype(np.uint16) * weight
    if entered.entry == "dissolve":
        mixed += other().astype(np.uint16) * (256 - weight)
    return (mixed >> 8).astype(np.uint8)


def make_film(film: Film, folder: Path, view: View) -> None:
    """Draw a film with its sound and put it into a folder; the file appears when it is complete.

    Raises:
        VttdataError: when ffmpeg cannot encode it.
    """
    workplace = folder / f".{film.file}.part"
    shutil.rmtree(workplace, ignore_errors=True)
    workplace.mkdir(parents=True)
    try:
        _write_tones(film, workplace / "tones.wav")
        picture_input = ("-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{view.width}x{view.height}")
        command = [ffmpeg_path(), "-v", "error", "-y", *picture_input, "-r", str(film.frame_rate), "-i", "pipe:0"]
        command += ["-i", "tones.wav", *_CODING, "film.mp4"]
        done = run(command, seconds=_ENCODE_SECONDS, folder=workplace, feed=functools.partial(_feed, film, view))
        if done.code or done.stopped:
            reason = done.stopped or done.stderr.strip().splitlines()[-1:] or "no reason given"
            raise VttdataError(f"ffmpeg cannot encode the generated video {film.file}: {reason}.")
        os.replace(workplace / "film.mp4", folder / film.file)
    finally:
        shutil.rmtree(workplace, ignore_errors=True)


def _feed(film: Film, view: View, descriptor: int) -> None:
    with os.fdopen(descriptor, "wb", closefd=False) as stream:
        for picture in pictures(film, view):
            stream.write(picture.data)


def _write_tones(film: Film, path: Path) -> None:
    """A tone for each shot, swelling and fading so that it does not click."""
    ends = [round(shot.end / film.frame_rate * _SAMPLE_RATE) for shot in film.shots]
    with wave.open(str(path), "wb") as stream:
        stream.setparams((1, 2, _SAMPLE_RATE, 0, "NONE", ""))
        for shot, (start, end) in zip(film.shots, itertools.pairwise([0, *ends]), strict=True):
            index = np.arange(end - start)
            swell = np.minimum(1, np.minimum(index, index[::-1]) / (0.05 * _SAMPLE_RATE))
            wave_form = 8000 * swell * np.sin(2 * math.pi * shot.tone / _SAMPLE_RATE * index)
            stream.writeframes(np.rint(wave_form).astype("<i2").tobytes())
