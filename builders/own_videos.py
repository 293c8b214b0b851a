"""Builds a video-to-text benchmark the way MSR-VTT was built (Xu et al., CVPR 2016, section 3).

Videos are collected by query, list or folder; shots are found by colour histogram; runs of consecutive shots of
10-30 s become clips, at most three a video; each clip gets its human captions; the splits share no source.
Where the paper had people choose clips by eye, a deterministic rule chooses here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar

import pydantic

from vttdata.collect import CollectSettings, list_folder, list_manifest, remove_unfinished
from vttdata.compose.package import package
from vttdata.dataset.videos import PublishSettings
from vttdata.errors import VttdataError
from vttdata.files.id_lists import read_pins
from vttdata.ids import digest
from vttdata.media.clips import ClipSettings
from vttdata.media.cut import MediaSettings
from vttdata.media.filters import FilterSettings
from vttdata.media.shots.detect import ShotSettings
from vttdata.pipeline.build import Build, keep_only
from vttdata.pipeline.stages.captions import CleanCaptions, EnoughCaptions, count_captions, group_raw_captions
from vttdata.pipeline.stages.clips import Clips, Cut, Shots
from vttdata.pipeline.stages.collect import DeduplicateCandidates, DrawScenes, Fetch, Query, Search
from vttdata.pipeline.stages.items import SourceFolders, join_shots, join_sources
from vttdata.pipeline.stages.sources import Duplicates, Filter, MeasureSources, ProbeSources, Screen
from vttdata.pipeline.stages.split import NearDuplicates, Split
from vttdata.recipe.load import BaseRecipe
from vttdata.recipe.paths import Paths
from vttdata.records import Candidate, Source
from vttdata.split import SplitSettings
from vttdata.split.near_duplicates.records import NearDuplicate
from vttdata.text.captions import CaptionSettings, read_caption_table


class Recipe(BaseRecipe):
    """A recipe for this builder."""

    paths: ClassVar[Paths] = {
        "collect.folder": "folder",
        "collect.manifest": "file",
        "collect.cookies": "file",
        "captions.file": "file",
        "split.pin": "file",
    }
    one_of: ClassVar[dict[str, frozenset[str]]] = {"collect": frozenset({"folder", "manifest", "search", "scenes"})}
    secrets: ClassVar[frozenset[str]] = frozenset({"collect.cookies", "collect.cookies_from_browser", "collect.proxy"})

    collect: CollectSettings = pydantic.Field(
        description="one of folder, manifest, search or scenes, such as --set collect.folder=VIDEOS"
    )
    filter: FilterSettings = FilterSettings()
    shots: ShotSettings = ShotSettings()
    clips: ClipSettings = ClipSettings()
    media: MediaSettings = MediaSettings()
    captions: CaptionSettings = CaptionSettings()
    split: SplitSettings = SplitSettings()
    publish: PublishSettings = PublishSettings()

    @pydantic.field_validator("publish")
    @classmethod
    def _published_clips_are_cut(cls, publish: PublishSettings, others: pydantic.ValidationInfo) -> PublishSettings:
        media: MediaSettings | None = others.data.get("media")
        if media is not None and media.keep == "none" and publish.media not in (None, "none"):
            raise ValueError(f"found media '{publish.media}', but media.keep is none, so no clip is written as a file")
        return publish


def build(recipe: Recipe, run: Build) -> None:
    """Bring the build folder up to date with the recipe; the dataset is replaced in one step at the end."""
    _check_inputs(recipe, run)
    folders = SourceFolders(_listed_folder(recipe.collect, run), run.media("sources"))
    decoder, encoder = f"av {run.tools['av']}", f"ffmpeg {run.tools['ffmpeg']}"
    remove_unfinished(folders.fetched)

    listed = _candidates(recipe, run, encoder)
    collected = run.stage(Fetch(recipe.collect.max_height, recipe.collect, folders), listed)
    probed = run.stage(ProbeSources(folders), collected, len(collected))
    unique = run.stage(Duplicates(), probed)
    screened = run.stage(Screen(recipe.filter), unique, len(unique))
    measured = run.stage(MeasureSources(decoder, folders), screened, len(screened))
    sources = run.stage(Filter(recipe.filter), measured, len(measured))

    duplicates = run.stage(NearDuplicates(), sources, may_be_empty=True)
    shots = run.stage(Shots(recipe.shots, decoder, folders), sources, len(sources))
    clips = run.stage(Clips(recipe.clips), join_shots(sources, shots), len(sources))
    media = None
    if recipe.media.keep == "files":
        media = run.media("clips", digest([recipe.media, encoder])[:12])
        clips = run.stage(Cut(recipe.media, encoder, folders, media), join_sources(clips, sources), len(clips))
        keep_only(media, {f"{clip.video_id}.mp4" for clip in clips})
        keep_only(media.parent, {media.name})

    captions_file = _captions_file(recipe, folders)
    captions = None
    if captions_file is not None:
        written = group_raw_captions(captions_file, recipe.captions, clips, sources)
        captions = run.stage(CleanCaptions(recipe.captions), written, may_be_empty=True)
        clips = run.stage(EnoughCaptions(recipe.captions), count_captions(clips, captions), len(clips))
    split = run.stage(_split(recipe, sources, duplicates), clips)

    mode = recipe.publish.media or ("none" if recipe.collect.search is not None else "files")
    how = next(told for key, told in _COLLECTED.items() if getattr(recipe.collect, key) is not None)
    package(run, split, captions or (), sources, recipe.split, media, mode=mode, collected=how)


_COLLECTED = {
    "folder": "Videos of one folder, cut at shots that were found by colour histogram.",
    "manifest": "Videos that a table lists, cut at shots that were found by colour histogram or where the table says.",
    "search": "Videos that search queries found, in categories; cut at shots that were found by colour histogram.",
    "scenes": "Videos that were drawn by a program, with captions written from what is drawn.",
}


def _check_inputs(recipe: Recipe, run: Build) -> None:
    """Find out before any work what would end the build after hours."""
    folder = recipe.collect.folder
    if folder is not None and run.folder.resolve().is_relative_to(Path(folder).resolve()):
        raise VttdataError(
            f"The build folder {run.folder} lies inside collect.folder {folder}, so its clips would become sources; "
            "name another place with --out."
        )
    if recipe.captions.file is not None:
        deque(read_caption_table(Path(recipe.captions.file), recipe.captions), maxlen=0)
    if recipe.split.pin is not None:
        read_pins(Path(recipe.split.pin))


def _listed_folder(collect: CollectSettings, run: Build) -> Path:
    if collect.folder is not None:
        return Path(collect.folder)
    return Path(collect.manifest).parent if collect.manifest is not None else run.media("scenes")


def _candidates(recipe: Recipe, run: Build, encoder: str) -> Iterable[Candidate]:
    collect = recipe.collect
    if collect.folder is not None:
        return list_folder(Path(collect.folder))
    if collect.manifest is not None:
        return list_manifest(Path(collect.manifest))
    if collect.search is not None:
        queries = [Query(category, query) for category, texts in collect.search.queries.items() for query in texts]
        results = run.stage(Search(collect.search.engine, collect.search.per_query, collect), queries, len(queries))
        return run.stage(DeduplicateCandidates(), results)
    return run.stage(DrawScenes(recipe.seed, encoder, run.media("scenes")), [collect.scenes])


def _split(recipe: Recipe, sources: Iterable[Source], duplicates: Iterable[NearDuplicate]) -> Split:
    asked = recipe.split
    pairs = tuple((pair.source_a, pair.source_b) for pair in duplicates)
    pins = read_pins(Path(asked.pin)) if asked.pin is not None else {}
    uploaders = {s.source_id: s.uploader for s in sources if s.uploader} if "uploader" in asked.together else {}
    return Split(asked, recipe.seed, tuple(sorted(pins.items())), pairs, tuple(sorted(uploaders.items())))


def _captions_file(recipe: Recipe, folders: SourceFolders) -> Path | None:
    if recipe.captions.file is not None:
        return Path(recipe.captions.file)
    return folders.listed / "captions.csv" if recipe.collect.scenes is not None else None
