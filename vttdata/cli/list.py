"""List datasets, recipes and protocols, or print one (``vttdata list``)."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from vttdata.cli.exit_codes import DONE
from vttdata.cli.options import Command, Names, argument, json_option, known_datasets, option
from vttdata.errors import VttdataError

_MAX_MISSING = 5


def _known_names() -> Iterable[str]:
    from vttdata.recipe import packaged

    return [*packaged.recipes(), *packaged.protocols(), *known_datasets()]


@click.command("list", cls=Command, examples=["vttdata list", "vttdata list own-folder", "vttdata list vttdata/demo"])
@argument(
    "name",
    "[NAME]",
    "Print this recipe or protocol, or describe this dataset: by its name, its folder, or its id on the Hub.",
    type=Names("name", _known_names, files=True),
    required=False,
)
@option("--hub", "List the datasets on the Hub too, which needs the network.", is_flag=True)
@json_option
def command(name: str | None, hub: bool, as_json: bool) -> int:
    """List datasets on this machine and benchmarks that can be built.

    Recipes come in three groups: those that build at once, with what is fetched and how long it takes, those that need
    files of yours, with the settings that name them, and those that need videos. Protocols are subsets of benchmarks
    that papers use. With a NAME, a recipe or protocol is printed as its file, which is one to start from, and a dataset
    is described with its configurations, splits and numbers of rows.
    """
    from vttdata.load.catalog import list_datasets

    if name is not None:
        print_one(name, as_json=as_json)
        return DONE
    _warn_of_missing()
    datasets = list_datasets(hub=hub)
    recipes, protocols = _describe_recipes(), _describe_protocols()
    if as_json:
        found = [
            {"kind": "dataset", **entry.as_json()} for entry in datasets if entry.path or entry.build or entry.on_hub
        ]
        print(json.dumps([*found, *recipes, *protocols], indent=2, ensure_ascii=False))
        return DONE
    local = [entry.as_line() for entry in datasets if entry.path or entry.build]
    groups = {
        "On this machine": local or ["nothing yet; 'vttdata build demo' makes a first dataset"],
        "On the Hub": [entry.as_line() for entry in datasets if entry.on_hub],
        "Built at once: vttdata build NAME, or up to two minutes load_dataset('vttdata/NAME') in Python": _columns(
            {**entry, "about": f"{_effort_text(entry)}  {_without_command(entry['about'])}"}
            for entry in recipes
            if entry["seconds"] is not None
        ),
        "Built from files of yours ('vttdata list NAME' says which)": _columns(
            entry for entry in recipes if entry["seconds"] is None and not entry["of_videos"]
        ),
        "Built from videos: yours, listed ones, or those that a search finds": _columns(
            entry for entry in recipes if entry["seconds"] is None and entry["of_videos"]
        ),
        "Protocols, subsets that papers use: vttdata protocol NAME DATASET --out FILE": _columns(protocols),
    }
    print("\n\n".join("\n  ".join([f"{title}:", *lines]) for title, lines in groups.items() if lines))
    return DONE


def print_one(name: str, *, as_json: bool) -> None:
    """Print a recipe, a protocol or the description of a dataset; where names are the same, in this order.

    Raises:
        VttdataError: If there is nothing of this name; the message has the nearest one.
    """
    from vttdata.load.catalog import describe_dataset
    from vttdata.load.local_builds import BuildRegistry
    from vttdata.load.not_found import suggest
    from vttdata.recipe import packaged

    files = packaged.protocols() | packaged.recipes()
    if name not in files:
        if "/" not in name and not Path(name).exists() and not BuildRegistry().builds(name):
            raise VttdataError(
                f"There is no recipe, protocol or dataset '{name[:80]}'; 'vttdata list' lists those there are."
                f"{suggest(name, _known_names())}"
            )
        dataset = describe_dataset(name)
        content = {"kind": "dataset", **dataset.as_json()}
        print(json.dumps(content, indent=2, ensure_ascii=False) if as_json else dataset.as_text())
    elif as_json:
        entry = next(entry for entry in [*_describe_recipes(), *_describe_protocols()] if entry["name"] == name)
        print(json.dumps(entry, indent=2, ensure_ascii=False))
    else:
        print(files[name].read_text(encoding="utf-8"), end="")
        if name in packaged.recipes():
            hint = "Save it as FILE.yaml, change its name, and build it: vttdata build FILE.yaml"
        else:
            hint = f"To make it for a dataset of its benchmark: vttdata protocol {name} DATASET --out FILE.json"
        print(hint, file=sys.stderr)


def _describe_recipes() -> list[dict[str, Any]]:
    from vttdata.files.strict_yaml import read_yaml
    from vttdata.recipe import packaged

    efforts = {}
    # Without the libraries of the extra, nothing is built.
    if find_spec("pydantic"):
        from vttdata.recipe.origins import effort

        efforts = {recipe: effort(recipe) for recipe in packaged.recipes()}
    built = {recipe: dataset for dataset, recipe in packaged.datasets_of_recipes().items()}
    return [
        {
            "kind": "recipe",
            "name": recipe,
            "about": packaged.summary(recipe),
            "dataset": built.get(recipe),
            "needs": packaged.required_settings(recipe),
            "of_videos": read_yaml(file).get("builder") == "own_videos",
            "bytes": fetched.bytes if (fetched := efforts.get(recipe)) else None,
            "unknown_sizes": fetched.unknown_sizes if fetched else None,
            "seconds": fetched.seconds if fetched else None,
            "command": packaged.build_command(recipe),
        }
        for recipe, file in packaged.recipes().items()
    ]


def _effort_text(recipe: dict[str, Any]) -> str:
    """Return what is fetched for a recipe, and how long its build takes, in columns."""
    more = "> " if recipe["unknown_sizes"] else ""
    size = f"{more}{recipe['bytes'] / 1e6:.1f} MB" if recipe["bytes"] else "nothing"
    return f"{size:>8} {recipe['seconds']:>4} s"


def _without_command(summary: str) -> str:
    return re.sub(r": (vttdata build .*|\[--set .*)$", "", summary)


def _describe_protocols() -> list[dict[str, Any]]:
    from vttdata.files.strict_yaml import read_yaml
    from vttdata.recipe import packaged

    contents = {name: read_yaml(path) for name, path in packaged.protocols().items()}
    return [
        {
            "kind": "protocol",
            "name": name,
            "about": f"{raw.get('description', '')} ({raw.get('citation', '')})",
            "benchmark": raw.get("benchmark"),
            "source": raw.get("source"),
        }
        for name, raw in contents.items()
    ]


def _columns(entries: Iterable[dict[str, Any]]) -> list[str]:
    listed = list(entries)
    width = max((len(entry["name"]) for entry in listed), default=0)
    return [f"{entry['name']:<{width}}  {entry['about']}" for entry in listed]


def _warn_of_missing() -> None:
    from vttdata.load.local_builds import BuildRegistry

    missing = BuildRegistry().missing()
    for gone in missing[:_MAX_MISSING]:
        print(f"vttdata: {gone}.", file=sys.stderr)
    if len(missing) > _MAX_MISSING:
        more, folder = len(missing) - _MAX_MISSING, missing[0].entry.parent
        print(
            f"vttdata: {more} more builds are gone; entries of all builds with --out are in {folder}.", file=sys.stderr
        )
