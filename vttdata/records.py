"""Records that travel between the subpackages of vttdata: small frozen values, from a listed video to judgments.

Times are seconds as float64 counted from the container's start time, which is what players show and what
``ffmpeg -ss`` takes; spans are half-open; frame indices are 0-based presentation order; ratios are 0..1. An id depends
on content or on an official id, never on order, path, time or machine. Each kind of record has flat table rows with an
Arrow schema.
"""

from __future__ import annotations

import dataclasses
import functools
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args, get_origin, get_type_hints, is_typeddict

from vttdata.json_types import Row

if TYPE_CHECKING:
    import pyarrow as pa

# Scheme of the fingerprints that `vttdata.media.fingerprint` computes; those of other schemes cannot be compared.
HASH_SCHEME = "halves-2"
HASHES_PER_SAMPLE = 4

# Samples of a fingerprint in a second. Of edited copies of 4-45 s, 16 % shared no sample at 1 a second, 7 % at 2, and
# 2 % at 4, which takes twice the space.
HASHES_PER_SECOND = 2

# Beginning of a shot.
Transition = Literal["start", "cut", "fade", "dissolve", "gradual"]

# Captions of kind ``system`` and ``human`` are ranked; the other kinds are controls of the assessor.
JudgmentKind = Literal["system", "repeat", "human", "degraded", "reference"]


_NO_KEYS: Mapping[str, Sequence[str]] = MappingProxyType({})


FieldOrder = Literal["progressive", "top_first", "bottom_first"]
"""Which field of its pictures a video shows first."""

INTERLACED: tuple[FieldOrder, ...] = ("top_first", "bottom_first")
"""Orders of fields of interlaced pictures."""

HDR_TRANSFERS = {"smpte2084": "PQ", "arib-std-b67": "HLG"}
"""Transfer functions of high dynamic range by ffmpeg's names, with their usual ones."""


@dataclasses.dataclass(frozen=True, slots=True)
class Span:
    """Clip that a list names inside a source: half-open, in seconds. `video_id` is its official id, if it has one."""

    start: float
    end: float
    video_id: str | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Candidate:
    """Video that is listed and not fetched yet.

    Fields:
        locator: URL, or path relative to the folder that was listed.
        query: search query that found it.
        spans: clips that the list names.
        stamp: size and modification time of a local file, so that a changed file makes results stale; not written to
            any table.
        uploaded: day on which it was published, YYYY-MM-DD, as the list states it.
        synthetic: whether a program made it, as the list states it.
    """

    kind: Literal["file", "url"]
    locator: str
    source_id: str | None = None
    title: str | None = None
    category: str | None = None
    query: str | None = None
    uploader: str | None = None
    licence: str | None = None
    spans: tuple[Span, ...] = ()
    stamp: str = ""
    uploaded: str | None = None
    synthetic: bool | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Probe:
    """Facts that a container states, without decoding.

    Fields:
        width, height: display pixels after rotation.
        rotation: degrees.
        frame_rate: frames per second; once measured, the mean of the decoded ones where the container states another.
        container_frames: number of frames, where the container states it.
        video_stream, audio_stream: indices of the streams; of the audio only where there is one.
        color_transfer, color_primaries, color_matrix: as the pictures state them, by ffmpeg's names; None where they
            do not.
        field_order: ``progressive``, ``top_first`` or ``bottom_first``, as the first picture is marked; None where it
            cannot be decoded.
        note: what is wrong with the file where it makes no difference: tracks that are not used, bytes that are
            announced and not needed; in words.
    """

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
    color_transfer: str | None
    color_primaries: str | None
    color_matrix: str | None
    field_order: str | None
    note: str | None


@dataclasses.dataclass(frozen=True, slots=True)
class Measure:
    """Facts that only decoding every frame shows. `scores` holds ratios, 0 best and 1 worst, by picture filter."""

    frames: int
    seconds: float
    first_frame_time: float
    variable_frame_rate: bool
    scores: Mapping[str, float]


@dataclasses.dataclass(frozen=True, slots=True)
class Fingerprint:
    """Hashes of what a source shows every half second, for finding copies; see `vttdata.media.fingerprint`.

    `hash_scheme` is the method that computed them. They are base64 of 32 bytes for each sample: four big-endian 64-bit
    words, of the upper and the lower half of the picture and of the transposed picture, 0 where there is nothing to
    see.
    """

    hash_scheme: str
    hashes: str


@dataclasses.dataclass(frozen=True, slots=True)
class Source:
    """Original video.

    Fields:
        file: path relative to the folder that `stored` tells.
        stored: ``listed`` (the listed folder), ``fetched`` (the build's folder), or ``nowhere`` for a video that
            annotations name and nobody has seen: its `file` and `sha256` are empty, its `bytes` 0.
        query: search query that found it.
        spans: clips that the list names.
        stated_seconds: duration as annotations state it.
        uploaded: day on which it was published, YYYY-MM-DD, as a list or the site states it.
        synthetic: whether a program made it, as a list states it; never guessed.
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
    uploaded: str | None = None
    synthetic: bool | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Shot:
    """Shot of a source: half-open in seconds, inclusive in frames.

    Fields:
        index: number of the shot in its source, from 0.
        transition: with which it begins.
        dark: share of nearly black frames.
        motion: mean change between its frames, 0..1.
        chroma: mean spread of colours that luma does not explain, in levels (0..255); small in grey and tinted ones.
        colours: mean colour histogram: three channels of equally many bins, each summing to 1.
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
    chroma: float = 0.0
    colours: tuple[float, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class ClipMedia:
    """File of a clip; `video` is its path relative to the dataset folder.

    What is checked by decoding (frames, seconds, size, length of the sound) is None for a file that was not cut here.
    """

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
    """Span of a source that gets captions.

    Fields:
        first_frame, last_frame: indices of the source's frames; None for a span from a list, where only seconds are
            known.
        shots: number of shots; None for a clip of official annotations.
        query: search query that found its source.
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

    def _repr_html_(self) -> str:
        """Return the clip's id, times and origin for a notebook."""
        from html import escape

        origin = escape(self.url or self.source_id)
        labels = escape(", ".join(filter(None, (self.split, self.category))))
        return (
            f"<p><code>{escape(self.video_id)}</code> {labels}<br>{self.start:.2f} to {self.end:.2f} s of {origin}</p>"
        )


@dataclasses.dataclass(frozen=True, slots=True)
class Caption:
    """Sentence about a clip.

    Fields:
        author: ``human``, or the name of a system.
        revision, prompt: of a system its revision, and the prompt or a digest of it.
        verified_by: person who checked it; None where nobody did.
    """

    video_id: str
    sen_id: int
    caption: str
    annotator: str | None = None
    language: str = "en"
    author: str = "human"
    revision: str | None = None
    prompt: str | None = None
    verified_by: str | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Concepts:
    """Annotated concepts of a clip's sentence, mention by mention.

    Fields:
        objects: of each mention its object, numbered from 0 within the clip; several mentions may share an object.
        classes: of each mention the class of its object.
        token_indices: of each mention its word, as index of `tokens`.
    """

    video_id: str
    tokens: tuple[str, ...]
    objects: tuple[int, ...]
    classes: tuple[str, ...]
    token_indices: tuple[int, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class QueryWindows:
    """Windows of a clip that a sentence is about, and how salient people find parts of them.

    Fields:
        sen_id: caption of the clip that is the sentence.
        starts, ends: of the windows, seconds in the clip, or in its source where annotators marked them.
        salient: parts of 2 s that were judged, counted from 0 at the start of the clip.
        saliency: judgments of the first part by each worker, then those of the second and so on, 0..4.
        annotators: number of the one who marked each window, where each marked one; empty where all windows are true.
    """

    video_id: str
    sen_id: int
    starts: tuple[float, ...]
    ends: tuple[float, ...]
    salient: tuple[int, ...] = ()
    saliency: tuple[int, ...] = ()
    annotators: tuple[int, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class VideoQuestion:
    """Question about a video with options to choose from, one of which is right.

    Fields:
        kind: how it is asked, such as ``multiple_choice``, ``yes_no`` or ``caption_matching``.
        options: 2 to 26 texts.
        labels: name of each option in the question as it is published, such as ``A`` or ``Option 1``.
        answer: index of the right option, from 0.
        group: what it shares with the questions that it belongs together with, such as a pair; None alone.
        type: what it asks about, as its benchmark names it; None without one.
        start, end: span of the video that it is about, seconds; None for all of it.
    """

    question_id: str
    video_id: str
    kind: str
    question: str
    options: tuple[str, ...]
    labels: tuple[str, ...]
    answer: int
    group: str | None = None
    type: str | None = None
    start: float | None = None
    end: float | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Degraded:
    """Degraded caption: words of the original, as of `vttdata.text.word_spans`, are replaced by words of a donor.

    Fields:
        caption: the degraded text; None where degrading was not possible.
        start, words: index of the first replaced word in the original, and number of replaced words.
        donor_video_id, donor_sen_id: caption that the new words come from.
        donor_start: index of their first word in it.
        generator: program that computed it.
        flag: reason why `caption` is None.
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


@dataclasses.dataclass(frozen=True, slots=True)
class Judgment:
    """Score that an assessor gave a caption of a video in Direct Assessment.

    Fields:
        item: id of the question within its HIT.
        system: author of the caption; of a control item the system whose caption was repeated, degraded or, with
            ``reference``, replaced by a human one. A ``human`` caption counts as one of a system of its own.
        score: 0 (worst) to 100 (best).
        position: number of the question within its HIT, from 0.
        seconds: time spent on this item, where it is known.
        shown: share of the video's length that was shown to the worker, 0..1, where it is known.
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
    shown: float | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class CaptionScore:
    """Mean score of a system's caption of a video over its assessments.

    Fields:
        raw: mean of scores, 0..100.
        z: mean of scores standardised by worker.
        campaign, hit: origin of published scores.
        sen_id: caption of the video that was judged.
    """

    video_id: str
    system: str
    raw: float
    z: float
    assessments: int
    campaign: str = ""
    hit: str | None = None
    sen_id: int | None = None


def to_row(record: object) -> Row:
    """Return a record as one flat table row: fields of nested records and keys of mappings are columns too."""
    layout = _layout(type(record))  # type: ignore[arg-type] # a class is hashable
    row = dict(zip(layout.names, layout.read(record)))  # noqa: B905 - any argument costs a third of the time
    if layout.is_flat:
        return row
    for name in layout.mappings:
        row |= row.pop(name)
    for name, columns in layout.nested.items():
        nested = row.pop(name)
        row |= dict.fromkeys(columns) if nested is None else to_row(nested)
    for name in layout.tuples:
        row[name] = [dataclasses.asdict(item) if dataclasses.is_dataclass(item) else item for item in row[name]]  # type: ignore[arg-type]
    return row


@dataclasses.dataclass(frozen=True, slots=True)
class _Layout:
    """Fields of a record, those whose values are mappings or tuples, and nested records with their columns.

    `read` returns the values of all fields, and the first one once more, so that it is a tuple of one field, too.
    """

    names: tuple[str, ...]
    read: Callable[[object], tuple[Any, ...]]
    mappings: tuple[str, ...]
    tuples: tuple[str, ...]
    nested: Mapping[str, Sequence[str]]
    is_flat: bool


@functools.cache
def _layout(record: type) -> _Layout:
    hints = _type_hints(record)
    names = tuple(field.name for field in dataclasses.fields(record))
    nested = {name: inner for name in names if (inner := _nested_record(hints[name])) is not None}
    mappings = tuple(name for name in names if get_origin(hints[name]) is Mapping)
    tuples = tuple(name for name in names if get_origin(hints[name]) is tuple)
    columns = {name: arrow_schema(inner).names for name, inner in nested.items()}
    read = operator.attrgetter(*names, names[0])
    return _Layout(names, read, mappings, tuples, columns, is_flat=not (mappings or tuples or nested))


@functools.cache
def _type_hints(record: type) -> Mapping[str, Any]:
    """Return the types of the fields of a record or of a typed dictionary, which are annotated as text."""
    return {name: hint for name, hint in get_type_hints(record).items() if get_origin(hint) is not ClassVar}


def _nested_record(hint: object) -> type | None:
    """Return the record class that a field's type is, optional or not; None for other types."""
    options = get_args(hint) if type(None) in get_args(hint) else (hint,)
    return next((option for option in options if isinstance(option, type) and dataclasses.is_dataclass(option)), None)


def arrow_schema(record: type, mapping_keys: Mapping[str, Sequence[str]] = _NO_KEYS) -> pa.Schema:
    """Return the Arrow schema of `to_row(record)`: int64, float64, string and bool columns, lists and structs.

    `mapping_keys` are, for each field that is a mapping to floats, its keys; each becomes a column in the field's
    place.
    """
    import pyarrow as pa

    return pa.schema(list(_arrow_fields(record, mapping_keys)))


def _arrow_fields(record: type, mapping_keys: Mapping[str, Sequence[str]]) -> Iterator[pa.Field]:
    import pyarrow as pa

    for name, hint in _type_hints(record).items():
        nested = _nested_record(hint)
        if get_origin(hint) is Mapping:
            yield from (pa.field(key, pa.float64()) for key in mapping_keys.get(name, ()))
        elif nested is not None:
            yield from _arrow_fields(nested, mapping_keys)
        else:
            yield pa.field(name, _arrow_type(hint))


def _arrow_type(hint: object) -> pa.DataType:
    import pyarrow as pa

    plain = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_(), bytes: pa.binary()}
    if hint in plain:
        return plain[hint]
    if isinstance(hint, type) and (dataclasses.is_dataclass(hint) or is_typeddict(hint)):
        return pa.struct(list(_arrow_fields(hint, _NO_KEYS)))
    if get_origin(hint) is Literal:
        return pa.string()
    options = [option for option in get_args(hint) if option not in (type(None), Ellipsis)]
    return pa.list_(_arrow_type(options[0])) if get_origin(hint) in (tuple, list) else _arrow_type(options[0])
