"""Compares the clips' own files where a dataset publishes no fingerprints of its sources.

Every file is decoded, which takes about as long as playing it twenty times as fast; nothing is stored.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow.parquet as pq

from vttdata.errors import MediaError
from vttdata.ids import is_safe_id
from vttdata.records import Fingerprint
from vttdata.split.near_duplicates.matches import match_sources
from vttdata.split.near_duplicates.records import NearDuplicate, SimilarSources

_COLUMNS = ["video_id", "source_id", "video"]


def resemblance_of_clips(
    dataset: Path, clips: Sequence[Path], sides: Mapping[str, tuple[bool, ...]]
) -> SimilarSources | None:
    """Which sources look alike by their clips; None where there are no files or what decodes them is not installed.

    Args:
        dataset: the folder that the names of the clips' files are relative to.
        clips: the Parquet files of the clips.
        sides: source id -> the splits it feeds; other sources are left out.
    """
    source_of: dict[str, str] = {}
    matches = match_sources(_printed(dataset, clips, sides, source_of))
    if not source_of:
        return None
    found: dict[tuple[str, str], NearDuplicate] = {}
    for pair in (_of_sources(pair, source_of) for pair in matches.duplicates()):
        key = pair.source_a, pair.source_b
        if key[0] != key[1] and (key not in found or found[key].similarity < pair.similarity):
            found[key] = pair
    closest = matches.closest({name: sides[source] for name, source in source_of.items()})
    unseen = len(sides) - len(set(source_of.values()))
    return SimilarSources(
        [found[key] for key in sorted(found)], closest and _of_sources(closest, source_of), without_fingerprint=unseen
    )


def _printed(
    dataset: Path, clips: Sequence[Path], sides: Mapping[str, tuple[bool, ...]], source_of: dict[str, str]
) -> Iterator[tuple[str, Fingerprint]]:
    """Each clip's fingerprint; notes its source. Files that cannot be decoded are left out."""
    try:
        from vttdata.media.fingerprint import fingerprint
    except ImportError:
        return
    for path in clips:
        for row in pq.read_table(path, columns=_COLUMNS).to_pylist():
            name, source, video = (row[column] for column in _COLUMNS)
            folder, _, file = (video or "").partition("/")
            if source not in sides or name in source_of or folder != "videos" or not is_safe_id(file):
                continue
            try:
                made = fingerprint(dataset / "videos" / file)
            except MediaError:
                continue
            source_of[name] = source
            yield name, made


def _of_sources(pair: NearDuplicate, source_of: Mapping[str, str]) -> NearDuplicate:
    """A pair of clips as one of their sources, the smaller id first; times stay those of the clips."""
    one, other = source_of[pair.source_a], source_of[pair.source_b]
    if one <= other:
        return dataclasses.replace(pair, source_a=one, source_b=other)
    return dataclasses.replace(
        pair,
        source_a=other,
        source_b=one,
        offset_seconds=round(-pair.offset_seconds / pair.speed, 3),
        speed=round(1 / pair.speed, 4),
        start_seconds=round(pair.start_seconds * pair.speed + pair.offset_seconds, 3),
        overlap_seconds=round(pair.overlap_seconds * pair.speed, 3),
    )
