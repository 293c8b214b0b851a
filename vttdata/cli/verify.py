"""Check the files of a dataset, rebuild it, or look for its videos (``vttdata verify``)."""

from __future__ import annotations

import shlex
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vttdata.cli.availability import check_availability
from vttdata.cli.exit_codes import DIFFERENT, DONE
from vttdata.cli.options import DATASET, FILE, POSITIVE, Command, dataset_argument, option, out_option, set_option
from vttdata.errors import VttdataError

if TYPE_CHECKING:
    from vttdata.compose.rebuild import RebuildComparison
    from vttdata.dataset.provenance import Provenance

_MAX_NAMES = 5


@click.command(
    "verify",
    cls=Command,
    notes=[
        "Without --rebuild, --set or --input, only the files are compared with the manifest beside them. A dataset is "
        "built again from the recipe in it; for one of your own videos, give --set collect.folder=VIDEOS.",
        "--videos and --online look for the videos and check nothing else. The same command goes on where it was "
        "interrupted, and asks again where an answer was not about the video. Where the name of a protocol goes, the "
        "file protocol.json goes as well, as in vttdata evaluate --config there/protocol.json.",
        "Exit codes: 0 all is as it was; 4 files or rows differ, or videos are gone; 1 stopped, the same command goes "
        "on; 2 bad usage or input.",
    ],
    examples=[
        "vttdata verify vttdata/demo",
        "vttdata verify vttdata/msrvtt-degraded --rebuild",
        "vttdata verify vttdata/vatex --set annotations=FOLDER",
        "vttdata verify vttdata/msrvtt --videos videos --out there",
        "vttdata verify vttdata/msrvtt --online --out there",
    ],
)
@dataset_argument
@set_option("What its recipe needs, such as annotations=FOLDER, or another value to try; may be repeated.")
@option(
    "--input INPUT",
    "Table or dataset that 'vttdata foil' or 'vttdata degrade' made it from; short for --set input=INPUT.",
    name="reference",
    type=DATASET,
)
@option(
    "--videos DIR",
    "Look for the dataset's videos, as <source_id>.<extension> or <video_id>.<extension>, in this folder, or for their "
    "ids in this list.",
    type=FILE,
)
@option(
    "--online",
    "Ask the sites whether the dataset's videos are still there, by yt-dlp, without downloading.",
    is_flag=True,
)
@out_option(
    "With --videos or --online: write availability.csv, a row for each source, and protocol.json, the clips whose "
    "video is there.",
    required=False,
)
@option(
    "--rebuild",
    "Build it again from what needs not be given: its recipe, and official files that are fetched.",
    is_flag=True,
    group="Extent",
)
@option("--files-only", "Only compare the files with the manifest.", is_flag=True, group="Extent")
@option("--json", "Print the counts of --videos or --online as JSON.", name="as_json", is_flag=True, group="Videos")
@option("--limit N", "With --online: ask about this many sources only, in their order.", type=POSITIVE, group="Videos")
@option(
    "--sleep SECONDS",
    "With --online: pause before each question.",
    type=click.FloatRange(min=0),
    default=5.0,
    group="Videos",
)
def command(
    dataset: str,
    settings: tuple[str, ...],
    reference: str | None,
    videos: Path | None,
    online: bool,
    out: Path | None,
    rebuild: bool,
    files_only: bool,
    as_json: bool,
    limit: int | None,
    sleep: float,
) -> int:
    """Check that files are intact, or that the videos still exist.

    Compares the files of a dataset with its manifest. Given what the dataset was made from, it is also built from its
    own recipe in a temporary folder, and compared: every data file is the same to the byte, or the rows that differ
    are named. Official files that are not given are fetched, if it is known where they are ('vttdata fetch').
    """
    given = [*settings, *([f"input={reference}"] if reference else [])]
    of_videos = online or videos is not None
    contradictions = {
        "--rebuild and --files-only exclude each other": rebuild and files_only,
        "--videos and --online exclude each other": online and videos is not None,
        "--videos and --online are about videos only; leave --set, --input, --rebuild and --files-only out": of_videos
        and (given or rebuild or files_only),
        "--out and --json go with --videos or --online": not of_videos and (out is not None or as_json),
        "--limit goes with --online": limit is not None and not online,
    }
    context = click.get_current_context()
    for problem, is_there in contradictions.items():
        if is_there:
            raise click.UsageError(problem, context)
    if of_videos:
        if out is None:
            raise click.UsageError("--videos and --online write what they find; give a folder with --out DIR", context)
        return check_availability(dataset, out, videos=videos, limit=limit, sleep=sleep, as_json=as_json)
    return check_tables(dataset, given, rebuild=rebuild, files_only=files_only)


def check_tables(dataset: str, given: Sequence[str], *, rebuild: bool, files_only: bool) -> int:
    """Compare the files of a dataset with its manifest, and what a rebuild with the `given` settings gives.

    Returns:
        The exit code: `DIFFERENT` if something is not as it was.
    """
    from vttdata.dataset.provenance import PROVENANCE, RECIPE, read_provenance
    from vttdata.load.lookup import ALL_VIDEOS, is_remote_dataset
    from vttdata.load.remote_datasets import copy_dataset

    build_again = bool(given or rebuild) and not files_only
    if is_remote_dataset(dataset):
        # The cache has only files that are as the manifest lists them.
        temporary = click.get_current_context().with_resource(tempfile.TemporaryDirectory(prefix="vttdata-"))
        folder = copy_dataset(dataset, Path(temporary, "dataset"))
    else:
        folder = find_tables(dataset, videos=ALL_VIDEOS if build_again else ())
    damage, not_fetched = _check_files(folder)
    if not build_again:
        if not files_only:
            _print_how_to_rebuild(folder, dataset)
        return DIFFERENT if damage else DONE
    edited = [line for line in damage if line.startswith((f"{RECIPE}:", f"{PROVENANCE}:"))]
    if edited:
        print(f"It is not made again: {edited[0]}", file=sys.stderr)
        return DIFFERENT
    provenance = read_provenance(folder)
    from vttdata.cli.build import print_note
    from vttdata.compose.rebuild import compare_with, fetch_inputs, rebuild_dataset
    from vttdata.subprocesses import usable_cores

    given = [*fetch_inputs(folder, provenance, given, print_note), *given]
    _print_other_inputs(folder, provenance, given)
    _print_other_tools(provenance)
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="vttdata-") as scratch:
        rebuilt = rebuild_dataset(folder, Path(scratch, "again"), given, workers=usable_cores())
        try:
            comparison = compare_with(folder, rebuilt, not_fetched)
        except VttdataError as error:
            print(f"differs: {error}")
            return DIFFERENT
    _print_comparison(comparison, time.monotonic() - start)
    return DONE if comparison.identical and not damage else DIFFERENT


def find_tables(reference: str, *, videos: Sequence[str] = ()) -> Path:
    """Return the folder of a dataset by path or name, or a folder of tables with a manifest and without a card.

    See `vttdata.load.lookup.find_dataset` for `videos`.
    """
    from vttdata.dataset.manifest import MANIFEST
    from vttdata.load.local_builds import ACCOUNT
    from vttdata.load.lookup import find_dataset

    # A build folder is its dataset, whatever else was written beside it.
    path = Path(reference) / "dataset" if (Path(reference) / ACCOUNT).is_file() else Path(reference)
    return path if (path / MANIFEST).is_file() else find_dataset(reference, videos=videos)


def _check_files(folder: Path) -> tuple[list[str], list[str]]:
    """Print how files compare with the manifest; return the damage, and the names of files that stayed on the Hub."""
    from vttdata.dataset.front_matter import find_files, read_front_matter
    from vttdata.dataset.manifest import find_damage, read_dataset_manifest
    from vttdata.dataset.parquet import check_footers
    from vttdata.load.integrity import videos_not_downloaded

    files = read_dataset_manifest(folder)["files"]
    not_fetched = videos_not_downloaded(folder)
    damage = find_damage(folder, not_fetched)
    if not damage and (folder / "README.md").is_file():
        try:
            check_footers(find_files(folder, read_front_matter(folder)))
        except VttdataError as error:
            damage.append(str(error))
    more = f"; {len(not_fetched):,} were not fetched from the Hub" if not_fetched else ""
    if damage:
        print("\n".join(damage))
        print(f"files: {len(damage):,} are not as the manifest lists them, which lists {len(files):,}{more}")
    else:
        print(f"files: {len(files) - len(not_fetched):,} are as the manifest lists them{more}")
    return damage, not_fetched


def _print_how_to_rebuild(folder: Path, dataset: str) -> None:
    from vttdata.dataset.provenance import RECIPE, read_provenance
    from vttdata.files.strict_yaml import read_yaml

    try:
        from vttdata.compose.rebuild import official_inputs
        from vttdata.recipe.published import settings_to_give

        provenance = read_provenance(folder)
        raw = read_yaml(folder / RECIPE)
        _, fetched = official_inputs(raw, provenance) or (None, {})
        inputs = [file.name for file in provenance.inputs if file.key == "input"]
        wanted = "".join(
            f" --input {inputs[0] if len(inputs) == 1 else 'INPUT'}" if text.startswith("input=") else f" --set {text}"
            for text in settings_to_give(raw)
            if text.partition("=")[0] not in fetched
        )
    except ModuleNotFoundError:
        print("Its README says how to make it again; that takes pip install 'vttdata[build]'.", file=sys.stderr)
        return
    except VttdataError as error:
        print(error, file=sys.stderr)
        return
    origin = " from official files, which are fetched" if fetched else ""
    print(f"To make it again{origin}: vttdata verify {shlex.quote(dataset)}{wanted or ' --rebuild'}", file=sys.stderr)


def _print_other_inputs(folder: Path, provenance: Provenance, settings: Sequence[str]) -> None:
    from vttdata.compose.rebuild import other_inputs

    given: dict[str, Path] = {}
    for key, _, value in (text.partition("=") for text in settings):
        if key == "input" and not Path(value).is_file():
            given[key] = find_tables(value)
        elif value and Path(value).exists():
            given[key] = Path(value)
    others = other_inputs(folder, provenance, given)
    if others:
        print(f"inputs: {len(others):,} are other files than those it was made from: {_first_names(others)}")
    elif given:
        print("inputs: those that it was made from")


def _print_other_tools(provenance: Provenance) -> None:
    from vttdata.dataset.provenance import library_versions
    from vttdata.version import __version__

    here: dict[str, Any] = library_versions(provenance.tools) | {"vttdata": __version__}
    if "ffmpeg" in provenance.tools:
        from vttdata.media.ffmpeg_program import ffmpeg_version

        here["ffmpeg"] = ffmpeg_version()
    then = {**provenance.tools, "vttdata": provenance.vttdata}
    others = [
        f"{name} {here.get(name, 'none')} (then {version})"
        for name, version in then.items()
        if here.get(name) != version
    ]
    print(f"tools: {', '.join(others)}" if others else "tools: the same versions")


def _print_comparison(comparison: RebuildComparison, seconds: float) -> None:
    if comparison.descriptions:
        print(f"also not the same: {', '.join(comparison.descriptions)}")
    files = f"{comparison.files:,} data files"
    if comparison.identical:
        print(f"identical: all {files}, made again in {seconds:.1f} s, are the same to the byte")
        return
    if comparison.rows is not None:
        print("\n".join(comparison.rows.as_lines()) or "No row differs.")
    if comparison.differing:
        differing = comparison.differing
        difference = f"{len(differing):,} of {files} are not the same: {_first_names(differing)}"
    else:
        difference = f"there are data files that it does not have: {_first_names(comparison.further)}"
    print(f"differs: made again in {seconds:.1f} s, {difference}")


def _first_names(names: Sequence[str]) -> str:
    return ", ".join(names[:_MAX_NAMES]) + (", ..." if len(names) > _MAX_NAMES else "")
