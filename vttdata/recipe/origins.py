"""Where the official files behind recipes lie: addresses, sizes, digests, licences and terms, as data.

A file ``recipes/origins/NAME.yaml`` is about the files of one benchmark, which several recipes may read. Nothing is
downloaded here.
"""

from __future__ import annotations

import dataclasses
import functools
import re
import urllib.parse
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import pydantic

from vttdata.errors import VttdataError
from vttdata.files.downloads import OriginFile
from vttdata.files.reading import is_inside
from vttdata.files.strict_yaml import read_yaml_as
from vttdata.plugins import discover
from vttdata.recipe import packaged
from vttdata.settings import Count, PositiveCount, Strict

_ADDRESS = re.compile(r"https?://[^\s/]+/\S*")


@dataclass(frozen=True, slots=True)
class RecipeOfFiles(Strict):
    """What a recipe makes of the files.

    Fields:
        seconds: that its build takes on two cores, rounded up.
        protocols: name -> split -> file of ids; see `vttdata.compose.official_benchmark.OfficialRecipe`.
        allow_leaks: reason to package the dataset with these protocols, if their splits leak.
    """

    seconds: PositiveCount
    protocols: dict[str, dict[str, str]] = field(default_factory=dict)
    allow_leaks: str | None = None


@dataclass(frozen=True, slots=True)
class PlacedFile(Strict):
    """File at a place.

    Fields:
        path: after the address of the place; by default its name.
        bytes: where the size is known.
        sha256, git_blob: what the content is compared with: its SHA-256, or the id of the blob in a Git repository.
        optional: whether recipes can do without it; protocols whose list is missing are left out.
    """

    path: str | None = None
    bytes: Count | None = None
    sha256: Annotated[str | None, pydantic.Field(pattern="^[0-9a-f]{64}$")] = None
    git_blob: Annotated[str | None, pydantic.Field(pattern="^[0-9a-f]{40}$")] = None
    optional: bool = False

    def __post_init__(self) -> None:
        if not self.digest:
            raise ValueError(
                "neither sha256 nor git_blob is given, so that the file could not be told from a page that answers in "
                "its place; 'sha256sum FILE' or 'git ls-tree COMMIT PATH' prints it"
            )

    @property
    def digest(self) -> str:
        """The SHA-256, or else the id of the Git blob."""
        return self.sha256 or self.git_blob or ""


@dataclass(frozen=True, slots=True)
class Place(Strict):
    """Files that lie together, by their names in the folder of annotations.

    Fields:
        at: addresses that the paths of the files are appended to, the one that is asked first first; empty where the
            files are handed out on request only.
        licence: of these files.
        files: the files.
    """

    at: list[str]
    licence: str
    files: dict[str, PlacedFile]

    def __post_init__(self) -> None:
        wrong = [address for address in self.at if not _ADDRESS.fullmatch(address) or not address.endswith("/")]
        if wrong:
            raise ValueError(f"found {wrong[0]!a}; it should be addresses such as https://example.org/data/")
        if outside := next((name for name in self.files if not is_inside(name)), None):
            raise ValueError(f"{outside!a} leads out of the folder of annotations")


@dataclass(frozen=True, slots=True)
class Origins(Strict):
    """Official files of a benchmark.

    Fields:
        home: page of the benchmark, where to ask.
        terms: what is known of the terms of use, for people.
        recipes: those that read the files, by name.
        places: of the files; empty for what vttdata makes itself.
        consent: whether the terms ask for the user's consent.
        benchmark: name of the file, which is that of the folder in a mirror.
    """

    home: str
    terms: str
    recipes: dict[str, RecipeOfFiles]
    places: list[Place]
    consent: bool = False
    benchmark: str = ""

    @property
    def files(self) -> list[OriginFile]:
        """All files, in the order of their places."""
        return [
            OriginFile(
                self.benchmark,
                name,
                tuple(base + urllib.parse.quote(file.path or name) for base in place.at),
                file.bytes,
                file.digest,
                place.licence,
                file.optional,
            )
            for place in self.places
            for name, file in place.files.items()
        ]


@dataclass(frozen=True, slots=True)
class Effort:
    """What it takes to build a recipe without giving it any file.

    Fields:
        bytes: of all files, as far as their sizes are known; 0 where nothing is downloaded.
        unknown_sizes: number of files whose sizes are not known.
        seconds: that the build takes on two cores after that, about.
    """

    bytes: int
    unknown_sizes: int
    seconds: int


def all_origins() -> dict[str, Path]:
    """Return the files of origins by name: packaged ones, then those in the user's folder ``origins`` of plugins."""
    return discover(packaged.folder("recipes") / "origins", "origins", ".yaml")


def find_origins(recipe: str) -> Origins | None:
    """Return where the files behind a recipe lie, by the name of the recipe; None where that is not known.

    Raises:
        VttdataError: when a file of origins is not as it should be; names the key.
    """
    # Reading all files takes a tenth of a second, and most do not mention the recipe.
    mentioning = (path for path in all_origins().values() if recipe.encode() in path.read_bytes())
    return next((origins for origins in map(read_origins, mentioning) if recipe in origins.recipes), None)


def effort(recipe: str) -> Effort | None:
    """Return what it takes to build a recipe without giving it any file; None if it needs some, or other videos.

    Raises:
        VttdataError: as `find_origins`.
    """
    origins = find_origins(recipe)
    if origins is None or not all(file.addresses or file.is_optional for file in origins.files):
        return None
    sizes = [file.bytes for file in origins.files]
    return Effort(sum(filter(None, sizes)), sizes.count(None), origins.recipes[recipe].seconds)


@functools.cache
def read_origins(path: Path) -> Origins:
    """Return the content of a file of origins.

    Raises:
        VttdataError: when it is not as it should be; names the key.
    """
    origins, _ = read_yaml_as(path, pydantic.TypeAdapter(Origins))
    names = [name for place in origins.places for name in place.files]
    for recipe, use in origins.recipes.items():
        for protocol, splits in use.protocols.items():
            if missing := next((file for file in splits.values() if file not in names), None):
                raise VttdataError(
                    f"{path}: recipes: {recipe}: protocols: {protocol}: {missing!a} is none of the files."
                )
    return dataclasses.replace(origins, benchmark=path.stem)
