"""Stages from source videos to clips.

Sources are probed, freed of exact duplicates, screened, measured and filtered; then their shots are detected, and clips
are chosen and cut.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from vttdata.errors import MediaError, UnavailableError
from vttdata.files.reading import file_sha256
from vttdata.ids import clip_id
from vttdata.media.clip_selection import ClipSettings, choose_clips, why_none
from vttdata.media.cut import MediaSettings, cut
from vttdata.media.filters import REASONS, VERSIONS, FilterSettings, judge, screen
from vttdata.media.measure import correct_probe
from vttdata.media.new_times import copy_with_new_times
from vttdata.media.probe import PROBING_SECONDS, decoding_limit, probe
from vttdata.media.shots.detect import ShotSettings, find_shots
from vttdata.media.shots.features import load_features, load_times, save_features
from vttdata.media.source_analysis import analyse_source
from vttdata.pipeline.stage import Kept, Out, Outcome, Rejected, Stage, WholeStage, runtime
from vttdata.records import Clip, Probe, Shot, Source

# Seconds by which a listed span may exceed its source at either end, since published spans are rounded; it is cut off
# there.
_SPAN_TOLERANCE_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class SourceFolders:
    """Folders of originals: the one that was listed, and the build's own one of fetched files."""

    listed: Path
    fetched: Path

    def path(self, source: Source) -> Path:
        """Return the original's file."""
        return (self.listed if source.stored == "listed" else self.fetched) / source.file


def features_path(folder: Path, source: Source) -> Path:
    """Return the file of a source's shot features in a folder of such files."""
    return folder / f"{source.source_id}.npz"


class FileStage(Stage[Source, Out]):
    """Stage that opens the files of sources."""

    def label(self, item: Source) -> str:
        """Name the file."""
        return item.file

    def seconds_limit(self, item: Source) -> float:
        """Return the limit for decoding a file of the stated duration."""
        return decoding_limit(item.probe, item.bytes)


@dataclass(frozen=True)
class ProbeSources(FileStage[Source]):
    """Read of each container's facts; a damaged structure is a failure with its reason."""

    name = "probe"
    version = 3
    output = Source

    folders: SourceFolders = runtime()

    def seconds_limit(self, item: Source) -> float:  # noqa: ARG002
        """Return the limit for reading a container."""
        return PROBING_SECONDS

    def process(self, item: Source) -> Iterator[Outcome[Source]]:
        """Keep the source with its probe."""
        yield Kept(dataclasses.replace(item, probe=probe(self.folders.path(item))))


@dataclass(frozen=True)
class Duplicates(WholeStage[Source, Source]):
    """Removal of exact duplicates: of equal files the one with the smallest id and name stays. Sorts by id."""

    name = "duplicates"
    output = Source
    reasons = frozenset({"duplicate", "same_id"})

    def process(self, item: tuple[Source, ...]) -> Iterator[Outcome[Source]]:
        """Keep one source per content and per id, in the order of ids."""
        by_content: dict[str, Source] = {}
        by_id: dict[str, Source] = {}
        for source in sorted(item, key=lambda source: (source.source_id, source.file, source.url or "")):
            same_content = by_content.setdefault(source.sha256, source)
            same_id = by_id.setdefault(source.source_id, source)
            if same_content is not source:
                detail = f"{source.file} has the same content as {same_content.source_id} ({same_content.file})"
                detail += f"; its {len(source.spans)} listed clips are dropped too" if source.spans else ""
                yield Rejected(source.source_id, "duplicate", detail, source.file)
            elif same_id is not source:
                detail = f"{source.file} has the id of {same_id.file} but other content"
                yield Rejected(source.source_id, "same_id", detail, source.file)
            else:
                yield Kept(source)


@dataclass(frozen=True)
class Screen(Stage[Source, Source]):
    """Rejection of sources by what their containers state, before anything is decoded."""

    name = "screen"
    output = Source
    reasons = REASONS

    settings: FilterSettings
    filters: tuple[tuple[str, int], ...] = VERSIONS

    def verdict(self, source: Source) -> tuple[str, str] | None:
        """Return the reason against a source and the facts; None to keep it."""
        return screen(source.probe, self.settings) if source.probe else None

    def process(self, item: Source) -> Iterator[Outcome[Source]]:
        """Keep the source or say why not."""
        verdict = self.verdict(item)
        yield Rejected(item.source_id, *verdict) if verdict else Kept(item)


@dataclass(frozen=True)
class MeasureSources(FileStage[Source]):
    """One reading of each source: frame count, exact duration, quality scores, fingerprint, and the shots' features.

    The features go to a file of their own, so that other settings of shots need no decoding.
    """

    name = "measure"
    version = 10
    output = Source
    part_size = 4
    files_in_build = True

    decoder: str
    folders: SourceFolders = runtime()
    features: Path = runtime()
    new_times: bool = False
    filters: tuple[tuple[str, int], ...] = VERSIONS

    def process(self, item: Source) -> Iterator[Outcome[Source]]:
        """Keep the source with its measure and its fingerprint, and write its shots' features."""
        try:
            analysis = analyse_source(self.folders.path(item))
        except MediaError as error:
            if error.reason != "timestamps" or item.probe is None or not self.new_times:
                raise
            item = self._copy_with_new_times(item, item.probe)
            analysis = analyse_source(self.folders.path(item))
        save_features(analysis.features, features_path(self.features, item))
        probed = correct_probe(item.probe, analysis.measure) if item.probe else None
        yield Kept(dataclasses.replace(item, probe=probed, measure=analysis.measure, fingerprint=analysis.fingerprint))

    def _copy_with_new_times(self, item: Source, probed: Probe) -> Source:
        """Return a source as its copy in the build's folder, which has the id of the file that was listed."""
        self.folders.fetched.mkdir(parents=True, exist_ok=True)
        copy = self.folders.fetched / f"{item.source_id}-{item.sha256[:8]}-times.mp4"
        copy_with_new_times(self.folders.path(item), probed, copy, self.seconds_limit(item))
        facts = dataclasses.replace(probe(copy), note="its times went back, and it was copied with new ones")
        size, digest = copy.stat().st_size, file_sha256(copy)
        return dataclasses.replace(item, file=copy.name, stored="fetched", bytes=size, sha256=digest, probe=facts)

    def intact(self, record: Source) -> bool:
        """Return whether the source's features can be read, and a copy with new times is there."""
        if self.new_times and not self.folders.path(record).is_file():
            return False
        try:
            load_features(features_path(self.features, record))
        except UnavailableError:
            return False
        return True


@dataclass(frozen=True)
class Filter(Screen):
    """Rejection of sources by what decoding showed, with the filters of `vttdata.media.filters`."""

    name = "filter"

    def verdict(self, source: Source) -> tuple[str, str] | None:
        """Return the reason against a source and the facts; None to keep it."""
        return judge(source.measure, self.settings) if source.measure else None


@dataclass(frozen=True, slots=True)
class SourceShots:
    """Source with all its shots."""

    source: Source
    shots: tuple[Shot, ...]

    @property
    def source_id(self) -> str:
        """Id of the source."""
        return self.source.source_id


@dataclass(frozen=True, slots=True)
class SourceClip:
    """Clip with the source it is cut from."""

    source: Source
    clip: Clip

    @property
    def source_id(self) -> str:
        """Id of the source."""
        return self.source.source_id

    @property
    def video_id(self) -> str:
        """Id of the clip."""
        return self.clip.video_id


def join_shots(sources: Iterable[Source], shots: Iterable[Shot]) -> Iterator[SourceShots]:
    """Join each source with its shots; both come in the same order of sources, and sources without shots are left out.

    Neither is held in memory.
    """
    groups = itertools.groupby(shots, lambda shot: shot.source_id)
    group = next(groups, None)
    for source in sources:
        if group is not None and group[0] == source.source_id:
            yield SourceShots(source, tuple(group[1]))
            group = next(groups, None)


def join_sources(clips: Iterable[Clip], sources: Iterable[Source]) -> Iterator[SourceClip]:
    """Join each clip with its source; both come in the same order of sources, and neither is held in memory.

    Raises:
        LookupError: when a clip has no source, or the orders differ.
    """
    stream = iter(sources)
    source = next(stream, None)
    for clip in clips:
        while source is not None and source.source_id != clip.source_id:
            source = next(stream, None)
        if source is None:
            raise LookupError(f"clip {clip.video_id} has no source")
        yield SourceClip(source, clip)


@dataclass(frozen=True)
class Shots(FileStage[Shot]):
    """Shot detection in each source, from its features."""

    name = "shots"
    version = 5
    output = Shot
    part_size = 4

    settings: ShotSettings
    decoder: str
    features: Path = runtime()

    def process(self, item: Source) -> Iterator[Outcome[Shot]]:
        """Keep every shot."""
        features = load_features(features_path(self.features, item))
        detection = find_shots(features, self.settings, source_id=item.source_id)
        yield from (Kept(shot) for shot in detection.shots)


@dataclass(frozen=True)
class Clips(Stage[SourceShots, Clip]):
    """Choice of clips from a source's shots, or the spans that came with the source."""

    name = "clips"
    output = Clip
    reasons = frozenset({"too_short", "no_fitting_run", "outside", "same_id"})

    settings: ClipSettings

    def process(self, item: SourceShots) -> Iterator[Outcome[Clip]]:
        """Keep the clips of one source, or say why it has none."""
        if item.source.spans:
            yield from _listed_clips(item)
            return
        chosen = choose_clips(item.shots, self.settings)
        if not chosen:
            yield Rejected(item.source_id, *why_none(item.shots, self.settings))
        for span in chosen:
            video_id = clip_id(item.source_id, span.start, span.end)
            frames = span.first_frame, span.last_frame
            yield Kept(_clip_of(item.source, video_id, span.start, span.end, frames, span.shots))


def _listed_clips(item: SourceShots) -> Iterator[Outcome[Clip]]:
    source_start, source_end = item.shots[0].start, item.shots[-1].end
    seen: set[str] = set()
    for span in item.source.spans:
        video_id = span.video_id or clip_id(item.source_id, span.start, span.end)
        start, end = max(span.start, source_start), min(span.end, source_end)
        is_beyond = span.start >= source_end or span.end > source_end + _SPAN_TOLERANCE_SECONDS
        if is_beyond or start >= end or start > span.start + _SPAN_TOLERANCE_SECONDS:
            limit = f"ends at {source_end:.2f} s" if is_beyond else f"begins at {source_start:.2f} s"
            facts = f"span {span.start:g}-{span.end:g} s of a source that {limit}"
            yield Rejected(item.source_id, "outside", facts)
        elif video_id in seen:
            yield Rejected(item.source_id, "same_id", f"the id {video_id} of a span is duplicated")
        else:
            seen.add(video_id)
            shots = sum(shot.start < end and shot.end > start for shot in item.shots)
            yield Kept(_clip_of(item.source, video_id, start, end, (None, None), shots))


def _clip_of(
    source: Source, video_id: str, start: float, end: float, frames: tuple[int | None, int | None], shots: int
) -> Clip:
    facts = source.url, source.category, source.query
    return Clip(video_id, source.source_id, start, end, *frames, shots, *facts)


@dataclass(frozen=True)
class Cut(Stage[SourceClip, Clip]):
    """Cut of each clip into a file, checked frame by frame."""

    name = "cut"
    version = 4
    output = Clip
    id_column = "video_id"
    part_size = 4
    # Encoding 1080p takes 430 MiB beside the worker.
    memory = 1024
    files_in_build = True

    settings: MediaSettings
    encoder: str
    folders: SourceFolders = runtime()
    features: Path = runtime()
    folder: Path = runtime()

    def label(self, item: SourceClip) -> str:
        """Name the source's file."""
        return item.source.file

    def seconds_limit(self, item: SourceClip) -> float:
        """Return a limit that allows for decoding from the beginning where seeking fails."""
        return 3 * decoding_limit(item.source.probe, item.source.bytes)

    def process(self, item: SourceClip) -> Iterator[Outcome[Clip]]:
        """Keep the clip with the facts of its file.

        Raises:
            MediaError: ``cut_mismatch`` when the file has not the frames of the clip, and what `cut` raises.
        """
        clip, source = item.clip, item.source
        if source.probe is None:
            raise ValueError(f"source {source.source_id} was not probed")
        target = self.folder / f"{clip.video_id}.mp4"
        original, limit = self.folders.path(source), decoding_limit(source.probe, source.bytes)
        times = load_times(features_path(self.features, source))
        media = cut(original, source.probe, times, clip.start, clip.end, target, self.settings, seconds_limit=limit)
        if clip.first_frame is not None and clip.last_frame is not None:
            expected = clip.last_frame - clip.first_frame + 1
            if media.frames != expected:
                target.unlink()
                raise MediaError("cut_mismatch", f"the clip has {media.frames} frames, and its record {expected}.")
        yield Kept(dataclasses.replace(clip, media=dataclasses.replace(media, video=f"videos/{target.name}")))

    def intact(self, record: Clip) -> bool:
        """Return whether the clip's file is the one that was written."""
        if record.media is None:
            return False
        path = self.folder / Path(record.media.video).name
        is_whole = path.is_file() and path.stat().st_size == record.media.bytes
        return is_whole and file_sha256(path) == record.media.sha256
