"""Build a dataset from a recipe, or go on with an earlier build; what ``vttdata build`` does, for other programs.

Commands that compose a recipe from their options build it in a temporary folder.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from vttdata.collect.video_list import COLUMNS as VIDEO_COLUMNS
from vttdata.errors import HaltError, VttdataError
from vttdata.files.remote import fetch_copy, is_remote
from vttdata.files.strict_yaml import parse_yaml
from vttdata.load.local_builds import builds_folder, builds_named, find_build, read_account, register_build
from vttdata.pipeline.build_folder import TRY_AGAIN, Build, given_secrets, load_stored_recipe, open_build
from vttdata.pipeline.executors import create_executor
from vttdata.publish.diff import warn_if_rows_changed
from vttdata.recipe import packaged
from vttdata.recipe.load import BaseRecipe, Loaded, check_recipe, load_recipe
from vttdata.text.captions import COLUMNS as CAPTION_COLUMNS


def build(
    recipe: str | os.PathLike[str],
    *,
    out: str | os.PathLike[str] | None = None,
    settings: Mapping[str, Any] | Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
    workers: int | None = None,
    engine: str = "local",
    ray_address: str | None = None,
    retry_failed: bool = False,
    replace: bool = False,
    quiet: bool = False,
    on_stage_done: Callable[[dict[str, Any]], None] = lambda _: None,
    note: Callable[[str], None] = lambda _: None,
) -> Build:
    """Build a dataset from a recipe, or go on with an earlier build.

    Args:
        recipe: Recipe file, name of a packaged recipe, or an earlier build, by its folder or its name, whose stored
            settings are used.
        out: Build folder; by default that of the earlier build, or ``$VTTDATA_HOME/<name of the recipe>``.
        settings: Further settings by dotted key, such as ``{"clips.max_seconds": 20}``, or texts ``KEY=VALUE``.
        columns: Names of columns in the tables of captions and videos, such as ``{"caption": "text"}``.
        workers: Number of worker processes; by default one per core, and on a cluster as many as it has room for.
        engine: Name of the executor that runs the stages.
        ray_address: ``HOST:PORT`` of the Ray cluster for the engine ``ray``, or ``auto`` on one of its nodes; by
            default that in ``RAY_ADDRESS``, without which a private Ray runs on this machine.
        retry_failed: Process items again that failed for a reason that may have gone.
        replace: Take over a folder that holds the build of another recipe or name.
        quiet: Show no progress.
        on_stage_done: Is called with each finished stage's entry of ``build.json``.
        note: Is called with sentences that a user should read.

    Returns:
        The finished build; its `dataset` is the folder that `load_dataset` takes.

    Raises:
        VttdataError: If the recipe, a setting or an input is refused.
        LeakError: If the splits leak and the recipe gives no reason.
        HaltError: If the build cannot go on, or its dataset lacks items whose processing was cut short; the same call
            continues later.
    """
    loaded, folder = _load(recipe, out, settings, columns, note)
    executor = create_executor(engine, workers, ray_address)
    with open_build(
        folder, loaded, executor, on_stage_done, retry_failed=retry_failed, quiet=quiet, replace=replace
    ) as run:
        register(run, note)
        try:
            with warn_if_rows_changed(run.dataset, note):
                loaded.builder.build(loaded.recipe, run)
        except VttdataError:
            if run.dataset.exists():
                note(f"{run.dataset} is still that of an earlier build.")
            raise
        unprocessed = run.unprocessed()
        run.describe("incomplete" if unprocessed else "complete")
        # Builds of which nothing is left write no report.
        from vttdata.report.build_report import write_report

        write_report(run.folder)
        if unprocessed:
            raise HaltError(
                f"The dataset in {run.dataset} is INCOMPLETE, since the processing of items was cut short in "
                f"{unprocessed}; {TRY_AGAIN}."
            )
        return run


def _load(
    recipe: str | os.PathLike[str],
    out: str | os.PathLike[str] | None,
    settings: Mapping[str, Any] | Sequence[str],
    columns: Mapping[str, str] | None,
    note: Callable[[str], None],
) -> tuple[Loaded, Path]:
    """Return the recipe that `build` means, and the build folder; the arguments are those of `build`.

    Raises:
        VttdataError: If the recipe or a setting is refused.
    """
    if is_remote(out) or is_remote(recipe):
        # The address is not repeated, since it may contain a password.
        raise VttdataError(
            "A build folder lies on a disk and not at an address: build with --out DIR, and copy DIR with the tool of "
            "the store, such as 'aws s3 sync DIR s3://BUCKET/DIR', or mount the store (docs/remote.md)."
        )
    if isinstance(settings, Mapping):
        settings = [f"{key}={_as_yaml(value)}" for key, value in settings.items()]
    # A file, and the name of a packaged recipe, are recipes, whatever folder has the same name.
    is_recipe = os.fspath(recipe) in packaged.recipes() or Path(recipe).is_file()
    earlier = None if is_recipe else find_build(os.fspath(recipe))
    fetch = partial(fetch_copy, cache=builds_folder() / ".remote")
    load = (
        partial(load_recipe, os.fspath(recipe), fetch=fetch)
        if earlier is None
        else partial(load_stored_recipe, earlier, fetch=fetch)
    )
    loaded = load(settings)
    if columns:
        loaded = load([*settings, *_column_settings(loaded.recipe, columns)])
    if earlier is not None:
        stored = (read_account(earlier) or {}).get("secrets")
        secrets = loaded.recipe.secrets & set(stored if isinstance(stored, list) else ())
        if missing := sorted(secrets.difference(given_secrets(loaded.recipe))):
            note(f"{', '.join(missing)}: was given to the earlier build and is never stored; --set gives it again.")
    elif not Path(recipe).is_file() and read_account(Path(recipe)) is not None:
        note(f"'{recipe}' is the packaged recipe; './{recipe}' goes on with the build in the folder of that name.")
    return loaded, Path(out) if out is not None else earlier or builds_folder() / loaded.recipe.name


def register(run: Build, note: Callable[[str], None]) -> None:
    """Make the build known by its name, and say so if the name stands for a build in another folder."""
    name = run.loaded.recipe.name
    try:
        register_build(name, run.folder)
    except OSError as error:
        note(f"{builds_folder()}: cannot be written ({error.strerror}), so '{name}' can be loaded by its folder only.")
        return
    first = builds_named(name)[0].folder
    if first.resolve() != run.folder.resolve():
        note(f"'{name}' stands for the build in {first}; load this one by its folder, {run.folder}.")


def _as_yaml(value: Any) -> str:
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
    for name, column in columns.items():
        in_captions = name not in VIDEO_COLUMNS or (name in CAPTION_COLUMNS and settings.captions.file is not None)
        section = "" if has_input else "captions." if in_captions else "collect."
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
def composed_build(settings: dict[str, Any], command: str, out: Path, *, quiet: bool) -> Iterator[tuple[Build, Any]]:
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
