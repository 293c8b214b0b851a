"""Build a dataset from a recipe, or go on with an earlier build; what ``vttdata build`` does, for other programs.

Commands that compose a recipe from their options build it in a temporary folder.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from vttdata.collect.video_list import COLUMNS as VIDEO_COLUMNS
from vttdata.compose.earlier_dataset import read_earlier_dataset
from vttdata.compose.stamp import (
    Request,
    find_unchanged,
    read_stamp,
    take_input_states,
    undisturbed_stamp,
    write_stamp,
)
from vttdata.dataset.tombstones import refuse_unfinished
from vttdata.errors import HaltError, VttdataError
from vttdata.files.own_folder import FileChanges
from vttdata.files.remote import fetch_copy
from vttdata.files.strict_yaml import parse_yaml
from vttdata.json_types import JsonObject
from vttdata.load.local_builds import (
    ACCOUNT,
    STAMP,
    BuildRegistry,
    LocalBuild,
    builds_folder,
    read_account,
    remember_settings,
)
from vttdata.load.lookup import find_dataset, find_recipe, refuse_address
from vttdata.load.official_files import official_settings
from vttdata.pipeline.build_folder import (
    TRY_AGAIN,
    Build,
    given_secrets,
    load_stored_recipe,
    open_build,
    stored_settings,
    write_pins,
)
from vttdata.pipeline.engine import Engine, StageCounts
from vttdata.pipeline.executors import create_executor
from vttdata.pipeline.journal import JOURNAL, Journal
from vttdata.pipeline.withdrawn_results import remove_withdrawn_results
from vttdata.publish.diff import warn_if_rows_changed
from vttdata.recipe import packaged
from vttdata.recipe.load import BaseRecipe, Loaded, check_recipe, given_paths, load_recipe
from vttdata.recipe.packaged import RecipeFile
from vttdata.text.captions import COLUMNS as CAPTION_COLUMNS


@dataclass(frozen=True, slots=True)
class Execution:
    """What the stages of a build run on.

    Fields:
        workers: Number of worker processes; by default one per core, and on a cluster as many as it has room for.
        engine: Name of the executor that runs the stages.
        ray_address: ``HOST:PORT`` of the Ray cluster for the engine ``ray``, or ``auto`` on one of its nodes; by
            default that in ``RAY_ADDRESS``, without which a private Ray runs on this machine.
        retry_failed: Process items again that failed for a reason that may have gone.
        force: Look at everything, though nothing seems to have changed since the build was finished, and compare the
            content of every file with its checksum.
    """

    workers: int | None = None
    engine: str = "local"
    ray_address: str | None = None
    retry_failed: bool = False
    force: bool = False


@dataclass(frozen=True, slots=True)
class AllowedLosses:
    """What of earlier work a build may drop; by default nothing.

    Fields:
        earlier_build: The build of another recipe or name in the build folder, which is taken over.
        captions: Captions of the earlier dataset that no clip has any more, or that were taken out of the table.
    """

    earlier_build: bool = False
    captions: bool = False


@dataclass(frozen=True, slots=True)
class Messages:
    """What is said while a build is at work.

    Fields:
        quiet: Show no progress.
        on_stage_done: Is called with each finished stage's entry of ``build.json``.
        note: Is called with sentences that a user should read.
    """

    quiet: bool = False
    on_stage_done: Callable[[JsonObject], None] = lambda _: None
    note: Callable[[str], None] = lambda _: None


def build(
    recipe: str | os.PathLike[str] | RecipeFile | LocalBuild,
    *,
    out: str | os.PathLike[str] | None = None,
    settings: Mapping[str, object] | Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
    pin_from: str | os.PathLike[str] | None = None,
    allow: AllowedLosses = AllowedLosses(),
    execution: Execution = Execution(),
    messages: Messages = Messages(),
) -> Build:
    """Build a dataset from a recipe, or go on with an earlier build.

    Args:
        recipe: Recipe file, name of a packaged recipe, or an earlier build, by its folder or its name, whose stored
            settings are used; or what `find_recipe` returns for one of these. The official files of a packaged recipe
            are fetched unless the settings name them, if it is known where they are (``vttdata fetch``).
        out: Build folder; by default that of the earlier build, or ``$VTTDATA_HOME/<name of the recipe>``.
        settings: Further settings by dotted key, such as ``{"clips.max_seconds": 20}``, or texts ``KEY=VALUE``.
        columns: Names of columns in the tables of captions and videos, such as ``{"caption": "text"}``.
        pin_from: Build or dataset, by folder or name, whose clips keep their splits: these become the file of the
            setting ``split.pin``, in the build folder.
        allow: What of earlier work may be dropped; a build that would drop more is refused.
        execution: What the stages run on; by default one worker process per core of this machine.
        messages: What is said meanwhile; by default only progress is shown.

    Returns:
        The finished build; its `dataset` is the folder that `load_dataset` takes.

    Raises:
        VttdataError: If the recipe, a setting or an input is refused, or an official file cannot be had.
        CaptionLossError: If captions of the earlier dataset would be dropped; the dataset and the settings stay.
        LeakError: If the splits leak and the recipe gives no reason.
        HaltError: If the build cannot go on, or its dataset lacks items whose processing was cut short; the same call
            continues later.
    """
    note = messages.note
    if isinstance(settings, Mapping):
        settings = [f"{key}={_as_yaml(value)}" for key, value in settings.items()]
    refuse_address(out)
    source = recipe if isinstance(recipe, RecipeFile | LocalBuild) else find_recipe(recipe)
    request = Request(source, out, settings, columns or {})
    loaded, folder = _load(request, note, pin_from)
    executor = create_executor(execution.engine, execution.workers, execution.ray_address)
    if pin_from is None and not execution.retry_failed and not execution.force and (found := find_unchanged(request)):
        folder, account = found
        register(folder, loaded.recipe.name, note)
        journal = Journal(folder / JOURNAL)
        engine = Engine(folder / "stages", executor, journal, retry_failed=False, quiet=messages.quiet)
        tallies = [StageCounts.from_json(entry) for entry in account["stages"]]
        run = Build(folder, loaded, engine, journal, messages.on_stage_done, tallies=tallies)
        run.audit, run.status = account.get("audit"), account["status"]
        return run
    files = None if pin_from is not None else _files_read(loaded)
    inputs = None if files is None else take_input_states(files)
    stamp = undisturbed_stamp(folder)
    with open_build(
        folder,
        loaded,
        executor,
        messages.on_stage_done,
        retry_failed=execution.retry_failed,
        force=execution.force,
        quiet=messages.quiet,
        replace=allow.earlier_build,
        allow_caption_loss=allow.captions,
    ) as run:
        # Another build may have been at work before this one held the folder.
        run.engine.undisturbed = stamp is not None and read_stamp(folder) == stamp
        refuse_unfinished(run.dataset)
        (folder / STAMP).unlink(missing_ok=True)
        register(folder, loaded.recipe.name, note)
        remember_settings(stored_settings(loaded, folder))
        try:
            with warn_if_rows_changed(run.dataset, note):
                loaded.builder.build(loaded.recipe, run)
        except VttdataError as error:
            if run.dataset.exists():
                error.args = (
                    f"{str(error).rstrip('.')}. {run.dataset} is still that of an earlier build.",
                    *error.args[1:],
                )
            raise
        unprocessed = run.unprocessed()
        if run.tombstones.rows:
            # A file of other name with withdrawn content is known once it was read.
            remove_withdrawn_results(folder, run.tombstones, FileChanges())
        run.describe("incomplete" if unprocessed else "complete")
        # Builds of which nothing is left write no report.
        from vttdata.report.build_report import write_report

        try:
            write_report(run.folder)
        except MemoryError:
            # The dataset is complete, and the next build writes what is missing.
            note(f"{run.folder}: the report was not written, since the memory of this machine did not suffice.")
            inputs = None
        if unprocessed:
            raise HaltError(
                f"The dataset in {run.dataset} is INCOMPLETE, since the processing of items was cut short in "
                f"{unprocessed}; {TRY_AGAIN}."
            )
        if inputs is not None:
            write_stamp(folder, request, inputs)
        return run


def _files_read(loaded: Loaded) -> list[str] | None:
    """Return the files and folders that decide a build; None where they are not known.

    They are not for builders of users, for copies of what is at an address, for lists, which may name more files, and
    for searches.
    """
    settings = loaded.recipe.public()
    collect = settings.get("collect", {})
    is_packaged = Path(loaded.builder.__file__ or "").parent == packaged.folder("builders")
    if not is_packaged or loaded.addresses or collect.get("manifest") or collect.get("search"):
        return None
    # A dataset by its name is looked for elsewhere.
    if any(
        path.kind == "input" and not Path(path.value).exists() for path in given_paths(settings, loaded.recipe.paths)
    ):
        return None
    # Language models and other things that may be folders or names are no paths of the recipe.
    own = [str(loaded.file)] if loaded.file.name != ACCOUNT else []
    return [*own, *(text for text in _texts(settings) if os.path.exists(text))]


def _texts(value: object) -> Iterator[str]:
    """Yield every text among the values of settings."""
    if isinstance(value, str):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ():
        yield from _texts(part)


def _load(
    request: Request, note: Callable[[str], None], pin_from: str | os.PathLike[str] | None
) -> tuple[Loaded, Path]:
    """Return the recipe that a request means, and the build folder; the other arguments are those of `build`.

    Raises:
        VttdataError: If the recipe or a setting is refused, or clips would be written into the folder of the videos.
    """
    source, settings = request.recipe, request.settings
    fetch = partial(fetch_copy, cache=builds_folder() / ".remote")
    if isinstance(source, LocalBuild):
        load = partial(load_stored_recipe, source.folder, fetch=fetch)
    else:
        load = partial(load_recipe, source, fetch=fetch)
    if isinstance(source, RecipeFile) and (name := source.name):
        settings = [*official_settings(name, settings, note, load), *settings]
        if read_account(Path(name)) is not None:
            note(f"'{name}' is the packaged recipe; './{name}' goes on with the build in the folder of that name.")
    loaded = load(settings)
    if request.columns:
        settings = [*settings, *_column_settings(loaded.recipe, request.columns)]
        loaded = load(settings)
    if isinstance(source, LocalBuild):
        stored = (read_account(source.folder) or {}).get("secrets")
        secrets = loaded.recipe.secrets & set(stored if isinstance(stored, list) else ())
        if missing := sorted(secrets.difference(given_secrets(loaded.recipe))):
            note(f"{', '.join(missing)}: was given to the earlier build and is never stored; --set gives it again.")
    folder = request.folder() or builds_folder() / loaded.recipe.name
    collected = loaded.recipe.public().get("collect", {}).get("folder")
    if collected is not None and folder.resolve().is_relative_to(Path(collected).resolve()):
        raise VttdataError(
            f"The build folder {folder} is inside collect.folder {collected}, so its clips would become sources; "
            "choose another folder with --out."
        )
    if pin_from is not None:
        if "split" not in type(loaded.recipe).model_fields:
            raise VttdataError("--pin-from is for recipes that divide clips into splits, which this one does not.")
        pins = write_pins(folder, read_earlier_dataset(find_dataset(os.fspath(pin_from))).split_of)
        loaded = load([*settings, f"split.pin={pins}"])
    return loaded, folder


def register(folder: Path, name: str, note: Callable[[str], None]) -> None:
    """Make a build known by its name, and say so if the name stands for a build in another folder."""
    try:
        BuildRegistry().add(name, folder)
    except OSError as error:
        note(f"{builds_folder()}: cannot be written ({error.strerror}), so '{name}' can be loaded by its folder only.")
        return
    first = BuildRegistry().builds(name)[0].folder
    if first.resolve() != folder.resolve():
        note(f"'{name}' stands for the build in {first}; load this one by its folder, {folder}.")


def _as_yaml(value: object) -> str:
    """Return the text for ``--set`` that stands for a value; a path is written as it is."""
    if isinstance(value, os.PathLike):
        return str(os.fspath(value))
    if isinstance(value, str):
        with contextlib.suppress(VttdataError):
            if parse_yaml(value, "settings") == value:
                return value
    return json.dumps(value)


def _column_settings(recipe: BaseRecipe, columns: Mapping[str, str]) -> Iterator[str]:
    """Yield settings that name columns in the tables of a recipe: of its input, or of its captions and its videos."""
    settings: Any = recipe
    has_input = "columns" in type(recipe).model_fields
    if not has_input and "captions" not in type(recipe).model_fields:
        raise VttdataError("--columns is for recipes that read tables of captions or videos, which this one does not.")
    sections = [""]
    for name, column in columns.items():
        if not has_input:
            file = settings.captions.file
            in_captions = name not in VIDEO_COLUMNS or (name in CAPTION_COLUMNS and file is not None)
            # Where one table has both, its times are those of clips and captions.
            in_both = name in ("start", "end") and file is not None and file == settings.collect.manifest
            sections = ["captions.", "collect."] if in_both else ["captions."] if in_captions else ["collect."]
        for section in sections:
            yield f"{section}columns.{name}={json.dumps(column)}"


def build_recipe(loaded: Loaded, folder: Path, *, workers: int = 1, quiet: bool = True) -> tuple[Build, Any]:
    """Build a checked recipe in a new or empty folder; return the finished build, and what the builder returns.

    Raises:
        VttdataError: as the builder.
        HaltError: when the processing of an item was cut short, so that the dataset is incomplete.
    """
    with open_build(folder, loaded, create_executor("local", workers), lambda _: None, quiet=quiet) as run:
        made = loaded.builder.build(loaded.recipe, run)
        if unprocessed := run.unprocessed():
            raise HaltError(f"The processing of items was cut short in {unprocessed}; {TRY_AGAIN}.")
    return run, made


@contextlib.contextmanager
def composed_build(settings: JsonObject, command: str, out: Path, *, quiet: bool) -> Iterator[tuple[Build, Any]]:
    """Check and build a recipe in a temporary folder beside `out`, and yield what `build_recipe` returns.

    Its files can be moved to `out` in one step; the folder is removed afterwards. Settings that are None count as not
    given, and `command` stands for a file name in errors about settings.

    Raises:
        VttdataError: when a setting is refused, and as the builder.
    """
    given = {key: value for key, value in settings.items() if value is not None}
    loaded = check_recipe(given, Path(command))
    out = out.resolve()
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}.", dir=out.parent) as folder:
        yield build_recipe(loaded, Path(folder), quiet=quiet)
