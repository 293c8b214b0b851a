"""The commands that compare datasets: ``diff`` two of them, ``verify`` one against its own account."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vttdata.errors import VttdataError

if TYPE_CHECKING:
    from vttdata.dataset.provenance import Provenance
    from vttdata.publish.changes import DatasetDifference
    from vttdata.publish.rebuild import Verdict

_DONE, _DIFFERS = 0, 4
_NAMED = 5


def add_diff(commands: Any) -> None:
    """Add the command `diff` to the parsers of a command line."""
    parser = commands.add_parser(
        "diff",
        help="say which rows two datasets do not share",
        description="Compare two datasets row by row: what was added, removed, changed (and in which columns) or moved "
        "to another split in each configuration, with examples, and the version number that the newer one needs.",
        epilog="Exit codes: 0 no row differs; 4 rows or columns differ; 2 bad usage or input. "
        "Example: vttdata diff vttdata/demo build/dataset",
    )
    what = "a dataset folder, a build folder, or a dataset's name"
    parser.add_argument("old", metavar="OLD", help=what)
    parser.add_argument("new", metavar="NEW", help=what)
    parser.add_argument("--json", action="store_true", help="machine-readable")
    parser.set_defaults(run=_diff)


def add_verify(commands: Any) -> None:
    """Add the command `verify` to the parsers of a command line."""
    parser = commands.add_parser(
        "verify",
        help="check a dataset's files, and that what it was made from gives it again",
        description="Compare a dataset's files with its manifest. Given what it was made from, also make it again from "
        "its own recipe (or the options of the command that made it) in a temporary folder, and say whether every data "
        "file is the same to the byte, or which rows differ.",
        epilog="Exit codes: 0 all is as it was; 4 files or rows differ; 2 bad usage or input. "
        "Example: vttdata verify vttdata/msrvtt-degraded --set annotations=FOLDER",
    )
    parser.add_argument("dataset", metavar="DATASET", help="a dataset folder, a build folder, or a dataset's name")
    setting = "what its recipe needs, such as annotations=FOLDER, or another value to try; may be repeated"
    parser.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], help=setting)
    parser.add_argument("--input", metavar="INPUT", help="what `vttdata foil` or `vttdata degrade` made it from")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--rebuild", action="store_true", help="make it again, also where that needs no input")
    how.add_argument("--files-only", action="store_true", help="only compare the files with the manifest")
    parser.set_defaults(run=_verify)


def _diff(options: argparse.Namespace) -> int:
    from vttdata.dataset.front_matter import read_version
    from vttdata.load.dataset import EMBEDDED_VIDEOS
    from vttdata.publish.diff import compare_datasets

    old, new = (_folder(own, EMBEDDED_VIDEOS) for own in (options.old, options.new))
    found = compare_datasets(old, new)
    version = read_version(old) if (old / "README.md").is_file() else None
    wanted = found.next_version(version) if version is not None else None
    if options.json:
        content = {"version": version, "next_version": wanted} | found.as_json()
        print(json.dumps(content, indent=2, ensure_ascii=False))
        return _DONE if found.needed == "none" else _DIFFERS
    print(_rows_text(found))
    if found.needed != "none":
        after = f" (after {version}: {wanted})" if wanted is not None else ""
        print(f"The newer one needs a new {found.needed.upper()} version{after}.")
    return _DONE if found.needed == "none" else _DIFFERS


def _rows_text(found: DatasetDifference) -> str:
    return "\n".join(found.as_lines()) or "No row differs."


def _folder(reference: str, videos: Sequence[str] = ()) -> Path:
    """The folder of a dataset by path or name (with these videos), or one of tables that a command wrote."""
    from vttdata.dataset.manifest import MANIFEST
    from vttdata.load.dataset import find_dataset

    path = Path(reference)
    return path if (path / MANIFEST).is_file() else find_dataset(reference, videos=videos)


def _verify(options: argparse.Namespace) -> int:
    from vttdata.dataset.provenance import PROVENANCE, RECIPE, read_provenance
    from vttdata.load.dataset import ALL_VIDEOS

    asked = bool(options.set or options.input or options.rebuild) and not options.files_only
    folder = _folder(options.dataset, ALL_VIDEOS if asked else ())
    damage, left_out = _check_files(folder)
    if not asked:
        if not options.files_only:
            _tell_how(folder, options.dataset)
        return _DIFFERS if damage else _DONE
    edited = [line for line in damage if line.startswith((f"{RECIPE}:", f"{PROVENANCE}:"))]
    if edited:
        print(f"It is not made again: {edited[0]}", file=sys.stderr)
        return _DIFFERS
    provenance = read_provenance(folder)
    _tell_inputs(folder, provenance, options)
    _tell_tools(provenance)
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="vttdata-") as place:
        from vttdata.publish.rebuild import compare_with

        again = _make_again(folder, provenance, Path(place, "again"), options)
        try:
            verdict = compare_with(folder, again, left_out)
        except VttdataError as error:
            print(f"differs: {error}")
            return _DIFFERS
    _tell_verdict(verdict, time.monotonic() - start)
    return _DONE if verdict.identical and not damage else _DIFFERS


def _check_files(folder: Path) -> tuple[list[str], list[str]]:
    """What is wrong with the files, told; and the names of those that were left on the Hub."""
    from vttdata.dataset.manifest import find_damage, read_manifest
    from vttdata.load.integrity import videos_not_downloaded

    files = read_manifest(folder)["files"]
    left_out = videos_not_downloaded(folder)
    damage = find_damage(folder, left_out)
    more = f"; {len(left_out):,} were not fetched from the Hub" if left_out else ""
    if damage:
        print("\n".join(damage))
        print(f"files: {len(damage):,} are not as the manifest lists them, which lists {len(files):,}{more}")
    else:
        print(f"files: {len(files) - len(left_out):,} are as the manifest lists them{more}")
    return damage, left_out


def _tell_how(folder: Path, reference: str) -> None:
    """Say what would make the dataset again."""
    from vttdata.dataset.provenance import RECIPE, read_provenance

    try:
        provenance = read_provenance(folder)
        if provenance.command == "build":
            from vttdata.files.strict_yaml import read_yaml
            from vttdata.recipe.dump import wanted_paths

            wanted = "".join(f" --set {text}" for text in wanted_paths(read_yaml(folder / RECIPE))) or " --rebuild"
        else:
            wanted = " --input " + ",".join(own.name for own in provenance.inputs if own.key == "input")
    except VttdataError as error:
        print(error, file=sys.stderr)
        return
    except ModuleNotFoundError:
        print("Its README says how to make it again; that takes pip install 'vttdata[build]'.", file=sys.stderr)
        return
    print(f"To make it again: vttdata verify {reference}{wanted}", file=sys.stderr)


def _tell_inputs(folder: Path, provenance: Provenance, options: argparse.Namespace) -> None:
    from vttdata.publish.rebuild import other_inputs

    given = {key: Path(value) for key, _, value in (text.partition("=") for text in options.set)}
    given = {key: path for key, path in given.items() if path != Path() and path.exists()}
    if options.input:
        given["input"] = Path(options.input) if Path(options.input).is_file() else _folder(options.input)
    others = other_inputs(folder, provenance, given)
    if others:
        print(f"inputs: {len(others):,} are other files than those it was made from: {_named(others)}")
    elif given:
        print("inputs: those that it was made from")


def _tell_tools(provenance: Provenance) -> None:
    import vttdata
    from vttdata.dataset.provenance import library_versions

    here = library_versions(provenance.tools) | {"vttdata": vttdata.__version__}
    if "ffmpeg" in provenance.tools:
        from vttdata.media.ffmpeg import ffmpeg_version

        here["ffmpeg"] = ffmpeg_version()
    then = {**provenance.tools, "vttdata": provenance.vttdata}
    others = [f"{name} {here.get(name, 'none')} (then {own})" for name, own in then.items() if here.get(name) != own]
    print(f"tools: {', '.join(others)}" if others else "tools: the same versions")


def _make_again(folder: Path, provenance: Provenance, place: Path, options: argparse.Namespace) -> Path:
    if provenance.command == "build":
        from vttdata.publish.rebuild import rebuild

        if options.input:
            raise VttdataError(
                "--input is for what `vttdata foil` or `vttdata degrade` made; this has a recipe: --set."
            )
        return rebuild(folder, place, options.set, workers=os.cpu_count() or 1)
    from vttdata.publish.rebuild import rerun

    if not options.input:
        names = ", ".join(own.name for own in provenance.inputs if own.key == "input")
        raise VttdataError(
            f"{folder}: was made with `vttdata {provenance.command}`; give what from (--input): {names}."
        )
    return rerun(provenance, options.input, options.set, place)


def _tell_verdict(verdict: Verdict, seconds: float) -> None:
    if verdict.account:
        print(f"also not the same: {', '.join(verdict.account)}")
    if verdict.identical:
        print(f"identical: all {verdict.files:,} data files, made again in {seconds:.1f} s, are the same to the byte")
        return
    if verdict.rows is not None:
        print(_rows_text(verdict.rows))
    if verdict.differing:
        told = (
            f"{len(verdict.differing):,} of {verdict.files:,} data files are not the same: {_named(verdict.differing)}"
        )
    else:
        told = f"there are data files that it does not have: {_named(verdict.further)}"
    print(f"differs: made again in {seconds:.1f} s, {told}")


def _named(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMED]) + (", ..." if len(names) > _NAMED else "")
