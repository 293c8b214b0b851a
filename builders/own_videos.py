"""Build a benchmark from the user's own videos, the way MSR-VTT was built (Xu et al., CVPR 2016, section 3).

Videos are collected by query, list or folder; shots are found by colour histogram; runs of consecutive shots of
10-30 s become clips, at most three per video; each clip gets its human captions; the splits share no source. Where the
paper had people choose clips by eye, a deterministic rule chooses here.
"""

from __future__ import annotations

import json
import warnings
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

import pydantic

from vttdata.collect import CollectSettings, list_folder, list_manifest, remove_unfinished
from vttdata.collect.reachability import Address, addresses
from vttdata.compose.package import package
from vttdata.dataset.videos import PublishSettings
from vttdata.errors import VttdataError, VttdataWarning
from vttdata.files.id_lists import read_pins
from vttdata.ids import digest
from vttdata.media.clip_selection import ClipSettings
from vttdata.media.cut import MediaSettings
from vttdata.media.filters import FilterSettings
from vttdata.media.shots.detect import ShotSettings
from vttdata.pipeline.build_folder import Build
from vttdata.pipeline.stages.captions import CleanCaptions, EnoughCaptions, count_captions, group_raw_captions
from vttdata.pipeline.stages.collect import DeduplicateCandidates, DrawScenes, Fetch, Query, Search
from vttdata.pipeline.stages.split import KeepOne, NearDuplicates, Split
from vttdata.pipeline.stages.videos import (
    Clips,
    Cut,
    Duplicates,
    Filter,
    MeasureSources,
    ProbeSources,
    Screen,
    Shots,
    SourceFolders,
    features_path,
    join_shots,
    join_sources,
)
from vttdata.recipe import BaseRecipe
from vttdata.recipe.load import Paths
from vttdata.records import Candidate, Source
from vttdata.split import SplitSettings
from vttdata.text.captions import CaptionSettings, read_caption_table
from vttdata.text.language import UNDETERMINED, detect_other_language, primary_language


class Recipe(BaseRecipe):
    """Recipe for videos that are collected, cut and captioned."""

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
    near_duplicates: Literal["keep_all", "keep_one"] = "keep_all"
    split: SplitSettings = SplitSettings()
    publish: PublishSettings = PublishSettings()

    @pydantic.field_validator("shots", mode="before")
    @classmethod
    def _check_method(cls, shots: Any) -> Any:
        """Take out the key `method`, which recipes in published datasets hold, if it asks for the one way there is."""
        if not isinstance(shots, dict) or "method" not in shots:
            return shots
        if (method := shots["method"]) != "exact":
            advice = "every frame is decoded, so take shots.method out or set it to exact"
            raise ValueError(f"found method {json.dumps(method)}; {advice}")
        return {key: value for key, value in shots.items() if key != "method"}

    @pydantic.field_validator("publish")
    @classmethod
    def _check_clips_are_cut(cls, publish: PublishSettings, fields: pydantic.ValidationInfo) -> PublishSettings:
        media: MediaSettings | None = fields.data.get("media")
        if media is not None and media.keep == "none" and publish.media not in (None, "none"):
            raise ValueError(f"found media '{publish.media}', but media.keep is none, so no clip is written as a file")
        return publish


def build(recipe: Recipe, run: Build) -> None:
    """Bring the build folder up to date with the recipe; the dataset is replaced in one step at the end."""
    check_inputs(recipe, run)
    has_captions = recipe.captions.file is not None or recipe.collect.scenes is not None
    # Eleven steps, packaging included, are those of every recipe.
    run.steps = 11 + 2 * (recipe.collect.search is not None) + (recipe.collect.scenes is not None)
    run.steps += (recipe.media.keep == "files") + 2 * has_captions + (recipe.near_duplicates == "keep_one")
    decoder, encoder = f"av {run.tools['av']}", f"ffmpeg {run.tools['ffmpeg']}"
    videos = list_videos(recipe, run, encoder)
    folders = SourceFolders(videos.folder, run.media("sources"))
    remove_unfinished(folders.fetched)

    fetch = Fetch(recipe.collect.max_height, recipe.collect, folders, videos.hosts)
    collected = run.stage(fetch, videos.candidates)
    # Workers that were killed leave unfinished downloads too.
    remove_unfinished(folders.fetched)
    probed = run.stage(ProbeSources(folders), collected, len(collected))
    unique = run.stage(Duplicates(), probed)
    screened = run.stage(Screen(recipe.filter), unique, len(unique))
    features = run.media("features", digest([decoder])[:12])
    measured = run.stage(MeasureSources(decoder, folders, features), screened, len(screened))
    run.keep_only(features, (features_path(features, source).name for source in measured))
    run.keep_only(features.parent, {features.name})
    sources = run.stage(Filter(recipe.filter), measured, len(measured))

    duplicates = run.stage(NearDuplicates(), sources, may_be_empty=True)
    shots = run.stage(Shots(recipe.shots, decoder, features), sources, len(sources))
    clips = run.stage(Clips(recipe.clips), join_shots(sources, shots), len(sources))
    media = None
    if recipe.media.keep == "files":
        media = run.media("clips", digest([recipe.media, encoder])[:12])
        clips = run.stage(Cut(recipe.media, encoder, folders, media), join_sources(clips, sources), len(clips))
        run.keep_only(media, (f"{clip.video_id}.mp4" for clip in clips))
        run.keep_only(media.parent, {media.name})

    captions_file = Path(recipe.captions.file) if recipe.captions.file is not None else videos.captions_file
    captions = None
    if captions_file is not None:
        copies = list_copies(probed, sources)
        raw_captions = group_raw_captions(captions_file, recipe.captions, clips, sources, copies)
        language = recipe.language or recipe.captions.language or guess_language_of(captions_file, recipe.captions)
        captions = run.stage(CleanCaptions(recipe.captions, language), raw_captions, may_be_empty=True)
        run.languages = sorted(filter(None, {primary_language(caption.language) for caption in captions}))
        clips = run.stage(EnoughCaptions(recipe.captions), count_captions(clips, captions), len(clips))
    pairs = tuple((pair.source_a, pair.source_b) for pair in duplicates)
    pins = read_pins(Path(recipe.split.pin)) if recipe.split.pin is not None else {}
    if recipe.near_duplicates == "keep_one":
        clips = run.stage(make_keep_one_stage(sources, pairs, pins), clips, len(clips))
    split = run.stage(make_split_stage(recipe, sources, pairs, pins), clips)

    # Videos that a search found belong to others, so that their files are not published unless the recipe says so.
    mode = recipe.publish.media or ("none" if recipe.collect.search is not None else "files")
    package(run, split, captions or (), sources, recipe.split, media, mode=mode, collected=videos.description)


def check_inputs(recipe: Recipe, run: Build) -> None:
    """Find mistakes in the inputs before any work that would end the build after hours.

    Raises:
        VttdataError: when a file cannot be used, or the clips would be written into the folder of the videos.
    """
    folder = recipe.collect.folder
    if folder is not None and run.folder.resolve().is_relative_to(Path(folder).resolve()):
        raise VttdataError(
            f"The build folder {run.folder} is inside collect.folder {folder}, so its clips would become sources; "
            "choose another folder with --out."
        )
    if recipe.captions.file is not None:
        deque(read_caption_table(Path(recipe.captions.file), recipe.captions.columns), maxlen=0)
    if recipe.split.pin is not None:
        read_pins(Path(recipe.split.pin))


def guess_language_of(captions_file: Path, settings: CaptionSettings) -> str:
    """Return ``en`` if the captions of a table that state no language look English; else warn, and `UNDETERMINED`."""
    raws = read_caption_table(captions_file, settings.columns)
    other = detect_other_language(sorted({raw.caption for raw in raws if raw.language is None}), "en")
    if other is None:
        return "en"
    message = f"{captions_file}: the captions seem to be {other}; state their language, such as --set language=de."
    warnings.warn(message, VttdataWarning, stacklevel=2)
    return UNDETERMINED


class ListedVideos(NamedTuple):
    """Videos before they are fetched: the folder in which their paths start, and the hosts of downloads.

    The description is that of the card; `captions_file` has captions that come with the videos.
    """

    folder: Path
    candidates: Iterable[Candidate]
    description: str
    hosts: frozenset[Address] = frozenset()
    captions_file: Path | None = None


def list_videos(recipe: Recipe, run: Build, encoder: str) -> ListedVideos:
    """List the videos of the folder, manifest or search that the recipe names, or draw them.

    `encoder` is the name and version of the program that encodes drawn videos.
    """
    collect = recipe.collect
    if collect.folder is not None:
        description = "Videos of one folder, cut at shots that were found by colour histogram."
        return ListedVideos(Path(collect.folder), list_folder(Path(collect.folder)), description)
    if collect.manifest is not None:
        manifest = Path(collect.manifest)
        description = (
            "Videos that a table lists, cut at shots that were found by colour histogram or where the table says."
        )
        hosts = addresses(candidate.locator for candidate in list_manifest(manifest, collect.columns))
        return ListedVideos(manifest.parent, list_manifest(manifest, collect.columns), description, hosts)
    scenes = run.media("scenes")
    if collect.search is not None:
        queries = [Query(category, query) for category, texts in collect.search.queries.items() for query in texts]
        results = run.stage(Search(collect.search.engine, collect.search.per_query, collect), queries, len(queries))
        description = (
            "Videos that search queries found, in categories; cut at shots that were found by colour histogram."
        )
        found = run.stage(DeduplicateCandidates(), results)
        return ListedVideos(scenes, found, description, addresses(candidate.locator for candidate in found))
    drawn = run.stage(DrawScenes(recipe.seed, encoder, scenes), [collect.scenes])
    description = "Videos that were drawn by a program, with captions written from what is drawn."
    return ListedVideos(scenes, drawn, description, captions_file=scenes / "captions.csv")


def list_copies(sources: Iterable[Source], kept: Iterable[Source]) -> Iterator[tuple[Source, str]]:
    """Yield each source that was left out because its file equals that of a kept one, with the id of the kept one."""
    kept_by_content = {source.sha256: source for source in kept}
    for source in sources:
        twin = kept_by_content.get(source.sha256)
        if twin and (source.source_id, source.file, source.url) != (twin.source_id, twin.file, twin.url):
            yield source, twin.source_id


def make_keep_one_stage(
    sources: Iterable[Source], pairs: tuple[tuple[str, str], ...], pins: Mapping[str, str]
) -> KeepOne:
    """Return the stage that keeps one source of each family of near-duplicates."""
    paired = {source_id for pair in pairs for source_id in pair}
    pixels = [(s.source_id, s.probe.width * s.probe.height) for s in sources if s.probe and s.source_id in paired]
    return KeepOne(pairs, tuple(sorted(pixels)), tuple(sorted(pins)))


def make_split_stage(
    recipe: Recipe, sources: Iterable[Source], pairs: tuple[tuple[str, str], ...], pins: Mapping[str, str]
) -> Split:
    """Return the stage that assigns clips to splits and keeps together what the recipe says."""
    settings = recipe.split
    uploaders: dict[str, str] = {}
    if "uploader" in settings.together:
        uploaders = {source.source_id: source.uploader for source in sources if source.uploader}
    return Split(settings, recipe.seed, tuple(sorted(pins.items())), pairs, tuple(sorted(uploaders.items())))
