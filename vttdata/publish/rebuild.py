"""Judges a dataset by its own account: are its inputs at hand, is what they give again the same to the byte.

How a dataset is made again from a recipe is here too; commands that make one without a recipe are run by the caller.
"""

from __future__ import annotations

import argparse
import contextlib
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, NoReturn

from vttdata.cli.degrade import add_degrade
from vttdata.cli.foil import add_foil
from vttdata.dataset.manifest import is_inside, read_manifest
from vttdata.dataset.provenance import PROVENANCE, RECIPE, InputFile, Provenance, find_files_named
from vttdata.dataset.shards import file_sha256
from vttdata.dataset.tables import read_tables
from vttdata.errors import VttdataError
from vttdata.publish.changes import DatasetDifference
from vttdata.publish.diff import compare_datasets
from vttdata.publish.row_hashes import batches

ACCOUNT = frozenset({"README.md", "croissant.json", PROVENANCE, RECIPE})
"""Files that say what a dataset is and how it was made; tool versions stand in them. All others are data."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What comparing a dataset with one made again from its own account gave.

    Fields:
        files: how many data files the dataset has.
        differing: the names of those that were not made again to the byte.
        further: names of data files that were made and that the dataset does not have.
        rows: how the rows differ; None where every data file is the same.
        account: files among `ACCOUNT` that differ.
    """

    files: int
    differing: tuple[str, ...]
    further: tuple[str, ...]
    rows: DatasetDifference | None
    account: tuple[str, ...]

    @property
    def identical(self) -> bool:
        """Whether every data file is the same to the byte."""
        return not self.differing and not self.further


def compare_with(dataset: Path, again: Path, left_out: Iterable[str] = ()) -> Verdict:
    """Compare the files of a dataset, as they lie there, with those of one that was made again.

    Args:
        dataset: the one that is judged; files of it that its manifest does not list are left out.
        again: the other one.
        left_out: names of files of `dataset` that were not fetched and so are not compared.

    Raises:
        VttdataError: when a dataset has no manifest or a table of it is damaged.
    """
    skipped = set(left_out)
    before, after = read_manifest(dataset)["files"], read_manifest(again)["files"]
    names = sorted({*before, *after} - skipped)
    same = {name for name in names if name in after and _checksum(dataset, name) == after[name]["sha256"]}
    differing = tuple(name for name in names if name in before and name not in same | ACCOUNT)
    further = tuple(name for name in names if name not in before and name not in ACCOUNT)
    rows = compare_datasets(dataset, again) if differing or further else None
    account = tuple(name for name in names if name in ACCOUNT and name not in same)
    return Verdict(len(set(before) - skipped - ACCOUNT), differing, further, rows, account)


def _checksum(dataset: Path, name: str) -> str | None:
    path = dataset / name
    return file_sha256(path) if is_inside(name) and path.is_file() else None


def rebuild(dataset: Path, folder: Path, settings: Sequence[str], *, workers: int) -> Path:
    """Build a dataset's own recipe in a new folder; return the folder of the dataset that comes out.

    Args:
        dataset: has ``recipe.yaml``.
        folder: of the build, new or empty.
        settings: ``key=value``, those that name the inputs among them.
        workers: how many processes build.

    Raises:
        VttdataError: when the recipe needs something that is not given, or names a builder that is not packaged.
    """
    from vttdata.files.strict_yaml import read_yaml
    from vttdata.pipeline.build import open_build
    from vttdata.pipeline.executors.local import LocalExecutor
    from vttdata.recipe.dump import load_foreign_recipe

    loaded = load_foreign_recipe(read_yaml(dataset / RECIPE), dataset / RECIPE, settings)
    with open_build(folder, loaded, LocalExecutor(workers), lambda _: None, quiet=True) as run:
        loaded.builder.build(loaded.recipe, run)
    return run.dataset


def other_inputs(dataset: Path, provenance: Provenance, given: Mapping[str, Path]) -> list[str]:
    """The names of inputs that are other files than those that a dataset was made from, or are not there.

    Args:
        dataset: whose table `sources` says which videos of a folder or list were used.
        provenance: says which other files were.
        given: key of the recipe, or of a command's argument -> the file or folder that is there now.
    """
    found: set[str] = set()
    for key, place in given.items():
        wanted = [own for own in provenance.inputs if own.key == key]
        if place.is_file():
            there = file_sha256(place) if wanted else ""
            found.update(own.name for own in wanted if own.sha256 != there)
        else:
            named = find_files_named(place, {_own_name(own) for own in wanted})
            found.update(own.name for own in wanted if own.sha256 not in named.get(_own_name(own), {}))
        if key in ("collect.folder", "collect.manifest"):
            found.update(_other_sources(dataset, place if place.is_dir() else place.parent))
    return sorted(found)


def _own_name(file: InputFile) -> str:
    return PurePosixPath(file.name).name


def _other_sources(dataset: Path, folder: Path) -> Iterator[str]:
    """The videos whose content is not what `sources` says; those of a list that lie elsewhere are not looked for."""
    contents = read_tables(dataset).get("sources")
    for path in contents.paths if contents is not None else ():
        for batch in batches(path, ["file", "sha256"]):
            for row in batch.to_pylist():
                name, sha256 = row.get("file"), row.get("sha256")
                there = bool(name and sha256) and is_inside(name) and (folder / name).is_file()
                if there and file_sha256(folder / name) != sha256:
                    yield name


_COMMANDS = {"foil": add_foil, "degrade": add_degrade}


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise VttdataError(f"What the dataset says of how it was made cannot be done again: {message}.")


def rerun(provenance: Provenance, given: str, settings: Sequence[str], folder: Path) -> Path:
    """Make what a command made again, in a new folder; return that folder.

    Args:
        provenance: of the dataset: the command, its options and its seed.
        given: its input.
        settings: ``option=value`` to take the place of what the provenance says, such as ``seed=3``.
        folder: where to write.

    Raises:
        VttdataError: when there is no such command or option, or the command itself refuses its input.
    """
    add = _COMMANDS.get(provenance.command)
    if add is None:
        raise VttdataError(f"The dataset was made by {provenance.command!a}, which is no command that can be repeated.")
    options: dict[str, Any] = {"seed": provenance.seed, **provenance.options}
    own = {file.key: file.name for file in provenance.inputs if file.key != "input"}
    allowed = {*options, *own, "lexicon", "verdicts"}
    given_again: dict[str, list[str]] = {}
    for text in settings:
        key, equals, value = text.partition("=")
        if not equals or key not in allowed:
            raise VttdataError(f"--set {text}: of this dataset can be set: {', '.join(sorted(allowed))}.")
        given_again.setdefault(key, []).append(value)
    for key in sorted(own.keys() - given_again):
        names = options.get(key, own[key])
        told = f"{key} of its own, {names if isinstance(names, str) else ', '.join(names)}"
        raise VttdataError(f"The dataset was made with {told}: give --set {key}=FILE.")
    options |= given_again
    parser = _Parser(prog="vttdata")
    add(parser.add_subparsers())
    parsed = parser.parse_args([provenance.command, *_arguments(options), f"--out={folder}", "--", given])
    with contextlib.redirect_stdout(io.StringIO()):
        parsed.run(parsed)
    return folder


def _arguments(options: dict[str, Any]) -> list[str]:
    flags = [(f"--{name.replace('_', '-')}", value) for name, value in options.items()]
    single = [(flag, one) for flag, value in flags for one in (value if isinstance(value, list) else [value])]
    given = [(flag, value) for flag, value in single if value is not None and value is not False]
    return [flag if value is True else f"{flag}={value}" for flag, value in given]
