"""VALSE (Parcalabescu et al., ACL 2022): captions of images and foils that differ in one linguistic phenomenon.

The release (github.com/Heidelberg-NLP/VALSE, ``data``) is one JSON file for each instrument, such as ``plurals.json``:
an object from keys to `image_file`, `caption`, `foil` and `mturk`, in which `caption` counts the annotators, of three,
who chose the caption and not the foil. A pair is valid where two or more did.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Annotated

import pydantic

from vttdata.annotations.files import OfficialObject, key_path, list_files
from vttdata.annotations.model import checked_id
from vttdata.annotations.record_collector import RecordCollector
from vttdata.compose.counterfactuals import (
    CounterfactualPair,
    CounterfactualRecipe,
    Counterfactuals,
    build_counterfactuals,
)
from vttdata.errors import VttdataError
from vttdata.pipeline.build_folder import Build


class Recipe(CounterfactualRecipe):
    """Recipe for the official files of VALSE."""


def build(recipe: Recipe, run: Build) -> None:
    """Bring the build folder up to date with the recipe; the dataset is replaced in one step at the end."""
    build_counterfactuals(recipe, run, read(Path(recipe.annotations)))


_Text = Annotated[str, pydantic.Field(min_length=1)]
_LEAST_VOTES = 2


@dataclass(frozen=True, slots=True)
class Votes(OfficialObject):
    """Number of annotators who chose the caption and not the foil."""

    caption: int


@dataclass(frozen=True, slots=True)
class FoiledCaption(OfficialObject):
    """Caption of an image and its foil."""

    image_file: str
    caption: _Text
    foil: _Text
    mturk: Votes


_SHAPE: pydantic.TypeAdapter[dict[str, FoiledCaption]] = pydantic.TypeAdapter(dict[str, FoiledCaption])


def read(folder: Path) -> Counterfactuals:
    """Read a folder, or a zip archive in it, with the official files; each is one aspect.

    Returns:
        The pairs in the order of the files; those that are not valid are in the split ``unvalidated``. An image is
        named by its file without extension, ``-`` for characters that no id may have.

    Raises:
        VttdataError: when there is no file, or one is damaged or of another shape.
    """
    files = {file.name: file for file in reversed(list_files(folder, {".json"}))}
    if not files:
        raise VttdataError(f"{folder}: holds no .json file of VALSE; its folder `data` has one for each instrument.")
    records = RecordCollector()
    pairs = []
    for name, file in sorted(files.items()):
        aspect = PurePosixPath(name).stem
        for key, pair in records.read_json(file, _SHAPE).items():
            image = re.sub(r"[^A-Za-z0-9._-]", "-", PurePosixPath(pair.image_file).stem)
            checked_id(image, f"{file}: {key_path((key, 'image_file'))}")
            split = "test" if pair.mturk.caption >= _LEAST_VOTES else "unvalidated"
            pairs.append(CounterfactualPair(f"{aspect}/{key}", image, pair.caption, pair.foil, aspect, split))
            if pair.caption == pair.foil:
                records.findings.add("identical_texts", name, f"{aspect}/{key}")
    return Counterfactuals(pairs, records.findings.result(), records.checksums)
