"""Record in a dataset how it was made, so that anybody can make it again: recipe, inputs, seed, tools.

The files are ``recipe.yaml`` and ``provenance.json``. Neither contains a time or a path of the machine.
`vttdata.compose.rebuild` makes a dataset again.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import importlib.metadata
import json
import os
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from vttdata.errors import DescribeOSErrors, VttdataError
from vttdata.files.reading import ZIP_ERRORS, file_sha256, read_description
from vttdata.json_types import JsonObject
from vttdata.version import __version__

RECIPE, PROVENANCE = "recipe.yaml", "provenance.json"


@dataclass(frozen=True, slots=True)
class InputFile:
    """File that a dataset was made from, with the checksum and the size in bytes of its unpacked content.

    `key` is the key of the recipe that named the file or its folder. In a folder, `name` is that of the official file,
    packed or not.
    """

    key: str
    name: str
    sha256: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Provenance:
    """Origin of a dataset.

    Fields:
        inputs: Input files that are not in the dataset's own table `sources`.
        recipe: Text of ``recipe.yaml``.
        tools: Program or library -> version.
    """

    seed: int
    recipe: str
    inputs: Sequence[InputFile] = ()
    tools: Mapping[str, str] = field(default_factory=dict)
    vttdata: str = __version__


def write_provenance(dataset: Path, provenance: Provenance) -> None:
    """Write ``provenance.json`` and ``recipe.yaml`` into a dataset folder."""
    recipe = provenance.recipe.encode("utf-8")
    (dataset / RECIPE).write_bytes(recipe)
    inputs = sorted(provenance.inputs, key=lambda file: (file.key, file.name))
    content: JsonObject = {
        "vttdata_version": provenance.vttdata,
        "command": "build",
        "recipe": RECIPE,
        "recipe_sha256": hashlib.sha256(recipe).hexdigest(),
        "seed": provenance.seed,
        "tools": dict(sorted(provenance.tools.items())),
        "inputs": [dataclasses.asdict(file) for file in inputs],
    }
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    # What is not Unicode in a file name is written as JSON's escape for it.
    (dataset / PROVENANCE).write_bytes(text.encode("utf-8", "backslashreplace"))


def read_provenance(dataset: Path) -> Provenance:
    """Return what `write_provenance` wrote.

    Raises:
        VttdataError: If it is missing or has another shape.
    """
    path = dataset / PROVENANCE
    if not path.is_file():
        raise VttdataError(
            f"{dataset}: has no {PROVENANCE}, so it cannot be made again; only its files can be checked."
        )
    try:
        content = json.loads(read_description(dataset, PROVENANCE))
        provenance = Provenance(
            seed=content["seed"],
            recipe=read_description(dataset, RECIPE).decode(),
            inputs=[InputFile(**file) for file in content["inputs"]],
            tools=content["tools"],
            vttdata=content["vttdata_version"],
        )
        _check_types(provenance)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise VttdataError(f"{path}: is not the provenance of a dataset ({type(error).__name__}: {error}).") from error
    return provenance


def _check_types(provenance: Provenance) -> None:
    texts = [provenance.vttdata, *provenance.tools, *provenance.tools.values()]
    texts += [text for file in provenance.inputs for text in (file.key, file.name, file.sha256)]
    if not all(isinstance(text, str) for text in texts) or not isinstance(provenance.seed, int):
        raise ValueError("a value is not a text, or the seed is not a number")


def library_versions(names: Iterable[str]) -> dict[str, str]:
    """Return the versions of those libraries that are installed."""
    versions = {}
    for name in names:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions[name] = importlib.metadata.version(name)
    return versions


def input_file(key: str, path: Path, name: str | None = None) -> InputFile:
    """Return the record of an input file; its key is that of the recipe that named it.

    Raises:
        VttdataError: If it cannot be read.
    """
    with DescribeOSErrors(f"{path}: cannot be read"):
        return InputFile(key, name or path.name, file_sha256(path), path.stat().st_size)


def find_files_named(folder: Path, names: Iterable[str]) -> dict[str, dict[str, int]]:
    """Return name -> SHA-256 -> size of each file of that name in a folder, its subfolders and its zip archives."""
    wanted = set(names)
    files: dict[str, dict[str, int]] = {}
    for parent, _, children in os.walk(folder) if wanted else ():
        for name in sorted(children):
            path = Path(parent, name)
            if name in wanted:
                files.setdefault(name, {})[file_sha256(path)] = path.stat().st_size
            if path.suffix.lower() == ".zip" and Path(parent) == folder:
                for member, sha256, size in _find_members(path, wanted):
                    files.setdefault(member, {})[sha256] = size
    return files


def _find_members(path: Path, wanted: set[str]) -> Iterator[tuple[str, str, int]]:
    """Yield name, SHA-256 and size of the wanted files in a zip archive."""
    try:
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                name = PurePosixPath(member.filename).name
                if name in wanted and not member.is_dir():
                    with archive.open(member) as stream:
                        digest = hashlib.file_digest(stream, "sha256")  # type: ignore[arg-type]
                    yield name, digest.hexdigest(), member.file_size
    except ZIP_ERRORS:
        # No reader of official files can have read a damaged archive either.
        return
