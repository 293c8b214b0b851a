"""Stages for captions: clean those of each clip, reject clips that keep too few, and degrade captions."""

from __future__ import annotations

import typing
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from vttdata.dataset.tombstones import WITHDRAWN
from vttdata.errors import VttdataError
from vttdata.files.addresses import hide_secrets
from vttdata.generate import DegradeSettings, Donors, degrade_captions
from vttdata.pipeline.stage import Kept, Outcome, Rejected, Stage, WholeStage
from vttdata.records import Caption, Clip, Degraded, Source
from vttdata.text.captions import (
    CaptionSettings,
    RawCaption,
    Removal,
    RemovalReason,
    clean_captions,
    pseudonymise,
    read_salt,
)
from vttdata.text.clip_matching import Loss, UnmatchedReason, match_captions
from vttdata.text.tokenizers import split_unicode_words

UNCAPTIONED = "uncaptioned"
"""Reason of clips that nobody has captioned yet."""

GENERIC = "generic"
"""Reason of captions that many clips have word for word."""

REMOVAL_REASONS = frozenset(typing.get_args(RemovalReason))
UNMATCHED_REASONS = frozenset(typing.get_args(UnmatchedReason))


@dataclass(frozen=True, slots=True)
class RawClipCaptions:
    """Captions of a clip as they were collected; or one that fits no clip or is generic, with the `reason`."""

    video_id: str
    captions: tuple[RawCaption, ...]
    reason: str | None = None
    detail: str = ""


def group_raw_captions(
    file: Path,
    raws: Iterable[RawCaption],
    settings: CaptionSettings,
    clips: Iterable[Clip],
    sources: Iterable[Source],
    copies: Iterable[tuple[Source, str]] = (),
    losses: Iterable[Loss] = (),
    is_withdrawn: Callable[[str], bool] = lambda _: False,
) -> Iterator[RawClipCaptions]:
    """Yield the captions of each clip, in this order, then those that are generic or fit no clip.

    `file` is the table that has them, named in errors; for `copies` and what follows see `CaptionMatcher`.

    Raises:
        VttdataError: when none of the captions fits any of the clips.
    """
    if settings.pseudonyms is not None:
        raws = pseudonymise(raws, read_salt(Path(settings.pseudonyms)))
    by_clip, unmatched = match_captions(raws, clips, sources, copies, losses, is_withdrawn, settings.follow)
    if unmatched and not any(by_clip.values()):
        first = hide_secrets(unmatched[0].detail)
        example = next(iter(by_clip), None)
        known_ids = f"the clips are called like '{example}'" if example else "the build has no clip"
        raise VttdataError(f"{file}: none of its {len(unmatched)} captions fits a clip ({first}); {known_ids}.")
    generic = find_generic_texts(by_clip, settings.generic_from) if settings.generic_from is not None else {}
    rejected = []
    for video_id, captions in by_clip.items():
        telling = []
        for raw in captions:
            number = generic.get(caption_key(raw.caption), 0)
            if number:
                detail = f"line {raw.line}: {number:,} clips have {raw.caption[:80]!a}"
                rejected.append(RawClipCaptions(video_id, (raw,), GENERIC, detail))
            else:
                telling.append(raw)
        yield RawClipCaptions(video_id, tuple(telling))
    yield from rejected
    for caption in unmatched:
        # A caption may name its video by an address.
        name = hide_secrets(caption.raw.video_id or caption.raw.source or "") if caption.reason != WITHDRAWN else ""
        yield RawClipCaptions(name, (caption.raw,), caption.reason, hide_secrets(caption.detail))


def caption_key(text: str) -> str:
    """Return the words of a caption in lower case, without punctuation."""
    return " ".join(split_unicode_words(text))


def find_generic_texts(by_clip: Mapping[str, Sequence[RawCaption]], least: int) -> dict[str, int]:
    """Return the words of captions that at least so many clips have -> the number of these clips."""
    clips_with: Counter[str] = Counter()
    for captions in by_clip.values():
        clips_with.update({caption_key(raw.caption) for raw in captions})
    return {words: number for words, number in clips_with.items() if number >= least}


@dataclass(frozen=True)
class CleanCaptions(Stage[RawClipCaptions, Caption]):
    """Clean the captions of each clip; every removal is counted under its reason.

    `language` is that of captions that state none.
    """

    name = "captions"
    version = 2
    output = Caption
    id_column = "video_id"
    part_size = 64
    reasons = REMOVAL_REASONS | UNMATCHED_REASONS | {GENERIC}

    settings: CaptionSettings
    language: str = "en"

    def count(self, item: RawClipCaptions) -> int:
        """Count captions, not clips."""
        return len(item.captions)

    def process(self, item: RawClipCaptions) -> Iterator[Outcome[Caption]]:
        """Keep the captions of one clip that are left after cleaning."""
        if item.reason is not None:
            yield Rejected(item.video_id, item.reason, item.detail)
            return
        yield from _keep_captions(clean_captions(item.video_id, item.captions, self.settings, self.language))


def _keep_captions(results: Iterable[Caption | Removal]) -> Iterator[Outcome[Caption]]:
    for result in results:
        if isinstance(result, Caption):
            yield Kept(result)
        else:
            yield Rejected(result.video_id, result.reason, result.detail)


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
class EnoughCaptions(Stage[CaptionedClip, Clip]):
    """Reject clips that kept fewer captions than the recipe wants; those without any wait as ``uncaptioned``."""

    name = "captioned"
    output = Clip
    id_column = "video_id"
    part_size = 64
    reasons = frozenset({"too_few_captions", UNCAPTIONED})

    settings: CaptionSettings

    def process(self, item: CaptionedClip) -> Iterator[Outcome[Clip]]:
        """Keep the clip unless it has too few captions."""
        if item.captions < self.settings.per_clip and self.settings.below == "reject":
            facts = f"{item.captions} captions, at least {self.settings.per_clip} wanted"
            yield Rejected(item.video_id, "too_few_captions" if item.captions else UNCAPTIONED, facts)
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


@dataclass(frozen=True, slots=True)
class CaptionInSplit:
    """Caption with the source and the split of its clip."""

    caption: Caption
    source_id: str
    split: str


@dataclass(frozen=True)
class CleanedCaptions(WholeStage[Caption | Removal, Caption]):
    """Captions of an input that was cleaned while it was read; removals are counted under their reasons."""

    name = "cleaned_captions"
    output = Caption
    id_column = "video_id"
    reasons = REMOVAL_REASONS

    def process(self, item: tuple[Caption | Removal, ...]) -> Iterator[Outcome[Caption]]:
        """Keep captions and reject removals, in their order."""
        return _keep_captions(item)


@dataclass(frozen=True)
class DegradeCaptions(WholeStage[CaptionInSplit, Degraded]):
    """Degraded form of every caption; where there is none, the record has a flag."""

    name = "degraded"
    version = 4
    output = Degraded
    id_column = "video_id"

    settings: DegradeSettings
    seed: int

    def process(self, item: tuple[CaptionInSplit, ...]) -> Iterator[Outcome[Degraded]]:
        """Keep all captions in their order; no word goes from one split into another."""
        by_split: dict[str, list[CaptionInSplit]] = {}
        for entry in item:
            by_split.setdefault(entry.split, []).append(entry)
        results = {}
        for split, entries in by_split.items():
            captions = [entry.caption for entry in entries]
            donors = Donors(captions, {entry.caption.video_id: entry.source_id for entry in entries})
            results[split] = degrade_captions(captions, donors, self.settings, seed=self.seed)
        for entry in item:
            yield Kept(next(results[entry.split]))


def captions_in_splits(captions: Iterable[Caption], clips: Iterable[Clip]) -> list[CaptionInSplit]:
    """Return the captions of these clips in the order of the clips, then of `sen_id`; leave those of others out.

    Of a clip that is listed twice, the first counts; clips without a split count as ``train``.
    """
    by_clip: dict[str, tuple[Clip, list[Caption]]] = {}
    for clip in clips:
        by_clip.setdefault(clip.video_id, (clip, []))
    for caption in captions:
        if caption.video_id in by_clip:
            by_clip[caption.video_id][1].append(caption)
    return [
        CaptionInSplit(caption, clip.source_id, clip.split or "train")
        for clip, of_clip in by_clip.values()
        for caption in sorted(of_clip, key=lambda caption: caption.sen_id)
    ]
