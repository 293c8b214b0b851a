"""Stages from sources to clips: shot detection, choice of clips, cutting."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from vttdata.ids import clip_id
from vttdata.media.clip_selection import ClipSettings, choose_clips, why_none
from vttdata.media.cut import MediaSettings, cut
from vttdata.media.probe import decoding_limit
from vttdata.media.shots.detect import ShotSettings, find_shots
from vttdata.media.shots.features import load_features
from vttdata.pipeline.stage import Kept, Outcome, Rejected, Stage, runtime
from vttdata.pipeline.stages.sources import SourceFolders, features_path
from vttdata.records import Clip, Shot, Source

# Seconds by which a listed span may exceed its source, since published spans are rounded; it is cut off there.
_SPAN_TOLERANCE_SECONDS = 0.5


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
class Shots(Stage):
    """Shot detection in each source, from its features."""

    name = "shots"
    version = 3
    output = Shot
    shardable = True
    part_size = 4

    settings: ShotSettings
    decoder: str
    folders: SourceFolders = runtime()
    features: Path = runtime()

    def label(self, item: Source) -> str:
        """Name the file."""
        return item.file

    def seconds_limit(self, item: Source) -> float:
        """Return the limit for decoding a file of the stated duration."""
        return decoding_limit(item.probe, item.bytes)

    def process(self, item: Source) -> Iterator[Outcome]:
        """Keep every shot."""
        features = load_features(features_path(self.features, item))
        detection = find_shots(self.folders.path(item), features, self.settings, source_id=item.source_id)
        yield from (Kept(shot) for shot in detection.shots)


@dataclass(frozen=True)
class Clips(Stage):
    """Choice of clips from a source's shots, or the spans that came with the source."""

    name = "clips"
    output = Clip
    shardable = True
    reasons = frozenset({"too_short", "no_fitting_run", "outside", "same_id"})

    settings: ClipSettings

    def process(self, item: SourceShots) -> Iterator[Outcome]:
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


def _listed_clips(item: SourceShots) -> Iterator[Outcome]:
    source_end = item.shots[-1].end
    seen: set[str] = set()
    for span in item.source.spans:
        video_id = span.video_id or clip_id(item.source_id, span.start, span.end)
        end = min(span.end, source_end)
        if span.start >= source_end or span.end > source_end + _SPAN_TOLERANCE_SECONDS:
            facts = f"span {span.start:g}-{span.end:g} s of a source that ends at {source_end:.2f} s"
            yield Rejected(item.source_id, "outside", facts)
        elif video_id in seen:
            yield Rejected(item.source_id, "same_id", f"the id {video_id} of a span is duplicated")
        else:
            seen.add(video_id)
            shots = sum(shot.start < end and shot.end > span.start for shot in item.shots)
            yield Kept(_clip_of(item.source, video_id, span.start, end, (None, None), shots))


def _clip_of(
    source: Source, video_id: str, start: float, end: float, frames: tuple[int | None, int | None], shots: int
) -> Clip:
    facts = source.url, source.category, source.query
    return Clip(video_id, source.source_id, start, end, *frames, shots, *facts)


@dataclass(frozen=True)
class Cut(Stage):
    """Cut of each clip into a file, checked frame by frame."""

    name = "cut"
    output = Clip
    shardable = True
    id_column = "video_id"
    part_size = 4
    # Encoding 1080p takes 430 MiB beside the worker.
    memory = 1024

    settings: MediaSettings
    encoder: str
    folders: SourceFolders = runtime()
    folder: Path = runtime()

    def label(self, item: SourceClip) -> str:
        """Name the source's file."""
        return item.source.file

    def seconds_limit(self, item: SourceClip) -> float:
        """Return a limit that allows for decoding from the beginning where seeking fails."""
        return 3 * decoding_limit(item.source.probe, item.source.bytes)

    def process(self, item: SourceClip) -> Iterator[Outcome]:
        """Keep the clip with the facts of its file."""
        clip, source = item.clip, item.source
        if source.probe is None:
            raise ValueError(f"source {source.source_id} was not probed")
        target = self.folder / f"{clip.video_id}.mp4"
        original, limit = self.folders.path(source), decoding_limit(source.probe, source.bytes)
        media = cut(original, source.probe, clip.start, clip.end, target, self.settings, seconds_limit=limit)
        yield Kept(dataclasses.replace(clip, media=dataclasses.replace(media, video=f"videos/{target.name}")))

    def intact(self, record: Clip) -> bool:
        """Return whether the clip's file exists in its full size."""
        if record.media is None:
            return False
        path = self.folder / Path(record.media.video).name
        return path.is_file() and path.stat().st_size == record.media.bytes
