"""One build folder: locked while it is worked in, filled stage by stage, described by ``build.json``."""

from __future__ import annotations

import errno
import importlib.metadata
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import vttdata
from vttdata.media.ffmpeg import ffmpeg_version
from vttdata.pipeline.engine import Engine, Executor, Table
from vttdata.pipeline.journal import Journal, locked, write_json
from vttdata.pipeline.progress import say
from vttdata.pipeline.stage import HaltError, Stage
from vttdata.pipeline.tables import write_tables
from vttdata.recipe import Loaded

_TOOLS = ("av", "datasets", "numpy", "pyarrow", "yt-dlp")
_DISK = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM}


@dataclass(slots=True)
class Build:
    """What a builder works with: it hands over stages and items, and gets tables back.

    Fields:
        folder: the build folder.
        loaded: the recipe.
        tables: the finished stages, in order.
    """

    folder: Path
    loaded: Loaded
    engine: Engine
    journal: Journal
    quiet: bool
    tables: list[Table] = field(default_factory=list)

    @property
    def dataset(self) -> Path:
        """The folder that people load."""
        return self.folder / "dataset"

    def media(self, *names: str) -> Path:
        """A folder for files that stages write, made if need be."""
        path = self.folder.joinpath("media", *names)
        path.mkdir(parents=True, exist_ok=True)
        return path

    def stage(self, stage: Stage, items: Iterable[Any], total: int | None = None) -> Table:
        """Bring a stage up to date and describe it in a line, in its tables and in ``build.json``."""
        table = self.engine.run(stage, items, total)
        write_tables(table, self.folder / "stages" / stage.name)
        self.tables.append(table)
        self.describe("running")
        self.say(_line(table))
        return table

    def say(self, text: str) -> None:
        """Tell the user something, unless asked to be quiet."""
        if not self.quiet:
            say(text)

    def describe(self, status: str) -> dict[str, Any]:
        """Write ``build.json``, the machine-readable account of this build, and return it."""
        account = {
            "recipe": self.loaded.recipe.name,
            "recipe_file": self.loaded.file.name,
            "recipe_sha256": self.loaded.sha256,
            "version": self.loaded.recipe.version,
            "vttdata_version": vttdata.__version__,
            "tools": tools(),
            "status": status,
            "stages": [table.tally.as_json() for table in self.tables],
        }
        write_json(self.folder / "build.json", account)
        return account

    def too_many_failures(self) -> str | None:
        """The first stage in which a larger share of items failed than the recipe allows, in words."""
        allowed = self.loaded.recipe.max_failed
        for table in self.tables:
            failed, taken = table.tally.failed.total(), table.tally.taken
            if taken and failed / taken > allowed:
                return f"Stage '{table.tally.name}': {failed} of {taken} items failed; the recipe allows {allowed:.0%}."
        return None


def tools() -> dict[str, str]:
    """The versions of the programs and libraries that decide what comes out."""
    versions = {"ffmpeg": ffmpeg_version()}
    return versions | {name: importlib.metadata.version(name) for name in _TOOLS}


def _line(table: Table) -> str:
    tally = table.tally
    lost = [f"{number} {reason}" for reason, number in sorted((tally.rejected + tally.failed).items())]
    aside = f"  ({', '.join(lost)})" if lost else ""
    done_before = "  unchanged" if tally.parts and tally.reused == tally.parts else ""
    return f"{tally.name:<11}{tally.taken:>8} in {tally.kept:>8} kept{aside}{done_before}"


@contextmanager
def open_build(
    folder: Path, loaded: Loaded, executor: Executor, *, retry_failed: bool = False, quiet: bool = False
) -> Iterator[Build]:
    """Hold a build folder; ends all workers at the end, whatever happened.

    Raises:
        VttdataError: when another build is at work in this folder.
        HaltError: when the disk is full or the folder cannot be written; what is finished stays.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with locked(folder):
            journal = Journal(folder / "journal.jsonl")
            journal.note("build", recipe=loaded.recipe.name, sha256=loaded.sha256, vttdata=vttdata.__version__)
            engine = Engine(folder / "stages", executor, journal, retry_failed=retry_failed, quiet=quiet)
            try:
                yield Build(folder, loaded, engine, journal, quiet)
            finally:
                executor.close()
    except OSError as error:
        if error.errno not in _DISK:
            raise
        what = f"{error.strerror} ({error.filename or folder})"
        raise HaltError(f"The build stopped: {what}. Nothing finished is lost; run the same command again.") from error


def keep_only(folder: Path, wanted: Iterable[str]) -> None:
    """Remove from a media folder everything that is not among the wanted names."""
    names = set(wanted)
    for path in folder.iterdir():
        if path.name not in names:
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
