"""Find what mentions withdrawn items in files that vttdata does not change, so that their owners can."""

from __future__ import annotations

import os
import shlex
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from vttdata.dataset.parquet import open_parquet
from vttdata.dataset.replace_folder import DATASET
from vttdata.dataset.stimuli import STIMULI
from vttdata.dataset.tombstones import Tombstones
from vttdata.errors import VttdataError
from vttdata.evaluate.report import EVALUATION
from vttdata.export.files import EXPORT
from vttdata.files.own_folder import FileChanges, FolderKind, find_own_folder
from vttdata.ids import VIDEO_EXTENSIONS
from vttdata.json_types import JsonObject, strings_in
from vttdata.load.local_builds import ACCOUNT, STAMP
from vttdata.people.campaign import CAMPAIGN, DATABASE, UNITS
from vttdata.pipeline.journal import JOURNAL
from vttdata.pipeline.withdrawn_results import PINS
from vttdata.report.build_report import REPORT

_PACKED = (".zip", ".gz", ".tar", ".xz", ".bz2", ".7z", ".zst", ".sqlite", ".sqlite3", ".db")
_PICTURES = (".jpg", ".jpeg", ".png", ".webp", ".wav")
# Files of which each line stands for itself.
_LINES = (".txt", ".md", ".csv", ".tsv", ".jsonl", ".log")
_PASSED_OVER = "not looked into"
# Description of a folder of the cache of `datasets`.
_ABOUT = "dataset_info.json"
# Shorter texts are in other texts by chance.
_MIN_LETTERS = 16
_ROWS = 20_000
_MAX_BINARY_BYTES, _MAX_LINE_BYTES = 2**26, 2**24
_BUILD = (
    *(ACCOUNT, JOURNAL, STAMP, REPORT, f"{PINS}*.jsonl", "stages/*/*.parquet", "stages/*/*.json"),
    *("stages/*/parts/*.jsonl", "stages/*/items/*.jsonl", "media/scenes/*.csv", "media/scenes/truth.json"),
)
_KINDS = (
    DATASET,
    EXPORT,
    STIMULI,
    EVALUATION,
    FolderKind("a campaign", CAMPAIGN, lambda _: (CAMPAIGN, UNITS, DATABASE)),
    FolderKind(
        "a build",
        ACCOUNT,
        lambda folder: [path.relative_to(folder).as_posix() for name in _BUILD for path in folder.glob(name)],
    ),
)


@dataclass(frozen=True, slots=True)
class Trace:
    """Place that mentions what is withdrawn.

    Fields:
        path: file or folder.
        where: ``line 3``, ``row 7`` (both from 1), ``name``, or ``not looked into`` for packed files.
        command: that removes it, or in words what does.
    """

    path: Path
    where: str
    command: str

    def __str__(self) -> str:
        return f"{self.path}, {self.where}; {self.command}"

    def as_json(self) -> JsonObject:
        """Return plain values."""
        return {"file": str(self.path), "where": self.where, "command": self.command}


def find_traces(
    places: Iterable[Path], tombstones: Tombstones, texts: Collection[str], changes: FileChanges
) -> Iterator[Trace]:
    """Yield traces of ids, addresses and file names, and of whole texts, in files and folders, but not behind links.

    Files and folders that a dry run would change are left out. Tables that `datasets` prepared are looked through as
    well, wherever they are from.
    """
    # It takes a second to import.
    from datasets import config

    long_texts = [text for text in texts if len(text) >= _MIN_LETTERS]
    changed = {path for path, _ in changes.files}
    for place in dict.fromkeys(places):
        for path in [place] if place.is_file() else _files_below(place):
            is_own = not changed.isdisjoint((path, *path.parents))
            if not is_own or not (changes.is_dry_run or path.suffix.lower() in _PACKED):
                for trace in _traces_in(path, path.relative_to(place.parent), tombstones, long_texts):
                    own = find_own_folder(path, _KINDS) if trace.where != _PASSED_OVER else None
                    advice = f"vttdata wrote it: make {own} again, or delete that as a whole"
                    yield trace if own is None else replace(trace, command=advice)
    for path in sorted(Path(config.HF_DATASETS_CACHE).rglob("*.arrow")):
        if any(True for _ in _traces_in(path, Path(), tombstones, long_texts)):
            others = [each.name for each in path.parent.iterdir() if not each.match("*.arrow") and each.name != _ABOUT]
            removal = f"rm -r {shlex.quote(str(path.parent))}"
            if others:
                removal = f"move {', '.join(map(repr, sorted(others)))} out of it, then {removal}"
            yield Trace(path.parent, "prepared tables", removal)


def _files_below(folder: Path) -> Iterator[Path]:
    for parent, folders, names in os.walk(folder):
        folders.sort()
        yield from (Path(parent, name) for name in sorted(names))


def _traces_in(path: Path, name: Path, tombstones: Tombstones, texts: Collection[str]) -> Iterator[Trace]:
    removal = f"rm {shlex.quote(str(path))}"
    if any(tombstones.mention(part) for part in name.parts):
        yield Trace(path, "name", removal)
        return
    suffix = path.suffix.lower()
    if path.is_symlink() or not path.is_file() or suffix in (*VIDEO_EXTENSIONS, *_PICTURES):
        return
    if suffix in _PACKED:
        yield Trace(path, _PASSED_OVER, "unpack it to see")
    elif suffix == ".parquet":
        yield from _traces_in_rows(path, tombstones, texts)
    else:
        numbers = []
        with path.open("rb") as stream:
            is_text = b"\0" not in stream.peek(2**12)
            if not is_text and path.stat().st_size > _MAX_BINARY_BYTES:
                yield Trace(path, _PASSED_OVER, "it is no text, and large")
                return
            for number, line in enumerate(iter(lambda: stream.readline(_MAX_LINE_BYTES), b""), 1):
                text = line.decode("utf-8", "replace")
                if tombstones.mention(text) or any(each in text for each in texts):
                    numbers.append(number)
        if numbers and not is_text:
            yield Trace(path, "content", removal)
        elif numbers:
            lines = ";".join(f"{number}d" for number in numbers)
            by_hand = "take it out by hand: without these lines, the file may be damaged"
            removal = f"sed -i '{lines}' {shlex.quote(str(path))}" if suffix in _LINES else by_hand
            where = f"line {', '.join(map(str, numbers[:5]))}{' and others' if len(numbers) > 5 else ''}"
            yield Trace(path, where, removal)


def _traces_in_rows(path: Path, tombstones: Tombstones, texts: Collection[str]) -> Iterator[Trace]:
    number = 0
    try:
        with open_parquet(path) as file:
            for batch in file.iter_batches(_ROWS):
                for row in batch.to_pylist():
                    number += 1
                    if any(tombstones.mention(text) or text in texts for text in strings_in(row)):
                        yield Trace(path, f"row {number}", f"rm {shlex.quote(str(path))}")
                        return
    except VttdataError:
        yield Trace(path, _PASSED_OVER, "it is damaged")
