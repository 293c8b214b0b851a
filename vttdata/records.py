"""The records that travel between the rooms of vttdata: small frozen values, defined here once.

This module imports nothing of ours. Times are seconds as float64 counted from the container's start time, which is
what players show and what ``ffmpeg -ss`` takes; spans are half-open; frame indices are 0-based presentation order;
ratios are 0..1. An id depends on content or on an official id, never on order, path, time or machine.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Literal

Transition = Literal["start", "cut", "fade", "dissolve", "gradual"]

"""What an assessed caption is: ``system`` and ``human`` captions are ranked, the rest controls their assessor."""


@dataclasses.dataclass(frozen=True, slots=True)
class Span:
    """A given clip inside a source: half-open, in seconds. `video_id` is the official id where there is one."""

    start: float
    end: float
    video_id: str | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Candidate:
    """A video that somebody listed and nobody has fetched yet.

    `locator` is a URL, or a path relative to the folder that was listed. `stamp` changes when a local file does
    (size and modification time); it decides what is stale and reaches no table.
    """

    kind: Literal["file", "url"]
    locator: str
    source_id: str | None = None
    title: str | None = None
    category: str | None = None
    query: str | None = None
    licence: str | None = None
    spans: tuple[Span, ...] = ()
    stamp: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class Probe:
    """What a container says of itself, without decoding. Width and height are in display pixels after rotation."""

    container: str
    video_codec: str
    audio_codec: str | None
    pixel_format: str
    width: int
    height: int
    rotation: int
    frame_rate: float
    start_time: float
    container_seconds: float
    container_frames: int | None
    video_stream: int
    audio_stream: int | None


@dataclasses.dataclass(frozen=True, slots=True)
class Measure:
    """Facts that only decoding every frame shows. `scores` holds ratios, 0 best and 1 worst, by picture filter."""

    frames: int
    seconds: float
    first_frame_time: float
    variable_frame_rate: bool
    scores: Mapping[str, float]


HASH_SCHEME = "halves-1"
"""The name of what `vttdata.media.fingerprint` computes; fingerprints of another scheme cannot be compared with it."""

HASHES_PER_SECOND = 2
"""How often a fingerprint looks at its source. Of edited copies of 4-45 s, 16 % met in no sample at 1 a second, 7 % at
2, and 2 % at 4, which takes twice the room."""


@dataclasses.dataclass(frozen=True, slots=True)
class Fingerprint:
    """What a source shows, half second by half second, for finding copies; see `vttdata.media.fingerprint`.

    `hash_scheme` names how it was computed; `hashes` is base64 of 16 bytes a sample: two big-endian 64-bit words, of
    the upper and the lower half of the picture, 0 where there is nothing to see.
    """

    hash_scheme: str
    hashes: str


@dataclasses.dataclass(frozen=True, slots=True)
class Source:
    """An original video. `file` is relative to the listed folder (`stored="listed"`) or the build's (`"fetched"`).

    Of one that annotations name and nobody has seen (`"nowhere"`), `file`, `sha256` and `bytes` are empty;
    `stated_seconds` is its duration as annotations state it.
    """

    source_id: str
    file: str
    stored: Literal["listed", "fetched", "nowhere"]
    sha256: str
    bytes: int
    url: str | None = None
    title: str | None = None
    uploader: str | None = None
    category: str | None = None
    query: str | None = None
    licence: str | None = None
    format: str | None = None
    spans: tuple[Span, ...] = ()
    probe: Probe | None = None
    measure: Measure | None = None
    stated_seconds: float | None = None
    fingerprint: Fingerprint | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Shot:
    """One shot of a source: half-open in seconds, inclusive in frames. `transition` says how it begins.

    `dark` is its share of nearly black frames, `motion` the mean change between its frames (0..1), `colours` its mean
    colour histogram: three channels of equally many bins, each summing to 1.
    """

    source_id: str
    index: int
    start: float
    end: float
    first_frame: int
    last_frame: int
    transition: Transition
    dark: float = 0.0
    motion: float = 0.0
    colours: tuple[float, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class ClipMedia:
    """A clip's own file: name relative to the dataset folder, and facts checked by decoding, unless it was given."""

    video: str
    sha256: str
    bytes: int
    frames: int | None = None
    seconds: float | None = None
    width: int | None = None
    height: int | None = None
    audio_seconds: float | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Clip:
    """What gets captioned. `first_frame` and `last_frame` index the source's frames; `shots` counts its shots.

    A clip whose span came from a list, not from shots, has no frame indices: there only the seconds are known. The
    shots of a clip that official annotations name are unknown too.
    """

    video_id: str
    source_id: str
    start: float
    end: float
    first_frame: int | None
    last_frame: int | None
    shots: int | None
    url: str | None = None
    category: str | None = None
    query: str | None = None
    media: ClipMedia | None = None
    split: str | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Caption:
    """One sentence about one clip. `author` is ``human`` or a system's name."""

    video_id: str
    sen_id: int
    caption: str
    annotator: str | None = None
    language: str = "en"
    author: str = "human"


@dataclasses.dataclass(frozen=True, slots=True)
class Concepts:
    """The annotated concepts of a clip's sentence, mention by mention: which object, its class, its word.

    Objects are numbered from 0 within the clip, and several mentions may share one; words by their place in `tokens`.
    """

    video_id: str
    tokens: tuple[str, ...]
    objects: tuple[int, ...]
    classes: tuple[str, ...]
    token_indices: tuple[int, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Degraded:
    """A caption made worse on purpose, and how; `caption` is None where that could not be done, and `flag` says why.

    `words` words of `original` from word `start` on gave way to words of the donor from its word `donor_start` on;
    words are what white space separates, counted from 0. `generator` names what computed it and `variant` the rules.
    """

    video_id: str
    sen_id: int
    caption: str | None
    original: str
    start: int | None
    words: int | None
    donor_video_id: str | None
    donor_sen_id: int | None
    donor_start: int | None
    variant: str
    generator: str
    seed: int
    flag: str | None = None


JudgmentKind = Literal["system", "repeat", "human", "degraded", "reference"]


@dataclasses.dataclass(frozen=True, slots=True)
class Judgment:
    """One assessor's score of one caption of one video, 0 worst to 100 best: what Direct Assessment collects.

    `item` names the question within its HIT, `position` is its place there from 0. `system` wrote the caption; of a
    control item it is the system whose caption was repeated, degraded or, with ``reference``, replaced by a human one.
    A ``human`` caption is judged as a system of its own. `seconds` is the time spent on this item, where it is known.
    """

    hit: str
    worker: str
    item: str
    video_id: str
    system: str
    kind: JudgmentKind
    score: float
    position: int = 0
    seconds: float | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class CaptionScore:
    """What assessors gave one system's caption of one video, averaged: `raw` of 0..100, `z` standardised by worker.

    `assessments` counts what was averaged. `campaign` and `hit` say where published scores come from, `sen_id` which
    caption of the video was judged.
    """

    video_id: str
    system: str
    raw: float
    z: float
    assessments: int
    campaign: str = ""
    hit: str | None = None
    sen_id: int | None = None
