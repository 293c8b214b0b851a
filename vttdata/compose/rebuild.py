"""Rebuild a dataset from its own recipe and compare: are the inputs the same, is every data file the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from vttdata.compose.build import build_recipe
from vttdata.dataset.find_tables import read_tables
from vttdata.dataset.manifest import read_dataset_manifest
from vttdata.dataset.provenance import PROVENANCE, RECIPE, Provenance, find_files_named
from vttdata.dataset.rows import ERRATA
from vttdata.dataset.tombstones import WITHDRAWN
from vttdata.dataset.videos import PREVIEW
from vttdata.files.downloads import OriginFile
from vttdata.files.reading import file_sha256, is_inside, links_out
from vttdata.files.strict_yaml import read_yaml
from vttdata.json_types import JsonObject
from vttdata.load.official_files import fetch_files, put_together
from vttdata.publish.diff import DatasetDifference, compare_datasets
from vttdata.publish.row_hashes import read_batches
from vttdata.recipe import packaged
from vttdata.recipe.origins import Origins, find_origins
from vttdata.recipe.published import load_foreign_recipe, wanted_paths

# Files that describe a dataset; they contain or follow from versions of tools, so that they may differ. All others are
# data.
DESCRIPTIONS = frozenset({"README.md", "croissant.json", PREVIEW, PROVENANCE, RECIPE})


@dataclass(frozen=True, slots=True)
class RebuildComparison:
    """Comparison of a dataset with one that was built from its provenance.

    Fields:
        files: number of data files of the dataset.
        differing: names of data files whose bytes differ.
        further: names of data files that were built and that the dataset does not have.
        rows: how the rows differ; None where every data file is the same.
        descriptions: files among `DESCRIPTIONS` that differ.
    """

    files: int
    differing: tuple[str, ...]
    further: tuple[str, ...]
    rows: DatasetDifference | None
    descriptions: tuple[str, ...]

    @property
    def identical(self) -> bool:
        """Return True if every data file is the same to the byte."""
        return not self.differing and not self.further


def compare_with(dataset: Path, rebuilt: Path, left_out: Iterable[str] = ()) -> RebuildComparison:
    """Compare the files of a dataset, as they are on disk, with those of a rebuilt one.

    Left out are files that the dataset's manifest does not list, and `left_out`, which were not fetched.

    Raises:
        VttdataError: when a dataset has no manifest or a table of it is damaged.
    """
    skipped = set(left_out)
    before, after = read_dataset_manifest(dataset)["files"], read_dataset_manifest(rebuilt)["files"]
    names = sorted({*before, *after} - skipped)
    same = set()
    for name in names:
        path = dataset / name
        is_own = is_inside(name) and not links_out(dataset, path) and path.is_file()
        if name in after and is_own and file_sha256(path) == after[name]["sha256"]:
            same.add(name)
    differing = tuple(name for name in names if name in before and name not in same | DESCRIPTIONS)
    further = tuple(name for name in names if name not in before and name not in DESCRIPTIONS)
    rows = compare_datasets(dataset, rebuilt) if differing or further else None
    descriptions = tuple(name for name in names if name in DESCRIPTIONS and name not in same)
    files = len(set(before) - skipped - DESCRIPTIONS)
    return RebuildComparison(files, differing, further, rows, descriptions)


def official_inputs(raw: JsonObject, provenance: Provenance) -> tuple[Origins, dict[str, list[OriginFile]]] | None:
    """Return the origins of a dataset's inputs, and the official files for each setting that its recipe asks for.

    Of files that recipes can do without, those count that the dataset was made from, by their SHA-256; settings whose
    files have no known origin are left out. None for a dataset that no packaged recipe with known origins builds.
    """
    recipe = packaged.datasets_of_recipes().get(str(raw.get("name")))
    if recipe is None or (origins := find_origins(recipe)) is None:
        return None
    used = {(file.key, file.sha256) for file in provenance.inputs}
    files = {}
    for key in (text.partition("=")[0] for text in wanted_paths(raw)):
        is_folder = key == "annotations"
        files[key] = [
            file for file in origins.files if (is_folder and not file.is_optional) or (key, file.digest) in used
        ]
    return origins, {key: of_key for key, of_key in files.items() if of_key}


def fetch_inputs(dataset: Path, provenance: Provenance, given: Sequence[str], note: Callable[[str], None]) -> list[str]:
    """Return the settings ``key=value`` of official files that a dataset was made from and that are not `given`.

    The files are fetched; see `official_inputs` for which.

    Raises:
        VttdataError: as `vttdata.load.official_files.fetch_files`; before anything is fetched, as `rebuild_dataset`.
    """
    raw = read_yaml(dataset / RECIPE)
    origins, files = official_inputs(raw, provenance) or (None, {})
    keys = {text.partition("=")[0] for text in given}
    needed = {key: of_key for key, of_key in files.items() if key not in keys}
    if origins is None or not needed:
        return []
    # Of the same kind as what the settings will name.
    places = [f"{key}={dataset if key == 'annotations' else dataset / RECIPE}" for key in needed]
    load_foreign_recipe(raw, dataset / RECIPE, [*places, *given])
    paths = fetch_files(origins, note, dict.fromkeys(file for of_key in needed.values() for file in of_key))
    folder = put_together(origins, paths)
    return [
        f"{key}={folder if key == 'annotations' else folder / of_key[0].name}"
        for key, of_key in needed.items()
        if key == "annotations" or of_key[0] in paths
    ]


def rebuild_dataset(dataset: Path, folder: Path, settings: Sequence[str], *, workers: int) -> Path:
    """Build the recipe of a dataset in a new or empty folder; return the folder of the dataset that comes out.

    Settings are texts ``key=value``, those that name the inputs among them.

    Raises:
        VttdataError: when the recipe needs something that is not given, or names a builder that is not packaged.
    """
    if any((dataset / name).is_dir() for name in (ERRATA, WITHDRAWN)):
        settings = [f"corrections={dataset}", *settings]
    loaded = load_foreign_recipe(read_yaml(dataset / RECIPE), dataset / RECIPE, settings)
    run, _ = build_recipe(loaded, folder, workers=workers)
    return run.dataset


def other_inputs(dataset: Path, provenance: Provenance, given: Mapping[str, Path]) -> list[str]:
    """Return the names of inputs that are missing or are other files than those that a dataset was made from.

    Its table `sources` lists the videos of a folder or list that were used, and its provenance the other inputs;
    `given` are the files and folders that are there now, by the key of the recipe.
    """
    others: set[str] = set()
    for key, path in given.items():
        wanted = [file for file in provenance.inputs if file.key == key]
        if path.is_file():
            sha256 = file_sha256(path) if wanted else ""
            others.update(file.name for file in wanted if file.sha256 != sha256)
        else:
            names = {file: PurePosixPath(file.name).name for file in wanted}
            found = find_files_named(path, set(names.values()))
            others.update(file.name for file, name in names.items() if file.sha256 not in found.get(name, {}))
        if key in ("collect.folder", "collect.manifest"):
            others.update(_other_sources(dataset, path if path.is_dir() else path.parent))
    return sorted(others)


def _other_sources(dataset: Path, folder: Path) -> Iterator[str]:
    """Yield videos whose content differs from table `sources`; those of a list that lie elsewhere are not checked."""
    contents = read_tables(dataset).get("sources")
    for path in contents.paths if contents is not None else ():
        for batch in read_batches(path, ["file", "sha256"]):
            for row in batch.to_pylist():
                name, sha256 = row.get("file"), row.get("sha256")
                exists = bool(name and sha256) and is_inside(name) and (folder / name).is_file()
                if exists and file_sha256(folder / name) != sha256:
                    yield name
