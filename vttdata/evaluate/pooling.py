"""Pool what systems rank first for people to judge, and fuse rankings by Borda counts (Hodosh et al., JAIR 2013).

Queries are captions and items are videos, as in `vttdata.evaluate.tasks.retrieval`. A pair that no system ranks high is
rarely relevant, so that people judge far fewer pairs than there are; how many relevant ones they miss is estimated from
a sample of the others.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from vttdata.errors import VttdataError
from vttdata.evaluate.predictions import read_run, read_similarity
from vttdata.statistics.intervals import wilson_interval

Rankings = Mapping[str, Sequence[str]]
"""Query -> items, the best first; items that a system leaves out are missing."""


class SystemRankings(NamedTuple):
    """What a system ranks: videos for each caption, and captions for each video where it scores all pairs."""

    videos: Rankings
    captions: Rankings


class Missed(NamedTuple):
    """Estimated number of relevant pairs that nobody judged, with its 95 % interval (Wilson's, of the share)."""

    number: float
    low: float
    high: float


def read_rankings(path: Path, pool: Sequence[str]) -> SystemRankings:
    """Read a system's scores of a pool, each video of which has one caption of the same id.

    Items of equal scores are in the order of the pool. Other queries and videos than those of the pool do not count.

    Args:
        path: ``.npz`` with ``similarity``, ``query_ids`` and ``video_ids``, which gives both directions; or a TREC run,
            whose scores of different queries cannot be compared, so that it ranks videos only.
        pool: ids.

    Raises:
        VttdataError: if it cannot be read, or a query of the pool is missing.
    """
    if path.suffix.lower() in (".npz", ".npy"):
        similarity = read_similarity(path)
        if similarity.query_ids is None or similarity.video_ids is None:
            raise VttdataError(f"{path}: has no query_ids and video_ids; save them beside the matrix as .npz.")
        rows, columns = (
            {name: index for index, name in enumerate(names)} for names in (similarity.query_ids, similarity.video_ids)
        )
        _check_queries(path, pool, rows)
        videos = [video for video in pool if video in columns]
        scores = np.asarray(similarity.scores)[np.ix_([rows[q] for q in pool], [columns[v] for v in videos])]
        order = np.argsort(-scores, axis=1, kind="stable").tolist()
        reverse = np.argsort(-scores, axis=0, kind="stable").T.tolist()
        by_query = {query: [videos[column] for column in ranked] for query, ranked in zip(pool, order, strict=True)}
        by_video = {video: [pool[row] for row in ranked] for video, ranked in zip(videos, reverse, strict=True)}
        return SystemRankings(by_query, by_video)
    run = read_run(path)
    _check_queries(path, pool, run)
    place = {name: index for index, name in enumerate(pool)}
    ranked = {
        query: sorted((v for v in run[query] if v in place), key=lambda v: (-run[query][v], place[v])) for query in pool
    }
    return SystemRankings(ranked, {})


def _check_queries(path: Path, pool: Sequence[str], known: Mapping[str, object]) -> None:
    missing = [query for query in pool if query not in known]
    if missing:
        raise VttdataError(
            f"{path}: ranks nothing for {len(missing):,} of the {len(pool):,} captions of the pool (first "
            f"{missing[0][:80]!a}); queries are the ids of its videos."
        )


def pool_pairs(systems: Sequence[SystemRankings], depth: int) -> set[tuple[str, str]]:
    """Return the pairs of a caption and a video that any system ranks among the first `depth`, in either direction."""
    pairs = {
        (query, video) for system in systems for query, ranked in system.videos.items() for video in ranked[:depth]
    }
    return pairs | {
        (query, video) for system in systems for video, ranked in system.captions.items() for query in ranked[:depth]
    }


def fuse_rankings(rankings: Sequence[Sequence[str]], items: Sequence[str]) -> list[str]:
    """Return items by the sum of N - r over several rankings of N items, r being 0 for the first (section 4.1).

    Ties are broken by the median of ranks, then by the order of `items`. Items that a ranking leaves out share the mean
    of the ranks behind it.
    """
    number = len(items)
    ranks: dict[str, list[float]] = {item: [] for item in items}
    for ranked in rankings:
        behind = (len(ranked) + number - 1) / 2
        place = {item: float(rank) for rank, item in enumerate(ranked)}
        for item, values in ranks.items():
            values.append(place.get(item, behind))
    order = {item: index for index, item in enumerate(items)}
    return sorted(items, key=lambda item: (sum(ranks[item]), statistics.median(ranks[item]), order[item]))


def estimate_missed(relevant: int, sampled: int, unjudged: int) -> Missed:
    """Estimate how many of `unjudged` pairs are relevant from a uniform sample of them, judged; NaN without one."""
    low, high = wilson_interval(relevant, sampled)
    share = relevant / sampled if sampled else float("nan")
    return Missed(share * unjudged, low * unjudged, high * unjudged)
