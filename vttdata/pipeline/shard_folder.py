"""Build folder as a shard holds it, beside other shards: it writes its own account and journal, and removes nothing."""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vttdata.errors import VttdataError, halt_on_disk_errors
from vttdata.files.reading import read_description
from vttdata.load.local_builds import ACCOUNT, read_account
from vttdata.pipeline.build_folder import SHARDS, Build, account_of, check_same_build, make_build_folder
from vttdata.pipeline.engine import Table
from vttdata.pipeline.executors import Executor
from vttdata.pipeline.journal import Journal, locked, write_json
from vttdata.pipeline.shards import BuildShard, ShardEngine, UnmergedError
from vttdata.pipeline.stage import Stage
from vttdata.recipe.load import Loaded
from vttdata.version import __version__

_ACCOUNT_NAME = re.compile(r"(\d{1,7})-of-(\d{1,7})\.json", re.ASCII)

# What all shards of a build have in common.
_COMMON = ("recipe", "recipe_file", "vttdata_version", "tools", "settings")


@dataclass(kw_only=True)
class ShardBuild(Build):
    """Build folder as a builder sees it that runs in a shard."""

    shard: BuildShard

    @property
    def dataset(self) -> Path:
        """Folder that people load, which shards do not write.

        Raises:
            UnmergedError: always.
        """
        raise UnmergedError("package")

    @property
    def is_alone(self) -> bool:
        """False, since other shards may be at work."""
        return False

    def keep_only(self, folder: Path, names: Iterable[str]) -> None:
        """Remove nothing; a merge does, once all clips are known."""

    def stage(
        self, stage: Stage, items: Iterable[Any], total: int | None = None, *, may_be_empty: bool = False
    ) -> Table:
        """Process the items of this shard; its counts are those of the shard, and it may keep nothing."""
        del may_be_empty
        table = self.engine.run(stage, items, total, self.step(stage.name))
        self.tables.append(table)
        if stage.shardable:
            self.describe("running")
            self.on_stage_done(table.tally.as_json())
        return table

    def describe(self, status: str) -> dict[str, Any]:
        """Write the account of this shard, and return it."""
        account = self.account(status) | {"shard": str(self.shard)}
        path = self.folder / SHARDS / f"{self.shard.number}-of-{self.shard.count}.json"
        write_json(path, account)
        return account


@contextlib.contextmanager
def open_shard(
    folder: Path,
    loaded: Loaded,
    executor: Executor,
    on_stage_done: Callable[[dict[str, Any]], None],
    shard: BuildShard,
    *,
    retry_failed: bool = False,
    quiet: bool = False,
    replace: bool = False,
) -> Iterator[ShardBuild]:
    """Hold a build folder together with other shards; the further arguments are those of `open_build`.

    With `replace`, a folder that holds a build of other settings is taken over; `on_stage_done` is called with each
    stage's entry in the account of the shard.

    Raises:
        VttdataError: when the folder holds something else or a build of other settings, or a build is at work in it.
        HaltError: when the disk is full or the folder cannot be written.
    """
    make_build_folder(folder)
    with halt_on_disk_errors(folder):
        (folder / SHARDS).mkdir(exist_ok=True)
        with locked(folder, shared=True):
            claim_folder(folder, loaded, replace=replace)
            journal_file = folder / SHARDS / f"{shard.number}-of-{shard.count}.jsonl"
            journal = Journal(journal_file)
            journal.note("shard", shard=str(shard), recipe=loaded.recipe.name, vttdata=__version__)
            engine = ShardEngine(folder / "stages", executor, journal, shard, retry_failed=retry_failed, quiet=quiet)
            run = ShardBuild(folder, loaded, engine, journal, on_stage_done, shard=shard)
            executor.prepare(journal_file)
            try:
                run.describe("running")
                yield run
            except BaseException:
                with contextlib.suppress(OSError):
                    run.describe("stopped")
                raise
            finally:
                executor.close()


def claim_folder(folder: Path, loaded: Loaded, *, replace: bool) -> None:
    """Write ``build.json`` if there is none, and check that it is of the same settings and tools, or write it anew.

    Raises:
        VttdataError: when it is not and it is not to be replaced, with the first difference.
    """
    account = account_of(loaded, "sharded")
    path = folder / ACCOUNT
    if not path.exists():
        # Of shards that start together, one writes the file, and none sees a part of it.
        with written_beside_shards(folder, account) as temporary:
            try:
                os.link(temporary, path)
            except FileExistsError:
                pass
            except OSError:
                # This disk has no links; what is written is the same in all shards.
                os.replace(temporary, path)
    present = read_account(folder) or {}
    difference = first_difference(present, account)
    if difference is None:
        return
    if not replace:
        check_same_build(folder, loaded)
        raise VttdataError(
            f"{folder}: holds a build of other settings ({difference}); name another folder with --out, or give this "
            "one to the new settings with --replace, for all shards."
        )
    with written_beside_shards(folder, account) as temporary:
        os.replace(temporary, path)
    for shard_file, _, other in shard_accounts(folder):
        if first_difference(other, account) is not None:
            shard_file.unlink(missing_ok=True)


@contextlib.contextmanager
def written_beside_shards(folder: Path, account: dict[str, Any]) -> Iterator[Path]:
    """Write an account to a file of its own in the folder of shards, and remove the file at the end."""
    path = folder / SHARDS / f"{secrets.token_hex(8)}.account"
    write_json(path, account)
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)


def first_difference(before: dict[str, Any], after: dict[str, Any]) -> str | None:
    """Return the first thing in which two accounts of shards differ, such as ``clips.max_seconds: 30, not 20``."""
    differences = (_difference(before.get(key), after.get(key), key) for key in _COMMON)
    first = next(filter(None, differences), None)
    return first and first.removeprefix("settings.")


def _difference(before: Any, after: Any, name: str) -> str | None:
    if isinstance(before, dict) and isinstance(after, dict):
        pairs = ((before.get(key), after.get(key), f"{name}.{key}") for key in sorted({*before, *after}))
        return next(filter(None, (_difference(*pair) for pair in pairs)), None)
    # Accounts are JSON, in which a tuple is a list.
    if json.loads(json.dumps(before)) == json.loads(json.dumps(after)):
        return None
    return f"{name}: {json.dumps(before)[:60]}, not {json.dumps(after)[:60]}"


def shard_accounts(folder: Path) -> list[tuple[Path, BuildShard, dict[str, Any]]]:
    """Return the accounts of the shards that worked in a build folder, the latest last."""
    found = []
    for path in (folder / SHARDS).glob("*.json"):
        match = _ACCOUNT_NAME.fullmatch(path.name)
        try:
            account = json.loads(read_description(folder, f"{SHARDS}/{path.name}")) if match else None
        except (ValueError, RecursionError, VttdataError):
            continue
        if match and isinstance(account, dict):
            found.append((path.stat().st_mtime, path, BuildShard(int(match[1]), int(match[2])), account))
    return [entry[1:] for entry in sorted(found, key=lambda entry: entry[:2])]


def check_shards_agree(folder: Path) -> int:
    """Check that all shards that worked in a folder had the settings and tools of its build; return their number.

    It is that of the last division of the build; 0 if there were none.

    Raises:
        VttdataError: when one had others.
    """
    build = read_account(folder) or {}
    count = 0
    for path, shard, account in shard_accounts(folder):
        difference = first_difference(build, account)
        if difference is not None:
            raise VttdataError(
                f"{folder}: shard {shard} is of another recipe or other settings than {ACCOUNT} ({difference}), so "
                f"what it did counts for nothing here; delete {path} to go on without it, and build the shard again."
            )
        count = shard.count
    return count
