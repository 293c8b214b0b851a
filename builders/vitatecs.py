"""VITATECS (Li et al., ECCV 2024): captions of MSR-VTT and VATEX and texts that differ in one temporal aspect.

The release (github.com/lscpku/VITATECS, ``data``) is one file of JSON lines for each aspect: Direction, Intensity,
Sequence, Localization, Compositionality and Type. A line has `src_dataset`, `video_name` (a file), `caption`,
`counterfactual` and `aspect`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal

import pydantic

from vttdata.annotations.files import OfficialObject, list_files
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
    """Recipe for the official files of VITATECS."""


def build(recipe: Recipe, run: Build) -> None:
    """Bring the build folder up to date with the recipe; the dataset is replaced in one step at the end."""
    build_counterfactuals(recipe, run, read(Path(recipe.annotations)))


_Text = Annotated[str, pydantic.Field(min_length=1)]


@dataclass(frozen=True, slots=True)
class TemporalPair(OfficialObject):
    """Caption of a video and a text that differs in one temporal aspect."""

    src_dataset: Literal["MSRVTT", "VATEX"]
    video_name: str
    caption: _Text
    counterfactual: _Text
    aspect: str


_SHAPE: pydantic.TypeAdapter[TemporalPair] = pydantic.TypeAdapter(TemporalPair)


def read(folder: Path) -> Counterfactuals:
    """Read a folder, or a zip archive in it, with the official files.

    Returns:
        The pairs in the order of the files, with the ids that their videos have in MSR-VTT and VATEX.

    Raises:
        VttdataError: when there is no file, or a line is damaged or of another shape.
    """
    files = {file.name: file for file in reversed(list_files(folder, {".jsonl"}))}
    if not files:
        raise VttdataError(f"{folder}: holds no .jsonl file of VITATECS; its folder `data` has one for each aspect.")
    records = RecordCollector()
    pairs = []
    for name, file in sorted(files.items()):
        for location, pair in records.read_json_lines(file, _SHAPE):
            video_id = checked_id(PurePosixPath(pair.video_name).stem, location)
            pair_id = f"{PurePosixPath(name).stem}_{location.rpartition(':')[2]}"
            pairs.append(CounterfactualPair(pair_id, video_id, pair.caption, pair.counterfactual, pair.aspect))
            if pair.caption == pair.counterfactual:
                records.findings.add("identical_texts", name, pair_id)
            if pair.aspect.casefold() != PurePosixPath(name).stem.casefold():
                records.findings.add("aspect_of_another_file", name, pair_id)
    return Counterfactuals(pairs, records.findings.result(), records.checksums)
