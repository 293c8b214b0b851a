"""Stages from sources to clips: shots, the choice of clips, cutting."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from vttdata.ids import clip_id
from vttdata.media.clips import ClipSettings, choose_clips, why_none
from vttdata.media.cut import MediaSettings, cut
from vttdata.media.probe import decoding_limit
from vttdata.media.shots.detect import ShotSettings, detect_shots
from vttdata.pipeline.stage import Kept, Outcome, Rejected, Stage, runtime
from vttdata.pipeline.stages.items import SourceClip, SourceFolders, SourceShots
from vttdata.records import Clip, Shot, Source, Span

_SPAN_SLACK_SECONDS = 0.5
"""How far a given span may reach beyond the end of its source; published spans are rounded. It is cut off there."""


@dataclass(frozen=True)
class Shots(Stage):
    """Finds the shots of each source."""

    name = "shots"
    output = Shot
    part_size = 4

    settings: ShotSettings
    decoder: str
    folders: SourceFolders = runtime()

    def label(self, item: Source) -> str:
        """Name the file."""
        return item.file

    def seconds_limit(self, item: Source) -> float:
        """Follow the duration that the container states."""
        return decoding_limit(item.probe, item.bytes)

    def process(self, item: Source) -> Iterator[Outcome]:
        """Keep every shot."""
        detection = detect_shots(self.folders.path(item), self.settings, source_id=item.source_id)
        yield from (Kept(shot) for shot in detection.shots)


@dataclass(frozen=True)
class Clips(Stage):
    """Chooses clips from a source's shots, or takes the spans that the source came with."""

    name = "clips"
    output = Clip
    reasons = frozenset({"too_short", "no_fitting_run", "outside", "same_id"})

    settings: ClipSettings

    def process(self, item: SourceShots) -> Iterator[Outcome]:
        """Keep the clips of one source, or say why it has none."""
        if item.source.spans:
            yield from _given_clips(item)
            return
        chosen = choose_clips(item.shots, self.settings)
        if not chosen:
            yield Rejected(item.source_id, *why_none(item.shots, self.settings))
        for span in chosen:
            clip = Clip(
                video_id=clip_id(item.source_id, span.start, span.end),
                source_id=item.source_id,
                start=span.start,
                end=span.end,
                first_frame=span.first_frame,
                last_frame=span.last_frame,
                shots=span.shots,
            )
            yield Kept(_described(clip, item.source))


def _given_clips(item: SourceShots) -> Iterator[Outcome]:
    seen: set[str] = set()
    for span in item.source.spans:
        outcome = _given(item, span)
        if isinstance(outcome, Kept) and outcome.record.video_id in seen:
            outcome = Rejected(item.source_id, "same_id", f"another span is called {outcome.record.video_id} too")
        elif isinstance(outcome, Kept):
            seen.add(outcome.record.video_id)
        yield outcome


def _given(item: SourceShots, span: Span) -> Outcome:
    length = item.shots[-1].end
    if span.start >= length or span.end > length + _SPAN_SLACK_SECONDS:
        facts = f"span {span.start:g}-{span.end:g} s of a source that ends at {length:.2f} s"
        return Rejected(item.source_id, "outside", facts)
    end = min(span.end, length)
    clip = Clip(
        video_id=span.video_id or clip_id(item.source_id, span.start, span.end),
        source_id=item.source_id,
        start=span.start,
        end=end,
        first_frame=None,
        last_frame=None,
        shots=sum(shot.start < end and shot.end > span.start for shot in item.shots),
    )
    return Kept(_described(clip, item.source))


def _described(clip: Clip, source: Source) -> Clip:
    return dataclasses.replace(clip, url=source.url, category=source.category, query=source.query)


@dataclass(frozen=True)
class Cut(Stage):
    """Cuts each clip into a file of its own and checks it frame by frame."""

    name = "cut"
    output = Clip
    id_column = "video_id"
    part_size = 4

    settings: MediaSettings
    encoder: str
    folders: SourceFolders = runtime()
    folder: Path = runtime()

    def label(self, item: SourceClip) -> str:
        """Name the source's file."""
        return item.source.file

    def seconds_limit(self, item: SourceClip) -> float:
        """Allow for a seek that ends in decoding from the beginning."""
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
        """Ask whether the clip's file is there in its full size."""
        if record.media is None:
            return False
        path = self.folder / Path(record.media.video).name
        return path.is_file() and path.stat().st_size == record.media.bytes
