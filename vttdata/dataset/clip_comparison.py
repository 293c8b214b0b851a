"""Compare sources by the fingerprints of their clip files where a dataset publishes no fingerprints of its sources.

Every file is decoded, at about twenty times its playing speed; nothing is stored.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from vttdata.dataset.parquet import read_parquet_rows
from vttdata.errors import MediaError
from vttdata.ids import is_safe_id
from vttdata.records import Fingerprint
from vttdata.split.near_duplicates.matches import match_sources
from vttdata.split.near_duplicates.records import NearDuplicate, SimilarSources

_COLUMNS = ["video_id", "source_id", "video"]


def compare_clips(
    dataset: Path, clips: Sequence[Path], splits_of: Mapping[str, tuple[bool, ...]]
) -> SimilarSources | None:
    """Return which sources are near-duplicates by their clips; None without files or without a decoder installed.

    Args:
        dataset: Folder that the names of the clips' files are relative to.
        clips: Parquet files of the clips.
        splits_of: Source id -> for each split whether the source feeds it; other sources are left out.
    """
    source_of: dict[str, str] = {}
    matches = match_sources(_fingerprint_clips(dataset, clips, splits_of, source_of))
    if not source_of:
        return None
    most_similar: dict[tuple[str, str], NearDuplicate] = {}
    for pair in (_between_sources(pair, source_of) for pair in matches.duplicates()):
        key = pair.source_a, pair.source_b
        if key[0] != key[1] and (key not in most_similar or most_similar[key].similarity < pair.similarity):
            most_similar[key] = pair
    closest = matches.closest({video_id: splits_of[source_id] for video_id, source_id in source_of.items()})
    return SimilarSources(
        [most_similar[key] for key in sorted(most_similar)],
        closest and _between_sources(closest, source_of),
        without_fingerprint=len(splits_of) - len(set(source_of.values())),
    )


def _fingerprint_clips(
    dataset: Path, clips: Sequence[Path], splits_of: Mapping[str, tuple[bool, ...]], source_of: dict[str, str]
) -> Iterator[tuple[str, Fingerprint]]:
    """Yield each clip's fingerprint and note its source; files that cannot be decoded are left out."""
    try:
        from vttdata.media.fingerprint import fingerprint
    except ImportError:
        return
    for path in clips:
        for row in read_parquet_rows([path], _COLUMNS):
            video_id, source_id, video = (row[column] for column in _COLUMNS)
            folder, *names = video.split("/") if isinstance(video, str) else ("",)
            if source_id not in splits_of or video_id in source_of or folder != "videos":
                continue
            if not all(map(is_safe_id, names)):
                continue
            try:
                clip_fingerprint = fingerprint(dataset.joinpath(folder, *names))
            except MediaError:
                continue
            source_of[video_id] = source_id
            yield video_id, clip_fingerprint


def _between_sources(pair: NearDuplicate, source_of: Mapping[str, str]) -> NearDuplicate:
    """Return a pair of clips as a pair of their sources, the smaller id first; times stay those of the clips."""
    source_a, source_b = source_of[pair.source_a], source_of[pair.source_b]
    if source_a <= source_b:
        return dataclasses.replace(pair, source_a=source_a, source_b=source_b)
    return dataclasses.replace(
        pair,
        source_a=source_b,
        source_b=source_a,
        offset_seconds=round(-pair.offset_seconds / pair.speed, 3),
        speed=round(1 / pair.speed, 4),
        start_seconds=round(pair.start_seconds * pair.speed + pair.offset_seconds, 3),
        overlap_seconds=round(pair.overlap_seconds * pair.speed, 3),
    )
