"""Tables of what official annotations say, and stages that find the files of their videos.

Nothing is rejected; irregularities in the files are rows of the table `findings`.
"""

from __future__ import annotations

import dataclasses
import errno
import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from vttdata.annotations import Finding, Findings
from vttdata.annotations.trecvid.id_offsets import OffsetScan
from vttdata.collect.video_list import MISSING, file_stamp
from vttdata.errors import MACHINE_ERRORS, DescribeOSErrors, disk_error_halt
from vttdata.ids import VIDEO_EXTENSIONS, is_safe_id
from vttdata.pipeline.stage import Kept, Outcome, RecordTable, Stage, runtime
from vttdata.records import Caption, CaptionScore, Clip, ClipMedia, Concepts, QueryWindows, Source, VideoQuestion

Record = TypeVar("Record", Clip, Source)

# Hashing a large video on a slow disk takes minutes.
_HASHING_SECONDS = 600.0


SOURCES = RecordTable("originals", Source)
CLIPS = RecordTable("annotated", Clip, "video_id")
CAPTIONS = RecordTable("sentences", Caption, "video_id")
CONCEPTS = RecordTable("concepts", Concepts, "video_id")
QUESTIONS = RecordTable("questions", VideoQuestion, "video_id")
MOMENTS = RecordTable("moments", QueryWindows, "video_id")
SCORES = RecordTable("scores", CaptionScore, "video_id")
ALIGNMENT = RecordTable("alignment", OffsetScan)
FINDINGS = RecordTable("findings", Finding)


@dataclass(frozen=True, slots=True)
class RecordFile(Generic[Record]):
    """Clip or source with the name of its file and a stamp of its state; without a file the name is None."""

    record: Record
    file: str | None
    stamp: str


@dataclass(frozen=True)
class RecordFiles(Stage[RecordFile[Record], Record]):
    """Checksums of the files of records; a record without a readable file is kept as it is."""

    part_size = 64

    folder: Path = runtime()

    def item_id(self, item: RecordFile[Record]) -> str:
        """Return the record's id."""
        return _id(item.record)

    def seconds_limit(self, item: RecordFile[Record]) -> float:  # noqa: ARG002
        """Return the time that reading a large file may take."""
        return _HASHING_SECONDS

    def unchanged(self, record: Record) -> bool:
        """Check the content of the record's file."""
        if isinstance(record, Clip):
            known = (Path(record.media.video).name, record.media.sha256, record.media.bytes) if record.media else None
        else:
            known = (record.file, record.sha256, record.bytes) if record.stored == "listed" else None
        return known is None or _checksum(self.folder, known[0]) == known[1:]


@dataclass(frozen=True)
class ClipFiles(RecordFiles[Clip]):
    """Checksums of the files of clips."""

    name = "clip_files"
    output = Clip
    id_column = "video_id"

    def process(self, item: RecordFile[Clip]) -> Iterator[Outcome[Clip]]:
        """Keep the clip, with its file where that can be read."""
        checksum = _checksum(self.folder, item.file)
        media = checksum and ClipMedia(f"videos/{item.file}", *checksum)
        yield Kept(dataclasses.replace(item.record, media=media))


@dataclass(frozen=True)
class SourceFiles(RecordFiles[Source]):
    """Checksums of the files of sources."""

    name = "source_files"
    output = Source

    def process(self, item: RecordFile[Source]) -> Iterator[Outcome[Source]]:
        """Keep the source, with its file where that can be read."""
        checksum = _checksum(self.folder, item.file)
        if checksum is None or item.file is None:
            yield Kept(item.record)
        else:
            sha256, size = checksum
            yield Kept(dataclasses.replace(item.record, stored="listed", file=item.file, sha256=sha256, bytes=size))


def _id(record: Clip | Source) -> str:
    return record.video_id if isinstance(record, Clip) else record.source_id


def _checksum(folder: Path, name: str | None) -> tuple[str, int] | None:
    """Return the SHA-256 and the size of a file in bytes; None if there is none that can be read.

    Raises:
        HaltError: when a file that was listed is gone, or the machine cannot read it at the moment.
    """
    if name is None:
        return None
    try:
        with (folder / name).open("rb") as stream:
            sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
            return sha256, stream.tell()
    except OSError as error:
        if error.errno in MACHINE_ERRORS | {errno.ENOENT}:
            raise disk_error_halt(error, name) from error
        return None


def find_record_files(folder: Path, records: Iterable[Record]) -> Iterator[RecordFile[Record]]:
    """Yield each record with its file ``<id>.<extension of a video>`` in a folder; of several the first by name.

    Raises:
        VttdataError: when the folder cannot be read.
    """
    names: dict[str, str] = {}
    with DescribeOSErrors(f"{folder}: cannot be read"):
        listed = sorted(path.name for path in folder.iterdir() if path.is_file())
    for name in listed:
        stem, dot, extension = name.rpartition(".")
        if dot and is_safe_id(name) and f".{extension.lower()}" in VIDEO_EXTENSIONS:
            names.setdefault(stem, name)
    for record in records:
        file = names.get(_id(record))
        yield RecordFile(record, file, file_stamp(folder / file) if file is not None else MISSING)


def missing_files(records: Iterable[Clip | Source]) -> tuple[Finding, ...]:
    """Return a finding with the ids of all records that have no file; nothing when all have one."""
    findings = Findings()
    for record in records:
        if record.media is None if isinstance(record, Clip) else record.stored == "nowhere":
            findings.add("missing_file", "videos", _id(record))
    return findings.result()
