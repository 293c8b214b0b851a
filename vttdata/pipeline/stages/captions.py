"""Stages for captions: clean those of each clip, and reject clips that keep too few."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from vttdata.errors import VttdataError
from vttdata.pipeline.stage import Kept, Outcome, Rejected, Stage
from vttdata.records import Caption, Clip, Source
from vttdata.text.captions import CaptionSettings, RawCaption, clean_captions, read_caption_table
from vttdata.text.clip_matching import match_captions


@dataclass(frozen=True, slots=True)
class RawClipCaptions:
    """Captions of a clip as they were collected; or one that fits no clip, with the `reason`."""

    video_id: str
    captions: tuple[RawCaption, ...]
    reason: str | None = None
    detail: str = ""


def group_raw_captions(
    file: Path,
    settings: CaptionSettings,
    clips: Iterable[Clip],
    sources: Iterable[Source],
    copies: Iterable[tuple[Source, str]] = (),
) -> Iterator[RawClipCaptions]:
    """Yield the captions of each clip, in this order, from a table, then each caption that fits no clip.

    The settings name columns of the table; for `copies` see `CaptionMatcher`.

    Raises:
        VttdataError: when the table cannot be read, or none of its captions fits any of the clips.
    """
    matched = match_captions(read_caption_table(file, settings.columns), clips, sources, copies)
    if matched.unmatched and not any(matched.by_clip.values()):
        first = matched.unmatched[0].detail
        example = next(iter(matched.by_clip), None)
        known_ids = f"the clips are called like '{example}'" if example else "the build has no clip"
        raise VttdataError(f"{file}: none of its {len(matched.unmatched)} captions fits a clip ({first}); {known_ids}.")
    for video_id, captions in matched.by_clip.items():
        yield RawClipCaptions(video_id, captions)
    for unmatched in matched.unmatched:
        raw = unmatched.raw
        yield RawClipCaptions(raw.video_id or raw.source or "", (raw,), unmatched.reason, unmatched.detail)


@dataclass(frozen=True)
class CleanCaptions(Stage):
    """Clean the captions of each clip; every removal is counted under its reason.

    `language` is that of captions that state none.
    """

    name = "captions"
    output = Caption
    id_column = "video_id"
    part_size = 64
    reasons = frozenset(
        {"empty", "duplicate", "case_duplicate", "too_short", "too_long", "language", "doubled_id"}
        | {"unknown_clip", "outside_clips", "ambiguous"}
    )

    settings: CaptionSettings
    language: str = "en"

    def count(self, item: RawClipCaptions) -> int:
        """Count captions, not clips."""
        return len(item.captions)

    def process(self, item: RawClipCaptions) -> Iterator[Outcome]:
        """Keep the captions of one clip that are left after cleaning."""
        if item.reason is not None:
            yield Rejected(item.video_id, item.reason, item.detail)
            return
        for result in clean_captions(item.video_id, item.captions, self.settings, self.language):
            if isinstance(result, Caption):
                yield Kept(result)
            else:
                yield Rejected(item.video_id, result.reason, result.detail)


@dataclass(frozen=True, slots=True)
class CaptionedClip:
    """Clip with the number of captions that it kept."""

    clip: Clip
    captions: int

    @property
    def video_id(self) -> str:
        """Id of the clip."""
        return self.clip.video_id


@dataclass(frozen=True)
class EnoughCaptions(Stage):
    """Reject clips that kept fewer captions than the recipe wants."""

    name = "captioned"
    output = Clip
    id_column = "video_id"
    part_size = 64
    reasons = frozenset({"too_few_captions"})

    settings: CaptionSettings

    def process(self, item: CaptionedClip) -> Iterator[Outcome]:
        """Keep the clip unless it has too few captions."""
        if item.captions < self.settings.per_clip and self.settings.below == "reject":
            facts = f"{item.captions} captions, at least {self.settings.per_clip} wanted"
            yield Rejected(item.video_id, "too_few_captions", facts)
        else:
            yield Kept(item.clip)


def count_captions(clips: Iterable[Clip], captions: Iterable[Caption]) -> Iterator[CaptionedClip]:
    """Join each clip with the number of its captions; both come in the same order of clips."""
    stream = iter(captions)
    caption = next(stream, None)
    for clip in clips:
        number = 0
        while caption is not None and caption.video_id == clip.video_id:
            number += 1
            caption = next(stream, None)
        yield CaptionedClip(clip, number)
