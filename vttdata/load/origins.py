"""Build a packaged recipe's dataset when it is asked for: fetched, checked and built, if that takes no videos.

`vttdata.load_dataset` asks for it, and every command that takes a dataset, through `vttdata.load.lookup`. Builds are
made by a higher layer, which is found by its name.
"""

from __future__ import annotations

import importlib.util
import pkgutil
import sys

from vttdata.errors import VttdataError
from vttdata.files.file_lock import wait_for_lock
from vttdata.files.strict_yaml import read_yaml
from vttdata.load.local_builds import BuildRegistry, builds_folder
from vttdata.recipe import packaged

# What somebody who loads a dataset waits for without having asked for a build.
_MAX_SECONDS = 120
# Of the patience with another process that builds the same.
_MAX_WAIT_SECONDS = 1800.0


def can_build(name: str, requested: str | None) -> bool:
    """Return whether a dataset is made here when it is asked for: one of a recipe whose files can be fetched.

    Args:
        name: ``owner/name``.
        requested: version; only that of the recipe can be built.
    """
    home = builds_folder() / name
    # Of an own build elsewhere it is said that it is not finished.
    if any(build.dataset is not None or build.folder != home for build in BuildRegistry().builds(name)):
        return False
    recipe = packaged.datasets_of_recipes().get(name)
    # Without these libraries nothing is built, and on Windows neither.
    if recipe is None or sys.platform == "win32" or not all(map(importlib.util.find_spec, ("pydantic", "requests"))):
        return False
    from vttdata.recipe.origins import find_origins

    version = str(read_yaml(packaged.recipes()[recipe]).get("version", "1.0.0"))
    return find_origins(recipe) is not None and requested in (None, version)


def build_now(name: str) -> None:
    """Build the dataset of a packaged recipe in `builds_folder`, unless another process has just done so.

    Raises:
        VttdataError: when it takes longer than a user would wait for, or as `vttdata.build`.
    """
    from vttdata.recipe.origins import find_origins

    recipe = packaged.datasets_of_recipes()[name]
    origins = find_origins(recipe)
    seconds = origins.recipes[recipe].seconds if origins is not None else 0
    if seconds > _MAX_SECONDS:
        raise VttdataError(
            f"'{name}' is not on this machine, and building it takes about {seconds / 60:.0f} minutes: "
            f"'vttdata build {recipe}' does that once; 'hf://datasets/{name}' is the one on the Hub, if it is there."
        )
    home = builds_folder() / name
    home.parent.mkdir(parents=True, exist_ok=True)
    lock = home.with_name(f".{home.name}.lock")
    with wait_for_lock(lock, lambda: _say(f"another process is building {name}; waiting for it"), _MAX_WAIT_SECONDS):
        if any(build.dataset is not None for build in BuildRegistry().builds(name)):
            return
        _say(f"{name} is not on this machine yet: building it in {home}, which takes about {seconds} s, once")
        messages = pkgutil.resolve_name("vttdata:Messages")(note=_say)
        pkgutil.resolve_name("vttdata:build")(recipe, messages=messages)


def _say(sentence: str) -> None:
    print(f"vttdata: {sentence}", file=sys.stderr, flush=True)
