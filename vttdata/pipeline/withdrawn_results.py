"""Take what was withdrawn from a dataset out of its build folder: media, stored results, tables of stages, logs.

Only files that stages and builds write are touched; media are removed where a table of a stage names them with their
checksum. Doing it again changes nothing, so that whoever was interrupted begins again.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from vttdata.dataset.parquet import open_parquet
from vttdata.dataset.tombstones import Tombstones
from vttdata.files.output_file import write_whole
from vttdata.files.own_folder import FileChanges
from vttdata.files.reading import file_sha256
from vttdata.json_types import strings_in
from vttdata.load.local_builds import ACCOUNT, STAMP, read_account
from vttdata.partial_file import partial_file
from vttdata.pipeline.journal import JOURNAL, write_json
from vttdata.pipeline.stored_results import remove_results

PINS = "pins-"
"""Beginning of the names of files of earlier splits, which may be in a build folder before the build."""

_ROWS = 20_000


def remove_withdrawn_results(build: Path, tombstones: Tombstones, changes: FileChanges) -> None:
    """Remove from a build folder what tombstones cover, but not from its dataset and its report.

    Raises:
        OSError: when a file cannot be written.
        VttdataError: when a table is damaged.
    """
    before = len(changes.files)
    tables = sorted(build.glob("stages/*/*.parquet"))
    # As long as the tables name them.
    _remove_media(build, tombstones, dict(_listed_files(tables, tombstones)), changes)
    for results in sorted([*build.glob("stages/*/parts/*.jsonl"), *build.glob("stages/*/items/*.jsonl")]):
        remove_results(results, tombstones.cover_tree, changes)
    for path in tables:
        _filter_table(path, tombstones, changes)
    for unfinished in [*build.glob("stages/*/parts/*.tmp"), *build.glob("stages/*/*.parquet.tmp")]:
        if changes.note(unfinished, "removed"):
            unfinished.unlink()
    account = read_account(build) or {}
    is_named = any(map(tombstones.mention, strings_in(account.get("audit"))))
    if is_named and changes.note(build / ACCOUNT, "changed"):
        # Whoever needs an audit makes one of the dataset as it is.
        write_json(build / ACCOUNT, {name: value for name, value in account.items() if name != "audit"})
    for path in [build / JOURNAL, *sorted(build.glob(f"{PINS}*.jsonl"))]:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True) if path.is_file() else []
        kept = [line for line in lines if not _is_gone(line, tombstones)]
        if len(kept) < len(lines) and changes.note(path, "changed"):
            write_whole(path, "".join(kept))
    stamp = build / STAMP
    if len(changes.files) > before and stamp.is_file() and changes.note(stamp, "removed"):
        # What a build trusts where nothing seems to have changed.
        stamp.unlink()


def _listed_files(tables: list[Path], tombstones: Tombstones) -> Iterator[tuple[str, str]]:
    """Yield the name and the SHA-256 of each file that a row of what was withdrawn lists."""
    for path in tables:
        with open_parquet(path) as file:
            for batch in file.iter_batches(_ROWS):
                for row in batch.to_pylist():
                    if tombstones.cover_tree(row):
                        yield from _files_in(row)


def _files_in(value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        name, sha256 = value.get("file"), value.get("sha256")
        if isinstance(name, str) and isinstance(sha256, str):
            yield Path(name).name, sha256
        for item in value.values():
            yield from _files_in(item)


def _remove_media(build: Path, tombstones: Tombstones, listed: Mapping[str, str], changes: FileChanges) -> None:
    for path in sorted(build.glob("media/**/*")):
        name = path.relative_to(build).as_posix()
        if path.is_symlink() or not path.is_file():
            continue
        if path.name in listed:
            changes.remove(build, name, listed[path.name])
        elif tombstones.covers(path.stem):
            # Features that a stage computes again, and files that a stage was killed at.
            is_derived = name.startswith("media/features/") or path.suffix == ".part"
            digest = file_sha256(path)
            if is_derived or tombstones.covers(digest, ("file",)):
                changes.remove(build, name, digest)


def _filter_table(path: Path, tombstones: Tombstones, changes: FileChanges) -> None:
    with open_parquet(path) as file:
        keep = [not tombstones.cover_tree(row) for batch in file.iter_batches(_ROWS) for row in batch.to_pylist()]
        table = file.read()
    if all(keep):
        return
    # The table is not that of the stored results any more, from which the next build writes it.
    if (state := path.with_name("stage.json")).is_file() and changes.note(state, "removed"):
        state.unlink()
    if changes.note(path, "changed"):
        with partial_file(path) as partial:
            pq.write_table(table.filter(pa.array(keep)), partial)


def _is_gone(line: str, tombstones: Tombstones) -> bool:
    with contextlib.suppress(ValueError):
        if tombstones.cover_tree(json.loads(line)):
            return True
    return tombstones.mention(line)
