"""Build a recipe that a command composes from plain settings, in a temporary folder."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from vttdata.errors import HaltError
from vttdata.pipeline.build_folder import TRY_AGAIN, Build, open_build
from vttdata.pipeline.executors import create_executor
from vttdata.recipe.load import Loaded, check_recipe


def build_recipe(loaded: Loaded, folder: Path, *, workers: int = 1, quiet: bool = True) -> tuple[Build, Any]:
    """Build a checked recipe.

    Args:
        loaded: the recipe and its builder.
        folder: of the build, new or empty.
        workers: number of processes.
        quiet: show no progress.

    Returns:
        The finished build, and what the builder returns.

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
    """Check and build a recipe in a temporary folder beside `out`, so that its files can be moved there in one step.

    Args:
        settings: of the recipe; keys that are None count as not given.
        command: its name, which stands for a file name in errors about settings.
        out: where the files will go.
        quiet: show no progress.

    Yields:
        As `build_recipe` returns; the folder is removed afterwards.

    Raises:
        VttdataError: when a setting is refused, and as the builder.
    """
    given = {key: value for key, value in settings.items() if value is not None}
    loaded = check_recipe(given, Path(command))
    out = out.resolve()
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}.", dir=out.parent) as folder:
        yield build_recipe(loaded, Path(folder), quiet=quiet)
