"""Controls of a judge, which need no people: true captions and worse ones among each other, and the key to them.

A judge gets ``controls.csv``, whose ids and order say nothing; ``controls-key.csv`` says which controls are a pair.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from vttdata.errors import VttdataError
from vttdata.evaluate.items import number_sources
from vttdata.evaluate.meta.agreement import METRIC_DRAWS
from vttdata.evaluate.meta.stress import StressResult, StressSet, count_wins, read_stress_set
from vttdata.files.csv_safety import unescape_formula
from vttdata.files.output_file import write_files
from vttdata.files.table_formats import as_csv
from vttdata.files.tables import Columns, read_table, required_text
from vttdata.statistics.arrays import Integers

CONTROLS, KEY = "controls.csv", "controls-key.csv"
EMPTY = "empty"


class ControlKey(NamedTuple):
    """Pairs of controls.

    Fields:
        file: that holds it.
        tests: name of each pair's test.
        true: id of the true caption of each pair.
        worse: id of the other one.
        sources: number of each pair's video.
    """

    file: Path
    tests: Sequence[str]
    true: Sequence[str]
    worse: Sequence[str]
    sources: Integers


def is_controls(path: Path) -> bool:
    """Return whether a path is a folder of `make_controls`."""
    return (path / KEY).is_file()


def make_controls(dataset: Path, out: Path, *, split: str | None = None, seed: int = 0) -> dict[str, int]:
    """Write pairs of a true caption and a worse one as a table for a judge, and the key to it.

    Worse are a foil, a degraded caption, that of another video, the caption doubled or cut in half, and an empty one.
    A text that occurs in several pairs is judged once.

    Args:
        dataset: folder of a set of foils, or of a dataset with two human captions a clip.
        out: folder for `CONTROLS` and `KEY`; made if need be.
        split: of the dataset; by default ``test`` or the only one.
        seed: of ids and order.

    Returns:
        Test -> number of pairs.

    Raises:
        VttdataError: if the dataset has nothing to pair, or a file cannot be written.
    """
    pairs = [pair for found in read_stress_set(dataset, split=split) for pair in _pairs_of(found)]
    emptied = {(pair.video_id, pair.true): pair._replace(test=EMPTY, worse="") for pair in pairs}
    pairs += emptied.values()
    texts = list(dict.fromkeys((pair.video_id, text) for pair in pairs for text in (pair.true, pair.worse)))
    random.Random(f"controls {seed}").shuffle(texts)
    width = len(str(len(texts)))
    ids = {text: f"c{number:0{width}d}" for number, text in enumerate(texts, 1)}
    shown = [["item", "video_id", "caption"], *([ids[key], *key] for key in texts)]
    key = [["test", "video_id", "source", "true", "worse"]]
    for pair in pairs:
        video = pair.video_id
        key.append([pair.test, video, pair.source, ids[video, pair.true], ids[video, pair.worse]])
    write_files(out, {CONTROLS: as_csv(shown), KEY: as_csv(key)})
    counts: dict[str, int] = {}
    for pair in pairs:
        counts[pair.test] = counts.get(pair.test, 0) + 1
    return counts


class _Pair(NamedTuple):
    test: str
    video_id: str
    source: str
    true: str
    worse: str


def _pairs_of(found: StressSet) -> list[_Pair]:
    columns = (found.tests, found.texts, found.videos, found.sources)
    return [
        _Pair(test, videos[0].video_id, f"{found.name} {source}", " ".join(true), " ".join(worse))
        for test, (true, worse), videos, source in zip(*columns, strict=True)
    ]


def read_key(folder: Path) -> ControlKey:
    """Read the key of a folder of controls.

    Raises:
        VttdataError: if it cannot be read.
    """
    file = folder / KEY
    names = ("test", "video_id", "source", "true", "worse")
    rows = [
        [unescape_formula(required_text(file, line, row, name)) for name in names]
        for line, row in read_table(file, Columns(names, [[name] for name in names]))
    ]
    if not rows:
        raise VttdataError(f"{file}: contains no pairs.")
    tests, videos, sources, true, worse = zip(*rows, strict=True)
    return ControlKey(file, tests, true, worse, number_sources(sources, videos)[0])


def count_control_wins(
    key: ControlKey, scores: Mapping[str, float], *, seed: int = 0, draws: int = METRIC_DRAWS
) -> dict[str, StressResult]:
    """Count how often a judge scores the true caption of a pair above the other one.

    Args:
        key: of the controls.
        scores: id of a control -> score.
        seed: of the draws of videos.
        draws: number of draws.

    Returns:
        Test -> result over the pairs of which both texts were judged.

    Raises:
        VttdataError: if no pair was judged.
    """
    judged = [row for row, pair in enumerate(zip(key.true, key.worse, strict=True)) if all(i in scores for i in pair)]
    if not judged:
        raise VttdataError(f"{key.file}: no pair of these controls has verdicts; the first is {key.true[0]}.")
    rows = np.array(judged)
    true, worse = (np.array([scores[ids[row]] for row in judged]) for ids in (key.true, key.worse))
    _, sources = np.unique(key.sources[rows], return_inverse=True)
    pairs = StressSet(
        key.file.name,
        [key.tests[row] for row in judged],
        [None] * len(judged),
        [],
        [],
        [key.true[row] for row in judged],
        [],
        sources.astype(np.int64),
    )
    return {test: result for (test, _), result in count_wins(pairs, true, worse, seed, draws).items()}
