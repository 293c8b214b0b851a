"""One build folder: locked while it is worked in, filled stage by stage, described by ``build.json``."""

from __future__ import annotations

import contextlib
import functools
import importlib.metadata
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import vttdata
from vttdata.errors import DISK_ERRORS, HaltError, VttdataError, disk_halt
from vttdata.media.ffmpeg import ffmpeg_version
from vttdata.pipeline.engine import Engine, Executor, Table
from vttdata.pipeline.journal import Journal, locked, write_json
from vttdata.pipeline.stage import Stage
from vttdata.pipeline.tables import write_tables
from vttdata.recipe.load import Loaded

_TOOLS = ("av", "datasets", "numpy", "pyarrow", "yt-dlp")
_JOURNAL = "journal.jsonl"


@dataclass
class Build:
    """What a builder works with: it hands over stages and items, and gets tables back.

    Fields:
        folder: the build folder.
        loaded: the recipe.
        tell: is called with each finished stage's entry of ``build.json``.
        tables: the finished stages, in order.
        audit: what an audit of the splits found, as plain values, once there was one.
    """

    folder: Path
    loaded: Loaded
    engine: Engine
    journal: Journal
    tell: Callable[[dict[str, Any]], None]
    tables: list[Table] = field(default_factory=list)
    audit: dict[str, Any] | None = None

    @functools.cached_property
    def tools(self) -> dict[str, str]:
        """The versions of the programs and libraries that decide what comes out."""
        return {"ffmpeg": ffmpeg_version()} | {name: importlib.metadata.version(name) for name in _TOOLS}

    @property
    def dataset(self) -> Path:
        """The folder that people load."""
        return self.folder / "dataset"

    def media(self, *names: str) -> Path:
        """A folder for files that stages write, made if need be."""
        path = self.folder.joinpath("media", *names)
        path.mkdir(parents=True, exist_ok=True)
        return path

    def stage(
        self, stage: Stage, items: Iterable[Any], total: int | None = None, *, may_be_empty: bool = False
    ) -> Table:
        """Bring a stage up to date, write its tables, and tell what became of its items.

        Raises:
            VttdataError: when nothing is left and that is not allowed.
        """
        table = self.engine.run(stage, items, total)
        write_tables(table, self.folder / "stages" / stage.name)
        self.tables.append(table)
        self.describe("running")
        self.tell(table.tally.as_json())
        if not table.tally.kept and not may_be_empty:
            where = self.folder / "stages" / stage.name
            raise VttdataError(f"Nothing is left after stage '{stage.name}'; {where} holds each item with its reason.")
        return table

    def describe(self, status: str) -> dict[str, Any]:
        """Write ``build.json``, the machine-readable account of this build, and return it."""
        account = {
            "recipe": self.loaded.recipe.name,
            "recipe_file": self.loaded.file.name,
            "recipe_sha256": self.loaded.sha256,
            "version": self.loaded.recipe.version,
            "settings": self.loaded.recipe.public(),
            "vttdata_version": vttdata.__version__,
            "tools": self.tools,
            "status": status,
            "stages": [table.tally.as_json() for table in self.tables],
        }
        if self.audit is not None:
            account["audit"] = self.audit
        write_json(self.folder / "build.json", account)
        return account

    def retryable(self) -> int:
        """How many failures may be none if they are tried again."""
        return sum(table.tally.retryable for table in self.tables)

    def too_many_failures(self) -> str | None:
        """The first stage in which a larger share of items failed than the recipe allows, in words."""
        allowed = self.loaded.recipe.max_failed
        for table in self.tables:
            failed, taken = table.tally.failed.total(), table.tally.taken
            if taken and failed / taken > allowed:
                where = self.folder / "stages" / table.tally.name / "failed.parquet"
                return (
                    f"The dataset is there, but in stage '{table.tally.name}' {failed} of {taken} items failed and the "
                    f"recipe allows {allowed:.0%} (max_failed); {where} holds each with its reason."
                )
        return None


@contextlib.contextmanager
def open_build(
    folder: Path,
    loaded: Loaded,
    executor: Executor,
    tell: Callable[[dict[str, Any]], None],
    *,
    retry_failed: bool = False,
    quiet: bool = False,
) -> Iterator[Build]:
    """Hold a build folder; ends all workers at the end, whatever happened.

    Raises:
        VttdataError: when another build is at work in this folder.
        HaltError: when the disk is full or the folder cannot be written; what is finished stays.
    """
    _claim(folder)
    try:
        with locked(folder):
            journal = Journal(folder / _JOURNAL)
            journal.note("build", recipe=loaded.recipe.name, sha256=loaded.sha256, vttdata=vttdata.__version__)
            engine = Engine(folder / "stages", executor, journal, retry_failed=retry_failed, quiet=quiet)
            build = Build(folder, loaded, engine, journal, tell)
            try:
                yield build
            except BaseException:
                with contextlib.suppress(OSError):  # the disk may be what went wrong
                    build.describe("stopped")
                raise
            finally:
                executor.close()
    except OSError as error:
        if error.errno not in DISK_ERRORS:
            raise
        raise disk_halt(error, folder) from error


def _claim(folder: Path) -> None:
    """Make the build folder, or see that what is there is a build's."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        strange = not (folder / _JOURNAL).is_file() and any(folder.iterdir())
    except OSError as error:
        kind = HaltError if error.errno in DISK_ERRORS else VttdataError
        raise kind(f"{folder}: cannot be a build folder ({error.strerror}).") from error
    if strange:
        raise VttdataError(f"{folder}: holds something else than a build; name a new or empty folder with --out.")


def keep_only(folder: Path, wanted: Iterable[str]) -> None:
    """Remove from a media folder everything that is not among the wanted names."""
    names = set(wanted)
    for path in folder.iterdir():
        if path.name not in names:
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
