"""Read predictions from the logs of evaluation harnesses that ran a task of `vttdata.export`.

A task logs, with each item, a row that has the id of the item and what was answered: of lmms-eval in the samples that
``--log_samples`` writes, under the name of each metric; of inspect_ai in the metadata of the score.
"""

from __future__ import annotations

import io
import json
import struct
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from vttdata.errors import VttdataError
from vttdata.files.reading import ZIP_ERRORS, refuse_special
from vttdata.files.tables import JSON_LINES, open_text, read_table
from vttdata.json_types import Row

_IDS = ("video_id", "question_id", "foil_id")
_SAMPLE_OF_LMMS_EVAL = ("doc_id", "filtered_resps")
_INSPECT = ".eval"
# Method and size of a local file header of ZIP (APPNOTE.TXT, sections 4.4.5 and 4.3.7).
_ZSTANDARD, _LOCAL_HEADER_BYTES = 93, 30
_MAX_SAMPLE_BYTES = 2**28
_NOT_INSPECT = (*ZIP_ERRORS, pa.ArrowException, struct.error, ValueError, RecursionError, OSError)
# What is read of a file to tell whether it is a log; inspect_ai writes the version and status of a log first.
_BEGINNING_CHARACTERS = 200


def is_harness_log(path: Path) -> bool:
    """Return whether a file is a log of inspect_ai (``.eval``, ``.json``) or samples of lmms-eval (``.jsonl``).

    Raises:
        VttdataError: if it cannot be read.
    """
    suffix = path.suffix.lower()
    if suffix == _INSPECT:
        return True
    if suffix == ".json":
        with open_text(path) as stream:
            beginning = "".join(stream.read(_BEGINNING_CHARACTERS).split())
        return beginning.startswith('{"version":') and '"status":' in beginning
    if suffix not in JSON_LINES:
        return False
    with open_text(path) as stream:
        first = next((line for line in stream if line.strip()), "")
    try:
        row = json.loads(first)
    except (ValueError, RecursionError):
        return False
    return isinstance(row, dict) and all(name in row for name in _SAMPLE_OF_LMMS_EVAL)


def read_harness_log(path: Path) -> Iterator[tuple[int, Row]]:
    """Yield the number and the logged row of each sample; of an incomplete run, of those that were scored.

    Raises:
        VttdataError: if the log cannot be read, or a sample is not of a task of `vttdata.export`.
    """
    yield from ((number, row) for number, _, row in _read_epochs(path))


def split_epochs(path: Path) -> list[list[Row]]:
    """Return the logged rows of each epoch of a log in which samples were answered several times, else nothing.

    Raises:
        VttdataError: as `read_harness_log`.
    """
    if path.suffix.lower() in JSON_LINES or not is_harness_log(path):
        return []
    epochs: dict[int, list[Row]] = {}
    for _, epoch, row in _read_epochs(path):
        epochs.setdefault(epoch, []).append(row)
    return [epochs[epoch] for epoch in sorted(epochs)] if len(epochs) > 1 else []


def how_to_complete(path: Path) -> str:
    """Return the command that goes on with an incomplete run, by its log, and what it does; empty for other files."""
    suffix = path.suffix.lower()
    if suffix in JSON_LINES or not path.is_file() or not is_harness_log(path) or _status(path) == "success":
        return ""
    return f"'inspect eval-retry {path}' goes on with the run, which is not complete"


def _read_epochs(path: Path) -> Iterator[tuple[int, int, Row]]:
    """Yield the number, the epoch and the logged row of each sample."""
    is_lines, hint = path.suffix.lower() in JSON_LINES, None
    for number, sample in read_table(path) if is_lines else enumerate(_inspect_samples(path), 1):
        places = sample.values() if is_lines else _metadata(sample)
        row = next((place for place in places if isinstance(place, dict) and set(_IDS) & place.keys()), None)
        if row is not None:
            yield number, int(sample.get("epoch") or 1), row
            continue
        hint = how_to_complete(path) if hint is None else hint
        if not hint:
            raise VttdataError(
                f"{path}:{number}: the sample has no answer that a task of 'vttdata export' logged; was it scored?"
            )


def _status(path: Path) -> object:
    """Return the status of a log of inspect_ai; one whose run is under way, or was killed, has none in its archive."""
    if path.suffix.lower() != _INSPECT:
        with open_text(path) as stream:
            return json.load(stream).get("status")
    try:
        with zipfile.ZipFile(path) as archive:
            header = {member.filename: member for member in archive.infolist()}.get("header.json")
            return json.loads(_read_member(path, archive, header)).get("status") if header is not None else None
    except _NOT_INSPECT as error:
        raise VttdataError(f"{path}: is no log of inspect_ai, or damaged.") from error


def _metadata(sample: Mapping[str, Any]) -> Iterable[object]:
    scores = sample.get("scores")
    return [score.get("metadata") for score in scores.values() if isinstance(score, dict)] if scores else []


def _inspect_samples(path: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the samples of a log of inspect_ai."""
    if path.suffix.lower() != _INSPECT:
        with open_text(path) as stream:
            yield from _objects(path, json.load(stream).get("samples"))
        return
    refuse_special(path)
    try:
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                if member.filename.startswith("samples/") and member.filename.endswith(".json"):
                    yield from _objects(path, [json.loads(_read_member(path, archive, member))])
    except _NOT_INSPECT as error:
        raise VttdataError(f"{path}: is no log of inspect_ai, or damaged.") from error


def _read_member(path: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """Return the content of a member, also of one in Zstandard, which `zipfile` reads from Python 3.14 on."""
    if member.compress_type != _ZSTANDARD:
        return archive.read(member)
    with path.open("rb") as stream:
        stream.seek(member.header_offset)
        name_bytes, extra_bytes = struct.unpack("<26x2H", stream.read(_LOCAL_HEADER_BYTES))
        stream.seek(name_bytes + extra_bytes, io.SEEK_CUR)
        packed = stream.read(member.compress_size)
    with pa.CompressedInputStream(pa.BufferReader(packed), "zstd") as unpacked:
        return bytes(unpacked.read(_MAX_SAMPLE_BYTES))


def _objects(path: Path, samples: object) -> Iterator[Mapping[str, Any]]:
    if not isinstance(samples, list) or not all(isinstance(sample, dict) for sample in samples):
        raise VttdataError(f"{path}: the log has no samples.")
    yield from samples
