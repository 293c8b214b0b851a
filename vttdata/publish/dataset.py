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

from vttdata.errors import VttdataError
from vttdata.publish.about import About
from vttdata.publish.card import card_text
from vttdata.publish.columns import CONFIGS, caption_row, clip_row, schema, source_row
from vttdata.publish.folder import bring, replacing
from vttdata.publish.front_matter import front_matter
from vttdata.publish.manifest import write_manifest
from vttdata.publish.ordered import OrderedCaptions
from vttdata.publish.shards import SplitFiles, file_sha256, write_split
from vttdata.publish.statistics import Statistics, count
from vttdata.records import Caption, Clip, Source, is_safe_id
from vttdata.split import Audit

_SPLIT_ORDER = {"train": 0, "validation": 1, "test": 2}
_SPLIT_NAME = re.compile(r"\w+", re.ASCII)
_DIGITS = re.compile(r"([0-9]+)")

Tables = dict[str, list[SplitFiles]]
Facts = dict[str, dict[str, Any]]


def write_dataset(
    folder: Path,
    *,
    clips: Iterable[Clip],
    captions: Iterable[Caption],
    sources: Iterable[Source],
    about: About,
    media: Path | None,
    judge: Callable[[Mapping[str, Sequence[Path]]], Audit] | None = None,
) -> Statistics:
    """Write a dataset and put it in the place of the one that is in `folder`.

    Args:
        folder: becomes the dataset; what is there must be a dataset or empty.
        clips: at least one; a clip without a split counts as ``train``.
        captions: about these clips, in any order; read once and never held in memory as a whole.
        sources: at least those of the clips, or none at all; those without clips are left out.
        about: what the card says besides.
        media: folder with the clips' files (``<name>`` of ``videos/<name>`` in `Clip.media`), which are hard-linked
            or else copied into ``videos/``; None leaves the files out.
        judge: is given the Parquet files of ``clips`` (split -> files) before anything is replaced, and answers with an
            audit for the card, or raises to leave everything as it was.

    Returns:
        The figures of the dataset, as in its card.

    Raises:
        VttdataError: when there are no clips, when records contradict each other, when a clip's file is missing or has
            another size than its record says, or when `folder` holds something else than a dataset.
    """
    contents = _Contents(clips, sources)
    with replacing(folder) as partial:
        tables = contents.write_tables(partial, captions, shipped=media is not None)
        files = {s.path: {"sha256": s.sha256, "bytes": s.bytes, "rows": s.rows} for s in _shards(tables)}
        found = judge(_paths(partial, tables)["clips"]) if judge is not None else None
        videos = contents.bring_media(partial, media) if media is not None else {}
        facts = count(_paths(partial, tables), contents.categories)
        missing = [split for split in about.asked if split not in facts.splits]
        head = front_matter(tables, contents.categories, about)
        readme = partial / "README.md"
        body = card_text(about, facts, tables, shipped=len(videos), missing=missing, audit=found)
        readme.write_text(f"{head}\n{body}", encoding="utf-8")
        files["README.md"] = {"sha256": file_sha256(readme), "bytes": readme.stat().st_size}
        write_manifest(partial, name=about.name, version=about.version, files=files | videos)
    return facts


class _Contents:
    """The clips in the order of the dataset (split, then id with numbers by value), and the sources they need."""

    def __init__(self, clips: Iterable[Clip], sources: Iterable[Source]) -> None:
        self.clips = sorted(clips, key=lambda clip: (_split_key(clip.split), _natural(clip.video_id)))
        used = {clip.source_id for clip in self.clips}
        stream = iter(sources)
        first = next(stream, None)
        given = () if first is None else itertools.chain([first], stream)
        kept = [source for source in given if source.source_id in used]
        self.sources = {source.source_id: source for source in sorted(kept, key=lambda s: _natural(s.source_id))}
        named = {clip.category for clip in self.clips} | {source.category for source in kept}
        self.categories = sorted(name for name in named if name is not None)
        self._check(used if first is not None else set())
        self._label = {name: index for index, name in enumerate(self.categories)}
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
        if doubled:
            raise VttdataError(f"The clip id '{min(doubled)}' appears twice.")
        lost = needed - self.sources.keys()
        if lost:
            raise VttdataError(
                f"The source '{min(lost)}' of a clip is not among the sources ({len(lost)} are missing)."
            )

    def write_tables(self, dataset: Path, captions: Iterable[Caption], *, shipped: bool) -> Tables:
        """Write all Parquet files; a configuration or split without rows does not exist."""
        scratch = dataset / ".captions.sqlite"
        places = {clip.video_id: place for place, clip in enumerate(self.clips)}
        tables: Tables = {config: [] for config in CONFIGS}
        with closing(OrderedCaptions(scratch, places, captions)) as ordered:
            for split, clips in self._splits.items():
                first = places[clips[0].video_id]
                rows = {
                    "clips": self._clip_rows(clips, ordered.between(first, first + len(clips)), shipped=shipped),
                    "captions": map(caption_row, ordered.between(first, first + len(clips))),
                    "sources": self._source_rows(clips),
                }
                for config, own in rows.items():
                    written = write_split(dataset, config, split, schema(CONFIGS[config], self.categories), own)
                    tables[config] += [written] if written else []
        scratch.unlink()
        return {config: splits for config, splits in tables.items() if splits}

    def _clip_rows(self, clips: list[Clip], captions: Iterator[Caption], *, shipped: bool) -> Iterator[dict[str, Any]]:
        caption = next(captions, None)
        for clip in clips:
            own: list[str] = []
            while caption is not None and caption.video_id == clip.video_id:
                own.append(caption.caption)
                caption = next(captions, None)
            yield clip_row(clip, own, self._label, shipped=shipped and clip.media is not None)

    def _source_rows(self, clips: list[Clip]) -> Iterator[dict[str, Any]]:
        numbers = Counter(clip.source_id for clip in clips)
        for source_id, source in self.sources.items():
            if numbers[source_id]:
                yield source_row(source, numbers[source_id], self._label)

    def bring_media(self, dataset: Path, media: Path) -> Facts:
        """Bring in the files of all clips that have one; return what the manifest says of them."""
        (dataset / "videos").mkdir()
        files: Facts = {}
        for clip in self.clips:
            if clip.media is not None:
                folder, _, name = clip.media.video.partition("/")
                if folder != "videos" or not is_safe_id(name) or not name.startswith(f"{clip.video_id}."):
                    raise VttdataError(f"Clip {clip.video_id}: its file is called {clip.media.video!r}.")
                bring(media / name, dataset / "videos" / name, clip.media.sha256)
                files[clip.media.video] = {"sha256": clip.media.sha256, "bytes": clip.media.bytes}
        return files


def _split_key(split: str | None) -> tuple[int, str]:
    name = split or "train"
    return _SPLIT_ORDER.get(name, len(_SPLIT_ORDER)), name


def _natural(name: str) -> tuple[Any, ...]:
    """A key that puts video10 after video9; text and numbers alternate, so that like is compared with like."""
    pieces: list[Any] = _DIGITS.split(name)
    pieces[1::2] = [(len(digits.lstrip("0")), digits.lstrip("0")) for digits in pieces[1::2]]
    return (*pieces, name)


def _shards(tables: Mapping[str, Sequence[SplitFiles]]) -> Iterator[Any]:
    return (shard for splits in tables.values() for split in splits for shard in split.shards)


def _paths(dataset: Path, tables: Tables) -> dict[str, dict[str, list[Path]]]:
    return {
        config: {split.split: [dataset / shard.path for shard in split.shards] for split in splits}
        for config, splits in tables.items()
    }
