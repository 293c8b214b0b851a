"""Writes a dataset folder that plain `datasets.load_dataset` opens: Parquet tables, card, media, manifest.

The same records give the same bytes, in whatever order they come. The folder is replaced as a whole, so that a reader
sees the old dataset or the new one, and an interruption leaves nothing half-made behind.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from vttdata.dataset.captions import OrderedCaptions
from vttdata.dataset.card.card import card_text, limitations
from vttdata.dataset.columns import CONFIGS, VIDEOS, columns_of, label_counts, schema
from vttdata.dataset.describe import write_description
from vttdata.dataset.metadata import Metadata, OfficialLayout
from vttdata.dataset.replace_folder import replace_folder
from vttdata.dataset.rows import caption_row, clip_row, concept_row, degraded_row, source_row
from vttdata.dataset.shards import SplitFiles, split_key, write_split
from vttdata.dataset.statistics import Statistics, count
from vttdata.dataset.videos import MediaMode, bring_files, video_rows
from vttdata.errors import VttdataError
from vttdata.ids import is_safe_id
from vttdata.records import Caption, Clip, Degraded, Source
from vttdata.split import Audit

_SPLIT_NAME = re.compile(r"\w+", re.ASCII)
_DIGITS = re.compile(r"([0-9]+)")

Rows = Iterator[dict[str, Any]]
Tables = dict[str, list[SplitFiles]]


def write_dataset(
    folder: Path,
    *,
    clips: Iterable[Clip],
    captions: Iterable[Caption],
    sources: Iterable[Source],
    metadata: Metadata,
    media: Path | None,
    mode: MediaMode = "files",
    official: OfficialLayout | None = None,
    audit: Callable[[Mapping[str, Mapping[str, Sequence[Path]]]], Mapping[str, Audit]] | None = None,
    add_files: Callable[[Path], None] | None = None,
) -> Statistics:
    """Write a dataset and put it in the place of the one that is in `folder`.

    Args:
        folder: becomes the dataset; what is there must be a dataset or empty.
        clips: at least one; a clip without a split counts as ``train``.
        captions: about these clips, in any order; read once and never held in memory as a whole.
        sources: at least those of the clips, or none at all; those without clips are left out.
        metadata: what the card says besides.
        media: folder with the clips' files (``<name>`` of ``videos/<name>`` in `Clip.media`); None leaves them out.
        mode: how they go into the dataset: ``files`` hard-links or else copies them into ``videos/``; see
            `vttdata.dataset.videos`.
        official: what official files decide: with it, the order of clips and of sources is theirs, and rows that stand
            twice are kept.
        audit: is given the Parquet files (configuration -> split -> files) before anything is replaced, and answers
            with an audit of ``clips`` and of each protocol for the card, or raises to leave everything as it was.
        add_files: is given the folder once its tables and media are there, to add files of its own to it.

    Returns:
        The figures of the dataset, as in its card.

    Raises:
        VttdataError: when there are no clips, when records contradict each other, when a clip's file is missing or has
            another size than its record says, or when `folder` holds something else than a dataset.
    """
    contents = _Contents(clips, sources, official)
    mode = "none" if media is None else mode
    with replace_folder(folder) as partial:
        tables = contents.write_tables(partial, captions, shipped=mode == "files")
        paths = _paths(partial, tables)
        found = audit(paths) if audit is not None else {}
        files: dict[str, dict[str, Any]] = {}
        if media is not None and mode == "files":
            files = bring_files(partial, media, contents.clips)
        elif media is not None and mode == "embedded":
            tables |= contents.write_videos(partial, media)
        if add_files is not None:
            add_files(partial)
        classes = official.classes if official else ()
        facts = count(paths, contents.categories, classes)
        shipped = len(files) or sum(split.rows for split in tables.get("videos", ()))
        body = card_text(metadata, facts, tables, partial, shipped=shipped, audits=found)
        limits = limitations(metadata, facts, found, shipped)
        labels = {"categories": contents.categories, "classes": classes}
        write_description(partial, metadata, tables, body, **labels, limitations=limits, known=files)
    return facts


class _Contents:
    """The clips in the order of the dataset (split, then id with numbers by value), and the sources they need."""

    def __init__(self, clips: Iterable[Clip], sources: Iterable[Source], official: OfficialLayout | None) -> None:
        self._official = official
        by_id = sorted(clips, key=lambda clip: _natural(clip.video_id)) if official is None else clips
        self.clips = sorted(by_id, key=lambda clip: split_key(clip.split))
        used = {clip.source_id for clip in self.clips}
        stream = iter(sources)
        first = next(stream, None)
        there = () if first is None else itertools.chain([first], stream)
        kept = [source for source in there if source.source_id in used]
        ordered = sorted(kept, key=lambda source: _natural(source.source_id)) if official is None else kept
        self.sources = {source.source_id: source for source in ordered}
        named = {clip.category for clip in self.clips} | {source.category for source in kept}
        numbered = list(official.categories) if official else []
        self.categories = numbered + sorted(name for name in named if name is not None and name not in numbered)
        self._check(used if first is not None else set())
        self._label = {name: index for index, name in enumerate(self.categories)}
        self._places: dict[str, int] = {}
        for place, clip in enumerate(self.clips):
            self._places.setdefault(clip.video_id, place)
        self._splits = {
            split: list(own) for split, own in itertools.groupby(self.clips, key=lambda clip: clip.split or "train")
        }

    def _check(self, needed: set[str]) -> None:
        if not self.clips:
            raise VttdataError("There are no clips, so there is no dataset to write.")
        for clip in self.clips:
            if not is_safe_id(clip.video_id):
                raise VttdataError(f"The clip id {clip.video_id!r} cannot be a file name; use letters, digits, . _ -")
            if not _SPLIT_NAME.fullmatch(clip.split or "train"):
                raise VttdataError(f"Clip {clip.video_id}: {clip.split!r} cannot name a split.")
        doubled = [name for name, number in Counter(clip.video_id for clip in self.clips).items() if number > 1]
        if doubled and self._official is None:
            raise VttdataError(f"The clip id '{min(doubled)}' appears twice.")
        lost = needed - self.sources.keys()
        if lost:
            raise VttdataError(
                f"The source '{min(lost)}' of a clip is not among the sources ({len(lost)} are missing)."
            )

    def write_tables(self, dataset: Path, captions: Iterable[Caption], *, shipped: bool) -> Tables:
        """Write all Parquet files; a configuration or split without rows does not exist."""
        scratch = dataset / ".captions.sqlite"
        tables: Tables = {config: [] for config in CONFIGS}
        doubles = self._official is not None
        with closing(OrderedCaptions(scratch, self._places, captions, doubles=doubles)) as ordered:
            for config, split, rows in self._tables(ordered, shipped=shipped):
                columns = columns_of(config)
                labels = label_counts(columns, self.categories, self._official.classes if self._official else ())
                written = write_split(dataset, config, split, schema(columns, self.categories), rows, labels)
                tables.setdefault(config, []).extend([written] if written else [])
        scratch.unlink()
        return {config: splits for config, splits in tables.items() if splits}

    def write_videos(self, dataset: Path, media: Path) -> Tables:
        """Write the configuration `videos` with the bytes of all clips that have a file."""
        columns = schema(VIDEOS, ())
        written = [
            write_split(dataset, "videos", split, columns, video_rows(media, clips))
            for split, clips in self._splits.items()
        ]
        return {"videos": [split for split in written if split]} if any(written) else {}

    def _tables(self, ordered: OrderedCaptions, *, shipped: bool) -> Iterator[tuple[str, str, Rows]]:
        """The rows of each split of each configuration."""
        first = 0
        for split, clips in self._splits.items():
            yield "clips", split, self._clip_rows(clips, ordered, shipped=shipped)
            yield "captions", split, map(caption_row, ordered.between(first, first + len(clips)))
            yield "sources", split, self._source_rows(clips)
            first += len(clips)
        if self._official is not None:
            labels = {name: index for index, name in enumerate(self._official.classes)}
            concepts = {own.video_id: own for own in self._official.concepts}
            for split, clips in self._splits.items():
                there = ((concepts[clip.video_id], clip) for clip in clips if clip.video_id in concepts)
                yield "concepts", split, (concept_row(own, clip.source_id, labels) for own, clip in there)
                yield "degraded", split, self._degraded_rows(split, self._official.degraded)
            for config, divided in self._official.judgments.items():
                for split in sorted(divided, key=split_key):
                    yield config, split, iter(divided[split])
            for protocol, splits in self._official.protocols.items():
                for split in sorted(splits, key=split_key):
                    own = [self._clip(video_id, f"The protocol {protocol}") for video_id in splits[split]]
                    yield protocol, split, self._clip_rows(own, ordered, shipped=shipped)

    def _clip_rows(self, clips: list[Clip], ordered: OrderedCaptions, *, shipped: bool) -> Rows:
        for clip in clips:
            place = self._places[clip.video_id]
            captions = [caption.caption for caption in ordered.between(place, place + 1)]
            yield clip_row(clip, captions, self._label, shipped=shipped)

    def _clip(self, video_id: str, whose: str) -> Clip:
        place = self._places.get(video_id)
        if place is None:
            raise VttdataError(f"{whose} is about clip {video_id!a}, which is not in the dataset.")
        return self.clips[place]

    def _degraded_rows(self, split: str, degraded: Iterable[Degraded]) -> Rows:
        for own in degraded:
            clip = self._clip(own.video_id, "A degraded caption")
            if (clip.split or "train") == split:
                yield degraded_row(own, clip.source_id)

    def _source_rows(self, clips: list[Clip]) -> Rows:
        numbers = Counter(clip.source_id for clip in clips)
        for source_id, source in self.sources.items():
            if numbers[source_id]:
                yield source_row(source, numbers[source_id], self._label)


def _natural(name: str) -> tuple[Any, ...]:
    """A key that puts video10 after video9; text and numbers alternate, so that like is compared with like."""
    pieces: list[Any] = _DIGITS.split(name)
    pieces[1::2] = [(len(digits.lstrip("0")), digits.lstrip("0")) for digits in pieces[1::2]]
    return (*pieces, name)


def _paths(dataset: Path, tables: Tables) -> dict[str, dict[str, list[Path]]]:
    return {
        config: {split.split: [dataset / shard.path for shard in split.shards] for split in splits}
        for config, splits in tables.items()
    }
