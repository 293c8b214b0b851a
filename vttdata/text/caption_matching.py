"""Finds the clip that a caption was written about: by the clip's id, or by source and time.

It decides nothing about the caption's text; that is `vttdata.text.captions`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

from vttdata.records import Clip, Source
from vttdata.text.captions import RawCaption

_AMBIGUOUS = "\0"
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Unmatched:
    """A caption that fits no clip, or more than one. `detail` names its line."""

    reason: Literal["unknown_clip", "outside_clips", "ambiguous"]
    detail: str
    raw: RawCaption

    @property
    def line(self) -> int:
        """The line of the caption table."""
        return self.raw.line


@dataclass(frozen=True, slots=True)
class Matched:
    """Captions by `video_id`, in the order of the clips and then of their lines, and those that fit none."""

    by_clip: dict[str, tuple[RawCaption, ...]]
    unmatched: tuple[Unmatched, ...]


class CaptionMatcher:
    """Places captions one at a time, so that a table of any size can be streamed past the clips.

    A caption with a `video_id` belongs to that clip. Otherwise `source` is looked up as a source's id, then as its file
    (relative path), its URL, then the bare name of its file; a bare name that two sources share is ambiguous. With
    times the caption belongs to the clip of that source that covers most of it and at least half; without times to
    the source's only clip.
    """

    def __init__(self, clips: Iterable[Clip], sources: Iterable[Source]) -> None:
        self._clips: dict[str, list[Clip]] = {}
        self._sources: dict[str, str] = {}
        self._video_ids: set[str] = set()
        for clip in clips:
            self._video_ids.add(clip.video_id)
            self._clips.setdefault(clip.source_id, []).append(clip)
        known = list(sources)
        for aliases in (
            {source_id: source_id for source_id in self._clips},
            {source.source_id: source.source_id for source in known},
            _aliases((source.file, source.source_id) for source in known),
            _aliases((source.url, source.source_id) for source in known),
            _aliases((PurePosixPath(source.file).name, source.source_id) for source in known),
        ):
            self._sources = aliases | self._sources

    def place(self, raw: RawCaption) -> str | Unmatched:
        """The `video_id` of the clip that `raw` was written about, or why there is none."""
        if raw.video_id is not None and raw.video_id in self._video_ids:
            return raw.video_id
        source_id = self._sources.get(raw.source or "")
        if source_id is None:
            name = raw.video_id if raw.video_id is not None else raw.source
            return Unmatched("unknown_clip", f"line {raw.line}: there is no clip or source '{name}'", raw)
        if source_id == _AMBIGUOUS:
            return Unmatched("ambiguous", f"line {raw.line}: several sources are called '{raw.source}'", raw)
        return self._within(source_id, raw)

    def _within(self, source_id: str, raw: RawCaption) -> str | Unmatched:
        clips = self._clips.get(source_id, [])
        if not clips:
            return Unmatched("outside_clips", f"line {raw.line}: source {source_id} has no clip", raw)
        if raw.start is None or raw.end is None:
            if len(clips) == 1:
                return clips[0].video_id
            return Unmatched("ambiguous", f"line {raw.line}: no times, and {source_id} has {len(clips)} clips", raw)
        span = f"{raw.start:g}-{raw.end:g} s of {source_id}"
        covered = [(min(clip.end, raw.end) - max(clip.start, raw.start), clip.video_id) for clip in clips]
        most = max(covered)[0]
        if raw.end <= raw.start or 2 * most < raw.end - raw.start - _ROUNDING:
            return Unmatched("outside_clips", f"line {raw.line}: no clip covers half of {span}", raw)
        best = [video_id for overlap, video_id in covered if overlap >= most - _ROUNDING]
        if len(best) > 1:
            return Unmatched("ambiguous", f"line {raw.line}: {len(best)} clips cover {span} equally", raw)
        return best[0]


def match_captions(raws: Iterable[RawCaption], clips: Iterable[Clip], sources: Iterable[Source]) -> Matched:
    """Give each clip its captions (see `CaptionMatcher` for the rule); clips without any are present and empty."""
    clips = list(clips)
    matcher = CaptionMatcher(clips, sources)
    by_clip: dict[str, list[RawCaption]] = {clip.video_id: [] for clip in clips}
    unmatched: list[Unmatched] = []
    for raw in raws:
        place = matcher.place(raw)
        if isinstance(place, Unmatched):
            unmatched.append(place)
        else:
            by_clip[place].append(raw)
    return Matched({video_id: tuple(own) for video_id, own in by_clip.items()}, tuple(unmatched))


def _aliases(pairs: Iterable[tuple[str | None, str]]) -> dict[str, str]:
    aliases: dict[str, str] = {}
    for name, source_id in pairs:
        if name and aliases.setdefault(name, source_id) != source_id:
            aliases[name] = _AMBIGUOUS
    return aliases
