"""Score every caption of a table of judgments by a metric, or read the scores that anybody's metric gave them.

Scores are kept by content, so that a second comparison does not compute them again.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from vttdata.errors import VttdataError
from vttdata.evaluate.meta.judgments import JudgmentTable
from vttdata.evaluate.metric import CaptioningMetric, VideoMetric, VideoSpan
from vttdata.evaluate.score_cache import keep_arrays, read_arrays
from vttdata.files.csv_safety import unescape_formula
from vttdata.files.tables import Columns, read_number, read_table
from vttdata.ids import find_video_id
from vttdata.statistics.arrays import Floats
from vttdata.statistics.scores import ColumnScores, mean_of_sums

# Raised when captions are put together for a metric in another way.
_FORMAT = 1

ScoreKey = tuple[str, str, str]
"""(system, video_id, caption) of a score; the caption is empty where a system has one caption of a video."""
ScoreFile = Mapping[ScoreKey, float]


def score_captions(
    metric: CaptioningMetric,
    candidates: Sequence[str],
    references: Sequence[Sequence[str]],
    item_ids: Sequence[str] | None = None,
    videos: Sequence[VideoSpan] | None = None,
) -> dict[str, ColumnScores]:
    """Score captions, of which several may be about one item.

    Metrics whose scores depend on all items, such as CIDEr-D, are given every item once: captions are scored in passes
    over all items, one caption of each at a time, as systems are in an evaluation. A score is thus the same however
    many captions of an item were judged.

    Args:
        metric: the metric; results are kept in its folder `cache` by its signature and all texts.
        candidates: captions, n.
        references: human captions of the same item, n.
        item_ids: item of each caption, n; by default items are told apart by their references.
        videos: what each item shows, n, for metrics that watch videos; by default `item_ids` are whole videos.

    Returns:
        Column -> scores of the n captions.

    Raises:
        VttdataError: as `CaptioningMetric.score`.
    """
    ids = list(item_ids) if item_ids is not None else [json.dumps(list(texts)) for texts in references]
    spans = list(videos) if videos is not None else list(map(VideoSpan, ids))
    # What videos show is not told by texts; metrics that watch them keep features by content themselves.
    cache = None if isinstance(metric, VideoMetric) else metric.cache
    content = json.dumps([_FORMAT, metric.signature(), list(candidates), [list(r) for r in references], ids])
    name = f"scores-{hashlib.sha256(content.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"
    kept = read_arrays(cache, name, lambda arrays: _decode(metric, arrays, (candidates[:1], references[:1])))
    if kept is not None:
        return kept
    if metric.depends_on_items:
        scores = score_in_passes(metric, candidates, references, ids, spans)
    else:
        scores = metric.score_videos(candidates, references, spans)
    arrays = {f"items-{column}": values.items for column, values in scores.items()}
    others = {column: values.statistics for column, values in scores.items() if values.formula is not mean_of_sums}
    keep_arrays(cache, name, arrays | {f"statistics-{column}": values for column, values in others.items()})
    return scores


def _decode(
    metric: CaptioningMetric, arrays: Mapping[str, Floats], example: tuple[Sequence[str], Sequence[Sequence[str]]]
) -> dict[str, ColumnScores]:
    """Return the scores that were kept; formulas other than means belong to the metric, which scores an example."""
    is_mean = {column: f"statistics-{column}" not in arrays for column in metric.columns}
    formulas = {} if all(is_mean.values()) else metric.score(*example)
    return {
        column: ColumnScores.from_means(arrays[f"items-{column}"])
        if is_mean[column]
        else ColumnScores(arrays[f"items-{column}"], arrays[f"statistics-{column}"], formulas[column].formula)
        for column in metric.columns
    }


def score_in_passes(
    metric: CaptioningMetric,
    candidates: Sequence[str],
    references: Sequence[Sequence[str]],
    ids: Sequence[str],
    spans: Sequence[VideoSpan],
) -> dict[str, ColumnScores]:
    """Score one caption of each item at a time; items that have no more captions get an empty one, which is dropped."""
    number = {item: index for index, item in enumerate(dict.fromkeys(ids))}
    shown = dict(zip(reversed(ids), reversed(spans), strict=True))
    videos = [shown[item] for item in number]
    common: list[Sequence[str]] = [()] * len(number)
    for item, texts in zip(ids, references, strict=True):
        # The fullest list is that of captions which are no references themselves.
        if len(texts) > len(common[number[item]]):
            common[number[item]] = texts
    passes: list[dict[int, int]] = []
    used: defaultdict[tuple[int, bool], int] = defaultdict(int)
    special: list[dict[int, int]] = []
    for row, (item, texts) in enumerate(zip(ids, references, strict=True)):
        index = number[item]
        is_common = list(texts) == list(common[index])
        layers = passes if is_common else special
        depth = used[index, is_common]
        used[index, is_common] += 1
        if depth == len(layers):
            layers.append({})
        layers[depth][index] = row
    items: dict[str, Floats] = {}
    statistics: dict[str, Floats] = {}
    formulas = {}
    for layer in (*passes, *special):
        lists = list(common)
        for index, row in layer.items():
            lists[index] = references[row]
        captions = [candidates[layer[index]] if index in layer else "" for index in range(len(number))]
        positions, rows = np.array(list(layer)), np.array(list(layer.values()))
        for column, scores in metric.score_videos(captions, lists, videos).items():
            if column not in items:
                items[column] = np.full(len(ids), math.nan)
                statistics[column] = np.full((len(ids), scores.statistics.shape[1]), math.nan)
            items[column][rows] = scores.items[positions]
            statistics[column][rows] = scores.statistics[positions]
            formulas[column] = scores.formula
    return {column: ColumnScores(items[column], statistics[column], formulas[column]) for column in items}


def score_table(metric: CaptioningMetric, table: JudgmentTable) -> dict[str, ColumnScores]:
    """Score the captions of a table of judgments, judged or not, by a metric; see `score_captions`.

    Returns:
        Column -> scores of its n rows.

    Raises:
        VttdataError: if captions or references are not known, or as `CaptioningMetric.score`.
    """
    unknown = sum(candidate is None for candidate in table.candidates)
    if unknown:
        raise VttdataError(
            f"{table.name}: the texts of {unknown:,} captions are not known, so that no metric can score them; add a "
            "column 'candidate', or name a table of captions with --candidates."
        )
    bare = sum(not texts for texts in table.references)
    if bare and not isinstance(metric, VideoMetric):
        raise VttdataError(
            f"{table.name}: {bare:,} captions have no references, so that no metric can score them; add a column "
            "'references', or name a dataset or a table of captions with --references."
        )
    return score_captions(metric, [text or "" for text in table.candidates], table.references, table.video_ids)


def read_scores(file: Path, columns: Mapping[str, str] = {}) -> dict[ScoreKey, float]:
    """Read a metric's scores: a table with ``video_id``, ``score``, and ``system`` or ``candidate`` or both.

    `columns` are names -> what they are called in one of several tables.

    Raises:
        VttdataError: if it cannot be read, a score is empty or not a finite number, or a caption is duplicated.
    """
    ids, texts = ("video_id", "item", "image_id"), ("candidate", "caption")
    scores: dict[ScoreKey, float] = {}
    names = (*ids, "system", *texts, "score")
    for line, row in read_table(file, Columns(names, [ids, ("score",)], ("score",), columns, any_table=True)):
        cells = [
            next((row[name] for name in names if row.get(name) is not None), "") for names in (("system",), ids, texts)
        ]
        system, video_id, caption = (unescape_formula(str(cell)) for cell in cells)
        # Where there is a system, it names the caption.
        key = (system, video_id, "" if system else caption)
        if key in scores:
            what = f"the caption of {video_id[:80]!a}" + (f" by {system[:80]!a}" if system else "")
            raise VttdataError(f"{file}:{line}: {what} is duplicated.")
        scores[key] = read_number(file, line, "score", row.get("score"))
    if not scores:
        raise VttdataError(f"{file}: contains no scores.")
    return scores


def look_up_scores(name: str, scores: ScoreFile, table: JudgmentTable) -> tuple[ColumnScores, set[ScoreKey]]:
    """Return the scores of a table's rows, NaN where the file has none, and the keys of those of judged captions.

    A score belongs to a row by its system, else by its text; one that has neither belongs to the only caption of an
    item. An item may also be named by the file of its video, see `find_video_id`.

    Raises:
        VttdataError: if a caption has two scores, under two names of its item; `name` is that of the file.
    """
    captions = Counter(table.video_ids)
    named: dict[ScoreKey, ScoreKey] = {}
    for key in scores:
        item = find_video_id(key[1], captions)
        if item is not None and (other := named.setdefault((key[0], item, key[2]), key)) != key:
            raise VttdataError(
                f"{name}: {other[1][:80]!a} and {key[1][:80]!a} are one item, and its caption has two scores."
            )
    values, used = [], set[ScoreKey]()
    rows = zip(table.systems, table.video_ids, table.candidates, table.judged.tolist(), strict=True)
    for system, video_id, candidate, judged in rows:
        keys = [(system, video_id, "")] if system else []
        keys += [("", video_id, candidate)] if candidate else []
        keys += [("", video_id, "")] if captions[video_id] == 1 else []
        found = next((named[key] for key in keys if key in named), None)
        values.append(math.nan if found is None else scores[found])
        if found is not None and judged:
            used.add(found)
    return ColumnScores.from_means(np.array(values, dtype=np.float64)), used
