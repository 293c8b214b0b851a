"""Stages for official annotations: what their files say becomes tables, and files of videos are looked for.

They keep everything; what is odd is a row of the table `findings`.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from vttdata.annotations import Finding, Findings
from vttdata.annotations.trecvid.id_offsets import OffsetScan
from vttdata.collect.folder import EXTENSIONS, file_stamp
from vttdata.errors import VttdataError
from vttdata.ids import is_safe_id
from vttdata.pipeline.stage import Kept, Outcome, Stage, runtime
from vttdata.records import Caption, CaptionScore, Clip, ClipMedia, Concepts, Source

_PATIENCE_SECONDS = 600.0


@dataclass(frozen=True)
class Originals(Stage):
    """The videos that official files are about."""

    name = "originals"
    output = Source
    all_at_once = True

    def process(self, item: tuple[Source, ...]) -> Iterator[Outcome]:
        """Keep them all."""
        return map(Kept, item)


@dataclass(frozen=True)
class Annotated(Stage):
    """The clips that official files list."""

    name = "annotated"
    output = Clip
    id_column = "video_id"
    all_at_once = True

    def process(self, item: tuple[Clip, ...]) -> Iterator[Outcome]:
        """Keep them all."""
        return map(Kept, item)


@dataclass(frozen=True)
class Sentences(Stage):
    """The sentences that official files hold."""

    name = "sentences"
    output = Caption
    id_column = "video_id"
    all_at_once = True

    def process(self, item: tuple[Caption, ...]) -> Iterator[Outcome]:
        """Keep them all."""
        return map(Kept, item)


@dataclass(frozen=True)
class ConceptRows(Stage):
    """The annotated concepts that official files hold."""

    name = "concepts"
    output = Concepts
    id_column = "video_id"
    all_at_once = True

    def process(self, item: tuple[Concepts, ...]) -> Iterator[Outcome]:
        """Keep them all."""
        return map(Kept, item)


@dataclass(frozen=True)
class Scores(Stage):
    """What people gave captions, as official files hold it."""

    name = "scores"
    output = CaptionScore
    id_column = "video_id"
    all_at_once = True

    def process(self, item: tuple[CaptionScore, ...]) -> Iterator[Outcome]:
        """Keep them all."""
        return map(Kept, item)


@dataclass(frozen=True)
class Alignment(Stage):
    """How the ids of scores were matched with captions."""

    name = "alignment"
    output = OffsetScan
    all_at_once = True

    def process(self, item: tuple[OffsetScan, ...]) -> Iterator[Outcome]:
        """Keep them all."""
        return map(Kept, item)


@dataclass(frozen=True)
class OddThings(Stage):
    """What is odd in official files."""

    name = "findings"
    output = Finding
    all_at_once = True

    def process(self, item: tuple[Finding, ...]) -> Iterator[Outcome]:
        """Keep them all."""
        return map(Kept, item)


Named = TypeVar("Named", Clip, Source)


@dataclass(frozen=True, slots=True)
class Sought(Generic[Named]):
    """A clip or source whose file is looked for: the file's name, or None where there is none, and its stamp."""

    record: Named
    file: str | None
    stamp: str

    @property
    def id(self) -> str:
        """The id under which its file is looked for."""
        return _id(self.record)


@dataclass(frozen=True)
class ClipFiles(Stage):
    """Records the file of each clip; a clip without one is kept as it is."""

    name = "clip_files"
    output = Clip
    id_column = "video_id"
    part_size = 64

    folder: Path = runtime()

    def item_id(self, item: Sought[Clip]) -> str:
        """The clip's id."""
        return item.id

    def seconds_limit(self, item: Sought[Clip]) -> float:  # noqa: ARG002
        """Reading a file takes a while on a slow disk."""
        return _PATIENCE_SECONDS

    def process(self, item: Sought[Clip]) -> Iterator[Outcome]:
        """Keep the clip, with its file where that can be read."""
        found = _checksum(self.folder, item.file)
        media = found and ClipMedia(f"videos/{item.file}", *found)
        yield Kept(dataclasses.replace(item.record, media=media))


@dataclass(frozen=True)
class SourceFiles(Stage):
    """Records the file of each source; a source without one is kept as it is."""

    name = "source_files"
    output = Source
    part_size = 64

    folder: Path = runtime()

    def item_id(self, item: Sought[Source]) -> str:
        """The source's id."""
        return item.id

    def seconds_limit(self, item: Sought[Source]) -> float:  # noqa: ARG002
        """Reading a file takes a while on a slow disk."""
        return _PATIENCE_SECONDS

    def process(self, item: Sought[Source]) -> Iterator[Outcome]:
        """Keep the source, with its file where that can be read."""
        found = _checksum(self.folder, item.file)
        if found is None:
            yield Kept(item.record)
        else:
            sha256, size = found
            name = item.file or ""
            yield Kept(dataclasses.replace(item.record, stored="listed", file=name, sha256=sha256, bytes=size))


def _id(record: Clip | Source) -> str:
    return record.video_id if isinstance(record, Clip) else record.source_id


def _checksum(folder: Path, name: str | None) -> tuple[str, int] | None:
    """The SHA-256 and the size of a file, or None when there is none that can be read."""
    if name is None:
        return None
    try:
        with (folder / name).open("rb") as stream:
            sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
            return sha256, stream.tell()
    except OSError:
        return None


def look_for_files(folder: Path, records: Iterable[Named]) -> Iterator[Sought[Named]]:
    """Give each record the file ``<id>.<a video's extension>`` of a folder; of several the first by name.

    Raises:
        VttdataError: when the folder cannot be read.
    """
    names: dict[str, str] = {}
    try:
        listed = sorted(path.name for path in folder.iterdir() if path.is_file())
    except OSError as error:
        raise VttdataError(f"{folder}: cannot be read ({error.strerror or error}).") from error
    for name in listed:
        stem, dot, extension = name.rpartition(".")
        if dot and is_safe_id(name) and f".{extension.lower()}" in EXTENSIONS:
            names.setdefault(stem, name)
    for record in records:
        file = names.get(_id(record))
        yield Sought(record, file, file_stamp(folder / file) if file is not None else "missing")


def missing_files(records: Iterable[Clip | Source]) -> tuple[Finding, ...]:
    """A finding with the ids of all records for which no file was found; none when there are all."""
    findings = Findings()
    for record in records:
        if record.media is None if isinstance(record, Clip) else record.stored == "nowhere":
            findings.add("missing_file", "videos", _id(record))
    return findings.result()
