"""Build published counterfactual sets: each caption with an official text that says something else of the same video.

Shared by the builders of such sets, each of which adds the reader of its files. Nothing is mined or chosen here; blind
attackers try the pairs as they are.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import ClassVar

import pydantic

from vttdata.annotations import Finding
from vttdata.compose.package import metadata_of_build, provenance_of_build
from vttdata.dataset.foils.write import FoilSet, write_foils
from vttdata.dataset.provenance import write_provenance
from vttdata.errors import VttdataError
from vttdata.generate.blind.choices import TextPair
from vttdata.generate.blind.shortcuts import audit_shortcuts
from vttdata.generate.foils import check_foil_libraries
from vttdata.generate.foils.documents import FoilPair
from vttdata.generate.foils.swaps import Swap
from vttdata.pipeline.build_folder import Build
from vttdata.pipeline.stages.annotations import FINDINGS
from vttdata.recipe import BaseRecipe
from vttdata.recipe.load import Paths


class CounterfactualRecipe(BaseRecipe):
    """Recipe for the official files of a counterfactual set, in the folder `annotations`."""

    paths: ClassVar[Paths] = {"annotations": "folder"}

    language: str = "en"
    annotations: str = pydantic.Field(description="a folder with the official files, such as --set annotations=FOLDER")

    @classmethod
    def check_libraries(cls) -> None:
        """Check that the libraries for foils are installed."""
        check_foil_libraries()


@dataclass(frozen=True, slots=True)
class CounterfactualPair:
    """Caption of a video or image, which is true, and its counterfactual, which is not.

    `pair_id` is unique in the set, and `aspect` is that by which the texts differ, as the files name it.
    """

    pair_id: str
    video_id: str
    caption: str
    counterfactual: str
    aspect: str
    split: str = "test"


@dataclass(frozen=True, slots=True)
class Counterfactuals:
    """Content of the official files of a counterfactual set, in their order; `files` are names with their SHA-256."""

    pairs: Sequence[CounterfactualPair]
    findings: tuple[Finding, ...]
    files: Mapping[str, str]


class OfficialPair(FoilPair):
    """Pair with an official id."""

    @property
    def foil_id(self) -> str:
        """Return the official id."""
        return self.caption_id


def build_counterfactuals(recipe: CounterfactualRecipe, run: Build, official: Counterfactuals) -> FoilSet:
    """Let blind attackers try the pairs, and write them as the dataset of a build; return the set.

    Its aspects are the supercategories of the table ``foils``. A pair whose texts are the same stays in the dataset and
    is not attacked.

    Raises:
        VttdataError: when there is no pair, or fewer than two videos.
    """
    if not official.pairs:
        raise VttdataError(f"{recipe.annotations}: the files hold no pair of texts.")
    run.steps = 2
    run.stage(FINDINGS, official.findings, may_be_empty=True)
    pairs = []
    for pair in official.pairs:
        texts = pair.caption, pair.counterfactual
        change = describe_change(*texts, pair.aspect)
        pairs.append(OfficialPair(pair.video_id, pair.pair_id, 0, *texts, change, math.nan, math.nan, pair.split))
    with run.engine.progress(run.step("blind attacks")):
        shown = [TextPair(pair.caption, pair.foil, pair.video_id) for pair in pairs if pair.caption != pair.foil]
        attacks = {"foils": audit_shortcuts(shown, watch=run.watch)}
    aspects = Counter(pair.aspect for pair in official.pairs)
    counts = [("pairs", f"{len(pairs):,}"), ("videos", f"{len({pair.video_id for pair in pairs}):,}")]
    counts += [(f"aspect {aspect}", f"{number:,}") for aspect, number in aspects.items()]
    made = FoilSet(pairs, "official", recipe.seed, "", "", attacks=attacks, counts=counts)
    origin = provenance_of_build(run, official.files, ["scipy"], [])
    metadata = metadata_of_build(run, official.files)
    write_foils(run.dataset, made, metadata, lambda folder: write_provenance(folder, origin))
    return made


def describe_change(caption: str, counterfactual: str, aspect: str) -> Swap:
    """Return the shortest change of whole words at one place that makes a counterfactual of a caption."""
    words, others = caption.split(" "), counterfactual.split(" ")
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(words, others, strict=False)))
    rest, other_rest = words[same:], others[same:]
    tail = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(rest[::-1], other_rest[::-1], strict=False)))
    start = len(" ".join(words[:same])) + bool(same and rest)
    changed, replacement = (" ".join(side[: len(side) - tail]) for side in (rest, other_rest))
    end = start + len(changed)
    if caption[:start] + replacement + caption[end:] != counterfactual:
        # Words were only added or only left out, so a space more or less is part of the change.
        start, end, changed, replacement = 0, len(caption), caption, counterfactual
    return Swap(start, end, replacement, changed, replacement, aspect, changed.lower(), replacement.lower(), 0)
