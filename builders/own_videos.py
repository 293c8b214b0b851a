"""Build a benchmark from the user's own videos, the way MSR-VTT was built (Xu et al., CVPR 2016, section 3).

Videos are collected by query, list or folder; shots are found by colour histogram; runs of consecutive shots of
10-30 s become clips, at most three per video; each clip gets its human captions; the splits share no source. Where the
paper had people choose clips by eye, a deterministic rule chooses here.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from itertools import chain
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple

import pydantic

from vttdata.collect import CollectSettings, list_folder, list_manifest, remove_unfinished
from vttdata.collect.reachability import Address, addresses
from vttdata.compose.earlier_dataset import EarlierDataset, refuse_caption_loss, replaced_dataset, report_split_changes
from vttdata.compose.package import Origin, package
from vttdata.dataset.videos import MediaFiles, PublishSettings
from vttdata.errors import VttdataError, VttdataWarning
from vttdata.files.id_lists import read_pins
from vttdata.files.output_file import link_file
from vttdata.ids import digest
from vttdata.media.clip_selection import ClipSettings
from vttdata.media.cut import MediaSettings
from vttdata.media.filters import FilterSettings
from vttdata.media.shots.detect import ShotSettings
from vttdata.pipeline.build_folder import Build
from vttdata.pipeline.engine import Table
from vttdata.pipeline.journal import write_json
from vttdata.pipeline.stage import AnyStage, Kept, Rejected
from vttdata.pipeline.stages.captions import (
    UNCAPTIONED,
    CleanCaptions,
    EnoughCaptions,
    count_captions,
    group_raw_captions,
)
from vttdata.pipeline.stages.collect import DeduplicateCandidates, DrawScenes, Fetch, Query, Search
from vttdata.pipeline.stages.split import DrawClips, KeepOne, NearDuplicates, RefuseCopies, Rendition, Split
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
from vttdata.records import Candidate, Caption, Clip, Shot, Source
from vttdata.split import SplitSettings
from vttdata.split.chapters import chapter_pairs
from vttdata.text.captions import CaptionSettings, RawCaption, read_caption_table, read_salt
from vttdata.text.clip_matching import Loss
from vttdata.text.damage import find_text_damage
from vttdata.text.language import UNDETERMINED, detect_other_language, primary_language, sample_texts


class Recipe(BaseRecipe):
    """Recipe for videos that are collected, cut and captioned."""

    paths: ClassVar[Paths] = {
        "collect.folder": "folder",
        "collect.manifest": "file",
        "collect.cookies": "file",
        "captions.file": "file",
        "captions.pseudonyms": "file",
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

    @pydantic.field_validator("publish")
    @classmethod
    def _check_clips_are_cut(cls, publish: PublishSettings, fields: pydantic.ValidationInfo) -> PublishSettings:
        media: MediaSettings | None = fields.data.get("media")
        if media is not None and media.keep == "none" and publish.media not in (None, "none"):
            raise ValueError(f"found media '{publish.media}', but media.keep is none, so no clip is written as a file")
        return publish


def build(recipe: Recipe, run: Build) -> None:
    """Bring the build folder up to date with the recipe; the dataset is replaced in one step at the end."""
    raws = check_inputs(recipe)
    run.steps = len(stages_of(recipe, run)) + 1
    earlier = replaced_dataset(run)
    if recipe.collect.scenes is not None:
        # A program wrote the captions of drawn videos, and writes them again.
        earlier = dataclasses.replace(earlier, captions=())
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
    measured = run.stage(MeasureSources(decoder, folders, features, recipe.collect.new_times), screened, len(screened))
    run.keep_only(features, (features_path(features, source).name for source in measured))
    run.keep_only(features.parent, {features.name})
    sources = run.stage(Filter(recipe.filter), measured, len(measured))

    if run.tombstones.fingerprints:
        sources = run.stage(RefuseCopies(tuple(sorted(run.tombstones.fingerprints.items()))), sources, len(sources))
    duplicates = run.stage(NearDuplicates(), sources, may_be_empty=True)
    shots = run.stage(Shots(recipe.shots, decoder, features), sources, len(sources))
    pairs = tuple((pair.source_a, pair.source_b) for pair in duplicates)
    pins = read_pins(Path(recipe.split.pin)) if recipe.split.pin is not None else {}
    choice, joined = Clips(dataclasses.replace(recipe.clips, total=None)), join_shots(sources, shots)
    found = run.stage(choice, joined, len(sources), of=(sources, shots))
    chosen = leave_out_clips(recipe, run, found, lambda: make_keep_one_stage(sources, shots, pairs, pins))
    captions_file = Path(recipe.captions.file) if recipe.captions.file is not None else videos.captions_file
    copies, losses = list(list_copies(probed, sources)), list(list_losses(run, found))
    names = CaptionNames(list(sources), copies, losses, run.is_withdrawn)
    captioned, captions = caption_clips(recipe, run, captions_file, raws, chosen, names, earlier)
    clips: Iterable[Clip] = captioned
    # Before clips are cut, which takes long and replaces those of the earlier dataset.
    refuse_caption_loss(run, earlier, captions, clips, found, warn=False)
    media = run.media("clips", digest([recipe.media, encoder])[:12]) if recipe.media.keep == "files" else None
    waiting = list_uncaptioned(captioned)
    if media is not None:
        cutting = Cut(recipe.media, encoder, folders, features, media)
        clips = cut_clips(run, cutting, chosen, {clip.video_id for clip in clips}, waiting, sources)
    show_uncaptioned(run, waiting, media)
    split = run.stage(division := make_split_stage(recipe, sources, pairs, pins), clips)

    kept = list(split)
    refuse_caption_loss(run, earlier, captions, kept, found, warn=True)
    report_split_changes(run, earlier, kept, list(sources), division)

    # Videos that a search found belong to others, so that their files are not published unless the recipe says so.
    mode = recipe.publish.media or ("none" if recipe.collect.search is not None else "files")
    files, origin = MediaFiles.chosen(media, mode), Origin(collected=videos.description)
    package(run, split, captions, sources, split=recipe.split, media=files, origin=origin)


def stages_of(recipe: Recipe, run: Build) -> list[type[AnyStage]]:
    """Return the stages of a build, in their order."""
    collect = recipe.collect
    has_captions = recipe.captions.file is not None or collect.scenes is not None
    conditions: dict[type[AnyStage], bool] = {
        Search: collect.search is not None,
        DeduplicateCandidates: collect.search is not None,
        DrawScenes: collect.scenes is not None,
        RefuseCopies: bool(run.tombstones.fingerprints),
        DrawClips: recipe.clips.total is not None,
        CleanCaptions: has_captions,
        EnoughCaptions: has_captions,
        Cut: recipe.media.keep == "files",
        KeepOne: recipe.near_duplicates == "keep_one",
    }
    stages: tuple[type[AnyStage], ...] = (
        *(Search, DeduplicateCandidates, DrawScenes, Fetch, ProbeSources, Duplicates, Screen, MeasureSources, Filter),
        *(RefuseCopies, NearDuplicates, Shots, Clips, KeepOne, DrawClips, CleanCaptions, EnoughCaptions, Cut, Split),
    )
    return [stage for stage in stages if conditions.get(stage, True)]


def check_inputs(recipe: Recipe) -> list[RawCaption] | None:
    """Find mistakes in the inputs before any work that would end the build after hours; return the captions, if any.

    Raises:
        VttdataError: when a file cannot be used.
    """
    raws: list[RawCaption] | None = None
    if recipe.captions.file is not None:
        raws = [*read_caption_table(Path(recipe.captions.file), recipe.captions.columns)]
        damaged = [raw for raw in raws if find_text_damage(raw.caption) is not None]
        if not raws and recipe.captions.below == "reject":
            raise VttdataError(
                f"{recipe.captions.file}: has no captions, without which no clip is left; write some into it, or build "
                "without captions.file (--set captions.file=null)."
            )
        if damaged:
            message = (
                f"{recipe.captions.file}:{damaged[0].line}: {damaged[0].caption[:80]!r} has damaged characters, read "
                f"in another encoding or lost (U+FFFD), as {len(damaged):,} captions do; they are kept as they are."
            )
            warnings.warn(message, VttdataWarning, stacklevel=2)
    if recipe.captions.pseudonyms is not None:
        read_salt(Path(recipe.captions.pseudonyms))
    if recipe.split.pin is not None:
        read_pins(Path(recipe.split.pin))
    return raws


def leave_out_clips(recipe: Recipe, run: Build, clips: Table[Clip], keep_one: Callable[[], KeepOne]) -> Table[Clip]:
    """Return the clips of one source of each family of near-duplicates, if wanted, and of them those that are drawn.

    Captions come later, so that they change nothing here, and people write none for clips that are left out.
    """
    if recipe.near_duplicates == "keep_one":
        clips = run.stage(keep_one(), clips, len(clips))
    if recipe.clips.total is not None:
        clips = run.stage(DrawClips(recipe.clips.total, recipe.seed), clips, len(clips))
    return clips


def cut_clips(
    run: Build, cutting: Cut, clips: Table[Clip], chosen: Set[str], waiting: Set[str], sources: Table[Source]
) -> list[Clip]:
    """Cut those clips that are chosen, and those that wait for captions, whose files people need.

    Files of other clips are removed.

    Returns:
        The chosen clips that could be cut.
    """
    wanted = [clip for clip in clips if clip.video_id in chosen or clip.video_id in waiting]
    cut = run.stage(cutting, join_sources(wanted, sources), len(wanted))
    run.keep_only(cutting.folder, (f"{clip.video_id}.mp4" for clip in cut))
    run.keep_only(cutting.folder.parent, {cutting.folder.name})
    return [clip for clip in cut if clip.video_id in chosen]


class CaptionNames(NamedTuple):
    """What captions may name beside clips: sources, copies with the ids that these stand for, and what has gone."""

    sources: list[Source]
    copies: list[tuple[Source, str]]
    losses: list[Loss]
    is_withdrawn: Callable[[str], bool]


def caption_clips(
    recipe: Recipe,
    run: Build,
    file: Path | None,
    raws: Sequence[RawCaption] | None,
    clips: Table[Clip],
    names: CaptionNames,
    earlier: EarlierDataset,
) -> tuple[Table[Clip], Iterable[Caption]]:
    """Return the clips that have enough captions, and the captions; all clips where there is no file of captions.

    Raises:
        CaptionLossError: where no clip has enough captions, and the earlier dataset has some.
        VttdataError: where no clip has enough captions.
    """
    if file is None:
        return clips, ()
    if raws is None:
        raws = [*read_caption_table(file, recipe.captions.columns)]
    try:
        raw_captions = group_raw_captions(file, raws, recipe.captions, clips, *names)
        language = recipe.language or recipe.captions.language or guess_language_of(run, file, raws)
        clean = CleanCaptions(recipe.captions, language)
        captions = run.stage(clean, raw_captions, may_be_empty=True)
        warn_of_copies(run, captions)
        run.languages = sorted(filter(None, {primary_language(caption.language) for caption in captions}))
        captioned = run.stage(EnoughCaptions(recipe.captions), count_captions(clips, captions), len(clips))
    except VttdataError:
        refuse_caption_loss(run, earlier, (), (), clips, warn=False)
        raise
    return captioned, captions


def warn_of_copies(run: Build, captions: Table[Caption]) -> None:
    """Say how many captions are of near-duplicates of which another source is kept."""
    results = captions.results() if captions.tally.rejected else ()
    outcomes = chain.from_iterable(result.outcomes for result in results)
    lost = [each for each in outcomes if isinstance(each, Rejected) and f"in stage {KeepOne.name}:" in each.detail]
    if lost:
        message = (
            f"Captions of clips that near_duplicates=keep_one leaves out: {len(lost):,}, such as one of {lost[0].id}; "
            f"'vttdata rejects {run.folder} --stage {captions.stage.name}' says of which source the clips are kept. "
            "A source with a clip in split.pin is kept instead."
        )
        warnings.warn(message, VttdataWarning, stacklevel=2)


def list_uncaptioned(captioned: Table[Clip]) -> set[str]:
    """Return the ids of the clips that were left out because nobody has captioned them yet."""
    outcomes = (outcome for result in captioned.results() for outcome in result.outcomes)
    return {outcome.id for outcome in outcomes if isinstance(outcome, Rejected) and outcome.reason == UNCAPTIONED}


def show_uncaptioned(run: Build, waiting: Set[str], media: Path | None) -> None:
    """Collect the files of clips that wait for captions in the folder ``uncaptioned`` of the build, and say so."""
    folder = run.folder / "uncaptioned"
    for link in folder.glob("*.mp4"):
        link.unlink()
    with contextlib.suppress(OSError):
        folder.rmdir()
    if not waiting:
        return
    where = f"'vttdata rejects {run.folder} --stage captioned' lists them"
    if media is not None:
        folder.mkdir(exist_ok=True)
        for video_id in waiting:
            # A clip that could not be cut has no file.
            if (file := media / f"{video_id}.mp4").is_file():
                link_file(file, folder / file.name)
        where = f"their files are in {folder}"
    message = f"Clips that wait for captions: {len(waiting):,}; {where}."
    warnings.warn(message, VttdataWarning, stacklevel=2)


def guess_language_of(run: Build, captions_file: Path, raws: Iterable[RawCaption]) -> str:
    """Return ``en`` if the captions of a table that state no language look English; else warn, and `UNDETERMINED`."""
    sample = sample_texts({raw.caption for raw in raws if raw.language is None})
    # Few new captions are in the sample; the detector takes half a second to load.
    path, known = run.folder / "stages" / CleanCaptions.name / "language.json", {}
    with contextlib.suppress(OSError, ValueError):
        known = json.loads(path.read_bytes())
    if not isinstance(known, dict) or known.get("sample") != digest(sample):
        known = {"sample": digest(sample), "other": detect_other_language(sample, "en")}
        path.parent.mkdir(parents=True, exist_ok=True)
        write_json(path, known)
    other = known["other"]
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
        listed = list_folder(Path(collect.folder), categories=collect.category == "folder")
        return ListedVideos(Path(collect.folder), listed, description)
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
    drawn = run.stage(DrawScenes(recipe.seed, encoder, scenes), [collect.scenes] if collect.scenes is not None else [])
    description = "Videos that were drawn by a program, with captions written from what is drawn."
    return ListedVideos(scenes, drawn, description, captions_file=scenes / "captions.csv")


def list_copies(sources: Iterable[Source], kept: Iterable[Source]) -> Iterator[tuple[Source, str]]:
    """Yield each source that was left out because its file equals that of a kept one, with the id of the kept one."""
    kept_by_content = {source.sha256: source for source in kept}
    for source in sources:
        twin = kept_by_content.get(source.sha256)
        if twin and (source.source_id, source.file, source.url) != (twin.source_id, twin.file, twin.url):
            yield source, twin.source_id


def list_losses(run: Build, found: Iterable[Clip]) -> Iterator[Loss]:
    """Yield the sources and clips that the stages so far rejected or failed to process.

    A source of a clip of `found` that was rejected is one as well, for captions that name the source.
    """
    source_of = {clip.video_id: clip.source_id for clip in found}
    for table in run.tables:
        if not table.tally.rejected and not table.tally.failed:
            continue
        of_clips = table.stage.id_column == "video_id"
        for outcome in chain.from_iterable(result.outcomes for result in table.results()):
            if not isinstance(outcome, Kept):
                lost = "was rejected" if isinstance(outcome, Rejected) else "failed"
                why = f"{lost} in stage {table.stage.name}: {outcome.reason} ({outcome.detail})"
                file = getattr(outcome, "file", None) or run.files.get(outcome.id, "")
                yield Loss(outcome.id, None if of_clips else file, why)
                if of_clips and outcome.id in source_of:
                    yield Loss(source_of[outcome.id], None, why)


def make_keep_one_stage(
    sources: Iterable[Source], shots: Iterable[Shot], pairs: tuple[tuple[str, str], ...], pins: Mapping[str, str]
) -> KeepOne:
    """Return the stage that keeps one source of each family of near-duplicates."""
    paired = {source_id for pair in pairs for source_id in pair}
    frames: Counter[str] = Counter()
    chroma: dict[str, float] = dict.fromkeys(paired, 0.0)
    for shot in shots:
        if shot.source_id in paired:
            number = shot.last_frame - shot.first_frame + 1
            frames[shot.source_id] += number
            chroma[shot.source_id] += number * shot.chroma
    renditions = [
        Rendition(
            source.source_id,
            source.file,
            round(chroma[source.source_id] / max(frames[source.source_id], 1), 2),
            source.probe.width * source.probe.height,
            source.measure.seconds,
            round(source.measure.scores["blur"] + source.measure.scores["blocky"], 4),
        )
        for source in sources
        if source.source_id in paired and source.probe is not None and source.measure is not None
    ]
    return KeepOne(pairs, tuple(sorted(renditions, key=lambda each: each.source_id)), tuple(sorted(pins)))


def make_split_stage(
    recipe: Recipe, sources: Iterable[Source], pairs: tuple[tuple[str, str], ...], pins: Mapping[str, str]
) -> Split:
    """Return the stage that assigns clips to splits and keeps together what the recipe says."""
    settings = recipe.split
    uploaders: dict[str, str] = {}
    if "uploader" in settings.together:
        uploaders = {source.source_id: source.uploader for source in sources if source.uploader}
    uploaded: dict[str, str] = {}
    if settings.after is not None:
        uploaded = {source.source_id: source.uploaded for source in sources if source.uploaded}
    known = (tuple(sorted(facts.items())) for facts in (uploaders, uploaded))
    chapters = chapter_pairs((source.source_id, source.file) for source in sources if source.stored == "listed")
    return Split(settings, recipe.seed, tuple(sorted(pins.items())), (*pairs, *chapters), *known)
