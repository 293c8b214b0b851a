"""Writes into a dataset how it came to be, so that anybody can make it again: its recipe, its inputs, its tools.

Two files: ``recipe.yaml``, where there is a recipe, and ``provenance.json``. Neither holds a time or a path of the
machine. Making it again is the business of `vttdata.publish.rebuild`.
"""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.metadata
import json
import os
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import vttdata
from vttdata.dataset.shards import file_sha256
from vttdata.errors import VttdataError

RECIPE, PROVENANCE = "recipe.yaml", "provenance.json"
_LARGEST = 2**26
"""Bytes of a provenance; one of 100,000 inputs has 2^24."""


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file that a dataset was made from.

    Fields:
        key: the recipe's key, or the command's argument, that gave it or its folder.
        name: its own name; in a folder that of the official file, whether it is packed or not.
        sha256, bytes: of its content, unpacked.
    """

    key: str
    name: str
    sha256: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Provenance:
    """How a dataset came to be.

    Fields:
        command: ``build``, or the command that made it without a recipe: ``foil`` or ``degrade``.
        seed: of all random choices.
        inputs: what it was made from, where that is not in its own table `sources`.
        options: of a command without a recipe: option -> value.
        recipe: the text of ``recipe.yaml``; empty where there is none.
        tools: program or library -> version.
        vttdata: the version of this package.
    """

    command: str
    seed: int
    inputs: Sequence[InputFile] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    recipe: str = ""
    tools: Mapping[str, str] = field(default_factory=dict)
    vttdata: str = vttdata.__version__


def write_provenance(dataset: Path, provenance: Provenance) -> None:
    """Put ``provenance.json`` and, where there is a recipe, ``recipe.yaml`` into a dataset folder."""
    content: dict[str, Any] = {"vttdata_version": provenance.vttdata, "command": provenance.command}
    if provenance.recipe:
        text = provenance.recipe.encode("utf-8")
        (dataset / RECIPE).write_bytes(text)
        content |= {"recipe": RECIPE, "recipe_sha256": hashlib.sha256(text).hexdigest()}
    else:
        content |= {"options": dict(sorted(provenance.options.items()))}
    content |= {
        "seed": provenance.seed,
        "tools": dict(sorted(provenance.tools.items())),
        "inputs": [dataclasses.asdict(own) for own in sorted(provenance.inputs, key=lambda own: (own.key, own.name))],
    }
    (dataset / PROVENANCE).write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def read_provenance(dataset: Path) -> Provenance:
    """What `write_provenance` wrote.

    Raises:
        VttdataError: when it is not there, was written by a vttdata that wrote none, or has another shape.
    """
    path = dataset / PROVENANCE
    if not path.is_file():
        raise VttdataError(f"{dataset}: has no {PROVENANCE}, so nobody knows how it was made; it can only be checked.")
    try:
        if path.stat().st_size > _LARGEST:
            raise VttdataError(f"{path}: larger than {_LARGEST} bytes, which no provenance is.")
        content = json.loads(path.read_text(encoding="utf-8"))
        recipe = (dataset / RECIPE).read_text(encoding="utf-8") if "recipe" in content else ""
        found = Provenance(
            command=content["command"],
            seed=content["seed"],
            inputs=[InputFile(**own) for own in content["inputs"]],
            options=content.get("options", {}),
            recipe=recipe,
            tools=content["tools"],
            vttdata=content["vttdata_version"],
        )
        _check(found)
    except OSError as error:
        raise VttdataError(f"{error.filename or path}: cannot be read ({error.strerror or error}).") from error
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise VttdataError(f"{path}: not the provenance of a dataset ({type(error).__name__}: {error}).") from error
    return found


def _check(found: Provenance) -> None:
    texts = [found.command, found.vttdata, *found.tools, *found.tools.values()]
    texts += [text for own in found.inputs for text in (own.key, own.name, own.sha256)]
    if not all(isinstance(text, str) for text in texts) or not isinstance(found.seed, int):
        raise ValueError("a text is no text, or the seed no number")
    options = [one for own in found.options.values() for one in (own if isinstance(own, list) else [own])]
    if not all(isinstance(value, str | int | float | bool | None) for value in options):
        raise ValueError("an option is neither text nor number")


def library_versions(names: Iterable[str]) -> dict[str, str]:
    """The versions of those libraries that are installed."""
    found = {}
    for name in names:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def input_file(key: str, path: Path, name: str | None = None) -> InputFile:
    """What is to be known of a file; `name` is its own one unless another is given.

    Raises:
        VttdataError: when it cannot be read.
    """
    try:
        return InputFile(key, name or path.name, file_sha256(path), path.stat().st_size)
    except OSError as error:
        raise VttdataError(f"{path}: cannot be read ({error.strerror or error}).") from error


def files_named(folder: Path, names: Iterable[str]) -> dict[str, dict[str, int]]:
    """Name -> SHA-256 -> size of each file of that name in a folder, its subfolders and its zip archives."""
    wanted = set(names)
    found: dict[str, dict[str, int]] = {}
    for place, _, own in os.walk(folder) if wanted else ():
        for name in sorted(own):
            path = Path(place, name)
            if name in wanted:
                found.setdefault(name, {})[file_sha256(path)] = path.stat().st_size
            if path.suffix.lower() == ".zip" and Path(place) == folder:
                for member, sha256, size in _members(path, wanted):
                    found.setdefault(member, {})[sha256] = size
    return found


def _members(archive: Path, wanted: set[str]) -> Iterator[tuple[str, str, int]]:
    try:
        with zipfile.ZipFile(archive) as opened:
            for entry in opened.infolist():
                name = PurePosixPath(entry.filename).name
                if name in wanted and not entry.is_dir():
                    with opened.open(entry) as stream:
                        digest = hashlib.file_digest(stream, "sha256")  # type: ignore[arg-type]
                    yield name, digest.hexdigest(), entry.file_size
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, ValueError):
        return  # what cannot be opened is nothing that an official reader has read
