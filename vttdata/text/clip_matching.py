"""Matching of captions to clips, by the clip's id or by source and time.

It does not look at the text of captions; that is `vttdata.text.captions`.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal, NamedTuple

from vttdata.files.addresses import without_secrets
from vttdata.ids import clip_span, find_video_id
from vttdata.records import Clip, Source
from vttdata.text.captions import RawCaption

# Marks a name that several sources share; no source id has a NUL character.
_AMBIGUOUS = "\0"
# Seconds that overlaps may differ by rounding.
_ROUNDING = 1e-9


UnmatchedReason = Literal["unknown_clip", "withdrawn", "rejected_source", "rejected_clip", "outside_clips", "ambiguous"]


class Loss(NamedTuple):
    """Source or clip that a build rejected or failed to process.

    Fields:
        id: of the source or clip.
        file: of a source, or its address; None for a clip.
        why: the predicate of a sentence, such as ``was rejected in stage screen: too_short (2 s, at least 3 s)``.
    """

    id: str
    file: str | None
    why: str


@dataclass(frozen=True, slots=True)
class UnmatchedCaption:
    """Caption that fits no clip, or more than one. `detail` names its line, and no video that was withdrawn."""

    reason: UnmatchedReason
    detail: str
    raw: RawCaption


class CaptionMatcher:
    """Rule by which captions belong to clips.

    A caption with a `video_id` belongs to that clip; it may be written as the name of the clip's file. Otherwise
    `source`, or else `video_id`, is looked up as a source's id, then as its file (relative path), its URL, then the
    bare name of its file, with or without extension; a bare name that two sources share is ambiguous. With times the
    caption belongs to the clip of that source that covers most of it and at least half; without times to the source's
    only clip. Names are compared in Unicode's composed form (NFC), since macOS may decompose those of files.

    With `follow`, a caption of a chosen clip that there is no more belongs to the clip of the same source whose span
    overlaps that one most, by at least this share of the time that either covers.

    Captions may name sources without clips, and `copies`: sources left out because their files equal that of the source
    with the id beside them. Their ids and names stand for that source. Captions of `losses` are
    told why they have no clip, and so are those of names that `is_withdrawn` knows.
    """

    def __init__(
        self,
        clips: Iterable[Clip],
        sources: Iterable[Source],
        copies: Iterable[tuple[Source, str]] = (),
        losses: Iterable[Loss] = (),
        is_withdrawn: Callable[[str], bool] = lambda _: False,
        follow: float | None = None,
    ) -> None:
        self._is_withdrawn = is_withdrawn
        self._follow = follow
        self._clips: dict[str, list[Clip]] = defaultdict(list)
        self._sources: dict[str, str] = {}
        for clip in clips:
            self._clips[clip.source_id].append(clip)
        self._video_ids = {clip.video_id for of_source in self._clips.values() for clip in of_source}
        copies, losses = list(copies), list(losses)
        named = [(source, source.source_id) for source in sources]
        source_ids = {source_id: source_id for _, source_id in named}
        named += copies
        known = source_ids.keys() | {copy.source_id for copy, _ in copies}
        self._losses = {loss.id: loss for loss in losses}
        lost = [(loss.file, loss.id) for loss in losses if loss.file is not None and loss.id not in known]
        files = [*((source.file, source_id) for source, source_id in named), *lost]
        for aliases in (
            {source_id: source_id for source_id in self._clips},
            source_ids | {source_id: source_id for _, source_id in lost},
            _unique_aliases((copy.source_id, source_id) for copy, source_id in copies),
            _unique_aliases(files),
            _unique_aliases((source.url, source_id) for source, source_id in named),
            _unique_aliases((PurePosixPath(file).name, source_id) for file, source_id in files if "://" not in file),
            _unique_aliases((PurePosixPath(file).stem, source_id) for file, source_id in files if "://" not in file),
        ):
            self._sources = aliases | self._sources

    def match(self, raw: RawCaption) -> str | UnmatchedCaption:
        """Return the `video_id` of the clip that a caption is about, or why there is none."""
        video_id = find_video_id(raw.video_id or "", self._video_ids)
        if video_id is not None:
            return video_id
        earlier = clip_span(raw.video_id or "") if self._follow is not None else None
        if earlier is not None and earlier[0] in self._clips:
            return self._follow_clip(*earlier, raw)
        name = unicodedata.normalize("NFC", raw.source or raw.video_id or "")
        spellings = (name, name.replace("\\", "/").removeprefix("./"), without_secrets(name))
        source_id = next((self._sources[spelling] for spelling in spellings if spelling in self._sources), None)
        if source_id is None:
            return self._explain_unknown(raw)
        if source_id == _AMBIGUOUS:
            return UnmatchedCaption("ambiguous", f"line {raw.line}: several sources are called '{name}'", raw)
        return self._match_in_source(source_id, raw)

    def _explain_unknown(self, raw: RawCaption) -> UnmatchedCaption:
        if any(map(self._is_withdrawn, filter(None, (raw.video_id, raw.source)))):
            return UnmatchedCaption("withdrawn", f"line {raw.line}: its video was withdrawn", raw)
        clip_id = find_video_id(raw.video_id or "", self._losses)
        if clip_id is not None:
            detail = f"line {raw.line}: clip {clip_id} {self._losses[clip_id].why}"
            return UnmatchedCaption("rejected_clip", detail, raw)
        name = raw.video_id or unicodedata.normalize("NFC", raw.source or "")
        return UnmatchedCaption("unknown_clip", f"line {raw.line}: there is no clip or source '{name}'", raw)

    def _follow_clip(self, source_id: str, start: float, end: float, raw: RawCaption) -> str | UnmatchedCaption:
        shares = []
        for clip in self._clips[source_id]:
            overlap = min(clip.end, end) - max(clip.start, start)
            shares.append((overlap / max(end - start + clip.end - clip.start - overlap, _ROUNDING), clip.video_id))
        largest, video_id = max(shares)
        if largest >= (self._follow or 0) - _ROUNDING and largest > 0:
            return video_id
        detail = (
            f"line {raw.line}: {raw.video_id} is gone, and a clip of its source overlaps it by {max(largest, 0):.2f}"
        )
        return UnmatchedCaption("outside_clips", f"{detail} at most", raw)

    def _match_in_source(self, source_id: str, raw: RawCaption) -> str | UnmatchedCaption:
        clips = self._clips.get(source_id, [])
        if not clips:
            loss = self._losses.get(source_id)
            reason: UnmatchedReason = "outside_clips" if loss is None else "rejected_source"
            why = "has no clip" if loss is None else loss.why
            return UnmatchedCaption(reason, f"line {raw.line}: source {source_id} {why}", raw)
        if raw.start is None or raw.end is None:
            if len(clips) == 1:
                return clips[0].video_id
            detail = (
                f"line {raw.line}: no start and end, and {source_id} has {len(clips)} clips; clips.whole=true "
                "makes one of each video"
            )
            return UnmatchedCaption("ambiguous", detail, raw)
        span = f"{raw.start:g}-{raw.end:g} s of {source_id}"
        overlaps = [(min(clip.end, raw.end) - max(clip.start, raw.start), clip.video_id) for clip in clips]
        longest = max(overlaps)[0]
        if raw.end <= raw.start or 2 * longest < raw.end - raw.start - _ROUNDING:
            return UnmatchedCaption("outside_clips", f"line {raw.line}: no clip covers half of {span}", raw)
        best = [video_id for overlap, video_id in overlaps if overlap >= longest - _ROUNDING]
        if len(best) > 1:
            return UnmatchedCaption("ambiguous", f"line {raw.line}: {len(best)} clips cover {span} equally", raw)
        return best[0]


def match_captions(
    raws: Iterable[RawCaption],
    clips: Iterable[Clip],
    sources: Iterable[Source],
    copies: Iterable[tuple[Source, str]] = (),
    losses: Iterable[Loss] = (),
    is_withdrawn: Callable[[str], bool] = lambda _: False,
    follow: float | None = None,
) -> tuple[dict[str, list[RawCaption]], list[UnmatchedCaption]]:
    """Return the captions of each clip, in the order of clips, by the rule of `CaptionMatcher`, and unmatched ones."""
    clips = list(clips)
    matcher = CaptionMatcher(clips, sources, copies, losses, is_withdrawn, follow)
    by_clip: dict[str, list[RawCaption]] = {clip.video_id: [] for clip in clips}
    unmatched: list[UnmatchedCaption] = []
    for raw in raws:
        match = matcher.match(raw)
        if isinstance(match, UnmatchedCaption):
            unmatched.append(match)
        else:
            by_clip[match].append(raw)
    return by_clip, unmatched


def _unique_aliases(pairs: Iterable[tuple[str | None, str]]) -> dict[str, str]:
    """Map names to source ids, and names of several sources to `_AMBIGUOUS`."""
    aliases: dict[str, str] = {}
    for name, source_id in pairs:
        composed = unicodedata.normalize("NFC", name or "")
        if composed and aliases.setdefault(composed, source_id) != source_id:
            aliases[composed] = _AMBIGUOUS
    return aliases
