"""Build folder: locked while it is worked in, filled with the tables of stages, described by ``build.json``."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.metadata
import json
import os
import shlex
import shutil
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar, overload
from unicodedata import normalize

import pyarrow as pa

from vttdata.dataset.manifest import MANIFEST
from vttdata.dataset.parquet import write_rows
from vttdata.dataset.provenance import RECIPE
from vttdata.dataset.replace_folder import DATASET
from vttdata.dataset.tombstones import WITHDRAWN, Tombstones, read_tombstones
from vttdata.errors import DISK_ERRORS, CaptionLossError, HaltError, LeakError, VttdataError, halt_on_disk_errors
from vttdata.files.addresses import without_secrets
from vttdata.files.database_path import check_database_path
from vttdata.files.output_file import write_whole
from vttdata.files.own_folder import check_own
from vttdata.files.reading import file_sha256
from vttdata.files.remote import is_remote
from vttdata.ids import digest
from vttdata.json_types import JsonObject
from vttdata.load.local_builds import ACCOUNT, is_own, read_account
from vttdata.media.ffmpeg_program import ffmpeg_version
from vttdata.media.filters import SCORES
from vttdata.pipeline.engine import Engine, StageCounts, Table
from vttdata.pipeline.executors import Executor
from vttdata.pipeline.journal import JOURNAL, LOCK, Journal, locked, write_json
from vttdata.pipeline.stage import AnyStage, Failed, Gathered, GatheringStage, In, Out, RecordTable, Rejected, Stage
from vttdata.pipeline.withdrawn_results import PINS
from vttdata.recipe import packaged
from vttdata.recipe.load import BaseRecipe, Loaded, check_recipe, given_paths
from vttdata.recipe.published import check_settings
from vttdata.records import Candidate, Clip, Source, arrow_schema, to_row
from vttdata.version import __version__

# Advice after failures that say nothing about the items.
TRY_AGAIN = "run the same command to try them again, with fewer --workers if memory is short"

T = TypeVar("T")

_ROWS_PER_GROUP = 4096
# Table of a recipe -> the key with the names of its columns, which says nothing about another table.
_COLUMNS_OF = {"input": "columns", "captions.file": "captions.columns", "collect.manifest": "collect.columns"}
_TABLES = ("kept", "rejected", "failed")
# Columns of rejects and failures after that of the id.
_LOSS_COLUMNS = ["file", "reason", "detail"]
_LIBRARIES = ("av", "datasets", "numpy", "pyarrow", "yt-dlp")


@functools.cache
def tool_versions() -> dict[str, str]:
    """Return the versions of the programs and libraries that decide, with the recipe, what a build gives."""
    return {"ffmpeg": ffmpeg_version()} | {name: importlib.metadata.version(name) for name in _LIBRARIES}


def write_tables(table: Table[object], folder: Path, files: Callable[[], Mapping[str, str]]) -> None:
    """Write ``kept.parquet``, ``rejected.parquet`` and ``failed.parquet`` of one stage into its folder.

    ``stage.json``, written last, identifies the results that they hold, and their content; tables that are up to date
    and undamaged are left alone, but not those of records, of which nothing else is stored.
    `files` returns file names or addresses by the id of a source or clip.
    """
    tally = table.tally
    state: JsonObject = {
        "results": digest([table.keys, tally.kept, tally.rejected, tally.failed]),
        "columns": _LOSS_COLUMNS,
    }
    state_file = folder / "stage.json"
    with contextlib.suppress(OSError, ValueError, VttdataError):
        if table.keys and tally.reused == tally.parts:
            written = json.loads(state_file.read_bytes())
            if written == state | {"sha256": _checksums(folder)}:
                return
    folder.mkdir(parents=True, exist_ok=True)
    state_file.unlink(missing_ok=True)
    texts = [pa.field(name, pa.string()) for name in (table.stage.id_column, *_LOSS_COLUMNS)]
    kept_schema = arrow_schema(table.stage.output, {"scores": SCORES})
    with_retry = pa.schema([*texts, pa.field("retry", pa.bool_())])
    for name, schema, rows in (
        ("kept", kept_schema, map(to_row, table)),
        ("rejected", pa.schema(texts), _loss_rows(table, Rejected, files()) if tally.rejected else ()),
        ("failed", with_retry, _loss_rows(table, Failed, files()) if tally.failed else ()),
    ):
        temporary = folder / f"{name}.parquet.tmp"
        write_rows(temporary, schema, rows, _ROWS_PER_GROUP)
        temporary.replace(folder / f"{name}.parquet")
    write_json(state_file, state | {"sha256": _checksums(folder)})


def _checksums(folder: Path) -> dict[str, str]:
    return {name: file_sha256(folder / f"{name}.parquet") for name in _TABLES}


def _loss_rows(
    table: Table[object], outcome_type: type[Rejected] | type[Failed], files: Mapping[str, str]
) -> Iterator[JsonObject]:
    """Yield a row for each outcome of a type."""
    for result in table.results():
        for outcome in result.outcomes:
            if isinstance(outcome, outcome_type):
                file = (outcome.file if isinstance(outcome, Rejected) else None) or files.get(outcome.id) or None
                texts = (outcome.id, file, outcome.reason, outcome.detail)
                # Hostile names may hold surrogates, which Parquet cannot store.
                cells: dict[str, object] = {
                    name: text and text.encode("utf-8", "replace").decode()
                    for name, text in zip((table.stage.id_column, *_LOSS_COLUMNS), texts, strict=True)
                }
                yield cells | ({"retry": outcome.retry} if isinstance(outcome, Failed) else {})


@dataclass
class Build:
    """Build folder as a builder sees it: stages and items go in, tables come out.

    Fields:
        on_stage_done: is called with each finished stage's entry of ``build.json``.
        tables: of the stages that this run finished, in order.
        tallies: of the finished stages, in order.
        steps: number of stages and one for the packaging, where the builder knows it beforehand; 0 where not.
        audit: result of an audit of the splits as plain values, once there was one.
        languages: of the captions, ISO 639-1, where the recipe states none; empty where none is known.
        status: as ``build.json`` has it.
        allow_caption_loss: whether captions of the earlier dataset may be dropped.
        withdrawn: number of items that were left out of stages since they are withdrawn.
        raised_version: of the dataset, where errata or withdrawals raise it above that of the recipe; else empty.
    """

    folder: Path
    loaded: Loaded
    engine: Engine
    journal: Journal
    on_stage_done: Callable[[JsonObject], None]
    tables: list[Table[object]] = field(default_factory=list)
    tallies: list[StageCounts] = field(default_factory=list)
    steps: int = 0
    audit: JsonObject | None = None
    languages: Sequence[str] = ()
    status: str = ""
    allow_caption_loss: bool = False
    withdrawn: int = 0
    raised_version: str = ""
    _files: dict[str, str] = field(default_factory=dict, init=False)
    _withdrawn_names: set[str] = field(default_factory=set, init=False)
    _unnoted: deque[Callable[[], object]] = field(default_factory=deque, init=False)

    @property
    def files(self) -> dict[str, str]:
        """Id of a source or clip -> file name or address of the source, for tables of rejects."""
        while self._unnoted:
            self._unnoted.popleft()()
        return self._files

    @functools.cached_property
    def corrections(self) -> Path | None:
        """Dataset whose errata and withdrawals this one keeps: the one that it replaces, or that of the recipe."""
        named = self.loaded.recipe.corrections
        if named is not None:
            return Path(named)
        return self.dataset if (self.dataset / MANIFEST).is_file() else None

    @functools.cached_property
    def tombstones(self) -> Tombstones:
        """What was withdrawn, and no stage takes in again."""
        if self.corrections is None:
            return Tombstones()
        try:
            return read_tombstones(self.corrections)
        except VttdataError:
            # A damaged earlier dataset is replaced, unless what it withdraws would be taken in again.
            if (self.corrections / WITHDRAWN).exists():
                raise
            return Tombstones()

    @property
    def tools(self) -> dict[str, str]:
        """Versions of the programs and libraries that decide what comes out."""
        return tool_versions()

    @property
    def dataset(self) -> Path:
        """Folder that people load."""
        return self.folder / "dataset"

    def media(self, *names: str) -> Path:
        """Return a folder for files that stages write, and make it if need be."""
        path = self.folder.joinpath("media", *names)
        path.mkdir(parents=True, exist_ok=True)
        return path

    def keep_only(self, folder: Path, names: Iterable[str]) -> None:
        """Remove everything from a media folder that has none of these names, unless a link leads out of the build."""
        if not folder.resolve().is_relative_to(self.folder.resolve()):
            return
        names_to_keep = set(names)
        for path in folder.iterdir():
            if path.name not in names_to_keep:
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()

    def watch(self, items: Sequence[T], label: str) -> Iterator[T]:
        """Yield the items of a step, or of a part of it, and show how far they are, unless the build is quiet."""
        with self.engine.progress(self.step(label), len(items)) as progress:
            for item in items:
                yield item
                progress.advance()

    def step(self, name: str) -> str:
        """Return the name of the next step with its number, and that of all steps where the builder planned them."""
        number = len(self.tables) + 1
        return f"[{number}/{max(number, self.steps)}] {name}" if self.steps else f"[{number}] {name}"

    @overload
    def stage(
        self,
        stage: GatheringStage[In, Gathered, Out],
        items: Iterable[In],
        total: int | None = None,
        *,
        of: Sequence[Table[Any]] = (),
        may_be_empty: bool = False,
    ) -> Table[Out]: ...

    @overload
    def stage(
        self,
        stage: Stage[In, Out],
        items: Iterable[In],
        total: int | None = None,
        *,
        of: Sequence[Table[Any]] = (),
        may_be_empty: bool = False,
    ) -> Table[Out]: ...

    @overload
    def stage(self, stage: RecordTable[Out], items: Iterable[Out], *, may_be_empty: bool = False) -> Table[Out]: ...

    def stage(
        self,
        stage: Stage[Any, Out] | RecordTable[Out],
        items: Iterable[Any],
        total: int | None = None,
        *,
        of: Sequence[Table[Any]] = (),
        may_be_empty: bool = False,
    ) -> Table[Out]:
        """Bring a stage up to date, and write its tables and ``build.json``.

        Items are in an order that is the same at every run; their number is for the progress bar. `of` are the tables
        that they are made of, and of nothing else, where they are not one themselves: where the stage and these are as
        before, so are its results, and no item is looked at.

        Raises:
            HaltError: when nothing is kept because of failures that say nothing about the items.
            VttdataError: when nothing is kept, unless it `may_be_empty`.
        """
        folder = self.folder / "stages" / stage.name
        noted, label = self._note_files(stage, items), self.step(stage.name)
        if isinstance(stage, RecordTable):
            table = self.engine.keep(stage, noted, label)
        else:
            made_of = [items] if isinstance(items, Table) else of
            # What was withdrawn is left out of the items.
            table = self.engine.run(stage, noted, total, label, of=() if self.tombstones.rows else made_of)
        if table.is_as_before:
            self._unnoted.append(lambda: deque(noted, maxlen=0))
        if stage.output is Clip and not any(earlier.stage.output is Clip for earlier in self.tables):
            self._unnoted.append(lambda: self._files.update(self._files_of_clips(table)))
        if self.engine.force:
            # Tables without it are written.
            (folder / "stage.json").unlink(missing_ok=True)
        if not table.is_as_before:
            write_tables(table, folder, lambda: self.files)
        self.tables.append(table)
        self.tallies.append(table.tally)
        self.describe("running")
        self.on_stage_done(table.tally.as_json())
        if not table.tally.kept and (lacking := table.tally.inconclusive_text()):
            raise HaltError(f"Nothing is left after {lacking}; {TRY_AGAIN}.")
        if not table.tally.kept and not may_be_empty:
            raise VttdataError(f"Nothing is left after stage '{stage.name}'; {folder} holds each item with its reason.")
        return table

    def _note_files(self, stage: AnyStage | RecordTable[Any], items: Iterable[T]) -> Iterator[T]:
        """Yield items, and remember the file or address of each that is a source."""
        for item in items:
            if self.tombstones.cover_record(item):
                self.withdrawn += 1
                name = normalize("NFC", getattr(item, "file", None) or getattr(item, "locator", None) or "")
                self._withdrawn_names |= {name, PurePosixPath(name).name, PurePosixPath(name).stem}
                continue
            if isinstance(item, Candidate) and isinstance(stage, Stage):
                self.files[stage.item_id(item)] = without_secrets(item.locator)
            elif isinstance(item, Source):
                self.files[item.source_id] = item.file if item.stored == "listed" else item.url or item.file
            yield item

    def is_withdrawn(self, name: str) -> bool:
        """Return whether a name that is that of no source is one of what was withdrawn and left out."""
        return normalize("NFC", name) in self._withdrawn_names or self.tombstones.mention(name)

    def _files_of_clips(self, clips: Iterable[object]) -> dict[str, str]:
        return {clip.video_id: self._files.get(clip.source_id, "") for clip in clips if isinstance(clip, Clip)}

    def describe(self, status: str) -> JsonObject:
        """Write ``build.json``, the machine-readable account of this build, and return it."""
        self.status = status
        account = self.account(status)
        write_json(self.folder / ACCOUNT, account)
        return account

    def account(self, status: str) -> JsonObject:
        """Return the content of ``build.json``."""
        recipe = self.loaded.recipe
        account = {
            "recipe": recipe.name,
            "recipe_file": self.loaded.recipe_file,
            "recipe_sha256": self.loaded.sha256,
            "version": self.raised_version or recipe.version,
            "settings": stored_settings(self.loaded, self.folder),
            "secrets": given_secrets(recipe),
            "vttdata_version": __version__,
            "tools": self.tools,
            "status": status,
            "stages": [tally.as_json() for tally in self.tallies],
        }
        return account if self.audit is None else account | {"audit": self.audit}

    def unprocessed(self) -> str:
        """Return the stages with failures that say nothing about the items and their numbers; empty without any."""
        return "; ".join(filter(None, (tally.inconclusive_text() for tally in self.tallies)))


@contextlib.contextmanager
def open_build(
    folder: Path,
    loaded: Loaded,
    executor: Executor,
    on_stage_done: Callable[[JsonObject], None],
    *,
    retry_failed: bool = False,
    force: bool = False,
    quiet: bool = False,
    replace: bool = False,
    allow_caption_loss: bool = False,
) -> Iterator[Build]:
    """Hold a build folder, and close the executor at the end, whatever happens.

    Args:
        folder: a new or empty folder, or that of an earlier build.
        loaded: the recipe.
        executor: runs the items of stages.
        on_stage_done: is called with each finished stage's entry of ``build.json``.
        retry_failed: process items again that failed for a reason that may have gone.
        force: compare the content of all files that earlier results are about.
        quiet: show no progress.
        replace: take over a folder that holds the build of another recipe or name.
        allow_caption_loss: see `Build`.

    Raises:
        VttdataError: when the folder holds something else, or another build is at work in it.
        HaltError: when the disk is full or the folder cannot be written, or in place of any `VttdataError` of a build
            that lacks items through no fault of theirs; what is finished stays.
    """
    check_database_path(folder, below=30)
    make_build_folder(folder)
    with halt_on_disk_errors(folder), locked(folder):
        if not replace:
            check_same_build(folder, loaded)
        # What the build replaces at its end, after hours of work.
        check_own(folder / "dataset", DATASET)
        account = folder / ACCOUNT
        before = account.read_bytes() if account.is_file() else None
        journal = Journal(folder / JOURNAL)
        journal.note("build", recipe=loaded.recipe.name, sha256=loaded.sha256, vttdata=__version__)
        engine = Engine(folder / "stages", executor, journal, retry_failed=retry_failed, quiet=quiet, force=force)
        build = Build(folder, loaded, engine, journal, on_stage_done, allow_caption_loss=allow_caption_loss)
        executor.prepare(folder / JOURNAL)
        try:
            build.describe("running")
            yield build
        except BaseException as error:
            is_refusal = isinstance(error, VttdataError) and not isinstance(error, HaltError)
            # The disk may be what went wrong.
            with contextlib.suppress(OSError):
                is_unchanged = not build.tables or (isinstance(error, CaptionLossError) and not build.unprocessed())
                if before is not None and is_unchanged and is_refusal:
                    # A setting or an input is wrong; the build goes on with the settings that it had.
                    restored = account.with_name(f"{ACCOUNT}.tmp")
                    restored.write_bytes(before)
                    restored.replace(account)
                elif build.status == "running":
                    build.describe("stopped")
            if is_refusal and not isinstance(error, LeakError) and (unprocessed := build.unprocessed()):
                # What is missing may be the reason for the error.
                raise HaltError(f"{error} Items are missing after {unprocessed}; {TRY_AGAIN}.") from error
            raise
        finally:
            executor.close()


def make_build_folder(folder: Path) -> None:
    """Make a build folder, or check that a folder is one or is empty.

    Raises:
        VttdataError: when it holds something else, or cannot be made.
        HaltError: when the disk is full or cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        names = {path.name for path in folder.iterdir()}
    except OSError as error:
        error_type = HaltError if error.errno in DISK_ERRORS else VttdataError
        raise error_type(f"{folder}: cannot be a build folder ({error.strerror}).") from error
    # A build whose first write failed leaves its lock alone.
    is_new = all(name.startswith((LOCK, PINS)) for name in names)
    if JOURNAL not in names and read_account(folder) is None and not is_new:
        raise VttdataError(f"{folder}: holds something else than a build; name a new or empty folder with --out.")


def write_pins(folder: Path, split_of: Mapping[str, str]) -> Path:
    """Write the split of each clip into a build folder, new or not, as a file for ``split.pin``; return its path.

    It is named after its content, so that no build changes an input of another one.
    """
    rows = [{"video_id": video_id, "split": split} for video_id, split in sorted(split_of.items())]
    text = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    path = folder / f"{PINS}{hashlib.sha256(text.encode()).hexdigest()[:8]}.jsonl"
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(path, text)
    return path


def stored_settings(loaded: Loaded, folder: Path) -> JsonObject:
    """Return the settings of a recipe without secrets, so that a build can go on with them from any working folder.

    Paths in the build folder are relative to it, so that it can be moved.
    """
    settings = loaded.recipe.public()
    for key, kind, holder, name in given_paths(settings, loaded.recipe.paths):
        if is_remote(address := loaded.addresses.get(key, holder[name])):
            holder[name] = address
        elif kind != "input" or Path(holder[name]).exists():
            path = Path(os.path.abspath(holder[name]))
            inside = path.is_relative_to(os.path.abspath(folder))
            holder[name] = str(path.relative_to(os.path.abspath(folder)) if inside else path)
    if settings["builder"] not in packaged.builders():
        settings["builder"] = os.path.abspath(loaded.builder.__file__ or "")
    return settings


def given_secrets(recipe: BaseRecipe) -> list[str]:
    """Return the dotted keys of the secrets that a recipe gives."""
    settings = recipe.model_dump(mode="json")
    keys = [key.split(".") for key in sorted(recipe.secrets)]
    return [f"{section}.{name}" for section, name in keys if settings[section][name] is not None]


def check_same_build(folder: Path, loaded: Loaded) -> None:
    """Check that the build in a folder, if there is one, is of the same recipe and name.

    The recipe that is written out in a dataset counts as the one that the dataset was built from.

    Raises:
        VttdataError: when it is not.
    """
    account = read_account(folder)
    # Where a first build ended before its first stage, nothing is of it.
    if account is None or (account["status"] == "stopped" and account.get("stages") == []):
        return
    name, file = account["recipe"], account.get("recipe_file")
    is_same_recipe = file == loaded.recipe_file or RECIPE in (file, loaded.recipe_file)
    if name != loaded.recipe.name or not is_same_recipe:
        raise VttdataError(
            f"{folder}: holds the build of '{name}' by {file}, not of '{loaded.recipe.name}' by {loaded.recipe_file}; "
            "choose another folder with --out, or give this one to the new build with --replace."
        )


def load_stored_recipe(
    folder: Path, overrides: Sequence[str] = (), *, fetch: Callable[[str], Path] | None = None
) -> Loaded:
    """Return the recipe of the build in a folder, as its settings were stored; other arguments as for `load_recipe`.

    Names of columns are those of the stored table, and are forgotten where `overrides` name another one.

    Raises:
        VttdataError: when the folder holds no build, when its builder is a file, when it is somebody else's and names
            what `overrides` do not give, and as `load_recipe`.
    """
    account = read_account(folder)
    if account is None or not isinstance(account.get("settings"), dict):
        raise VttdataError(f"{folder}: has no {ACCOUNT} with the settings of a build; name its recipe.")
    recipe_file = str(account.get("recipe_file", ACCOUNT))
    settings = account["settings"]
    if not isinstance(builder := settings.get("builder"), str) or builder not in packaged.builders():
        raise VttdataError(
            f"{folder / ACCOUNT}: names the builder {ascii(builder)[:200]}, a file, which is run only where its recipe "
            f"is named: 'vttdata build RECIPE --out {shlex.quote(str(folder))}'."
        )
    given = {text.partition("=")[0] for text in overrides}

    def check(with_overrides: JsonObject, model: type[BaseRecipe]) -> None:
        check_settings(with_overrides, model, given, folder / ACCOUNT)

    check_foreign = None if is_own(settings) else check
    for key, _, value in (text.partition("=") for text in overrides if text.partition("=")[0] in _COLUMNS_OF):
        *sections, table = key.split(".")
        holder = settings.get(sections[0]) if sections else settings
        stored = holder.get(table) if isinstance(holder, dict) else None
        if isinstance(stored, str) and folder / stored != Path(os.path.abspath(os.path.expanduser(value))):
            holder.pop(_COLUMNS_OF[key].rpartition(".")[2], None)
    return check_recipe(
        settings, folder / ACCOUNT, overrides, recipe_file=recipe_file, check=check_foreign, fetch=fetch
    )
