"""Test a metric without people: it should score a true caption above one that is made worse.

A true caption is compared with its foil, with its degraded form, with the caption of another video, and with itself
doubled or cut in half, all against the same references, to which none of them belongs.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from vttdata.errors import VttdataError
from vttdata.evaluate.items import ClipItems, number_sources, read_clips
from vttdata.evaluate.meta.agreement import METRIC_DRAWS
from vttdata.evaluate.meta.scoring import score_captions
from vttdata.evaluate.metric import CaptioningMetric, VideoSpan
from vttdata.evaluate.report import Estimate
from vttdata.evaluate.tasks.foils import TABLES, read_foil_pairs
from vttdata.export.reader import DatasetReader
from vttdata.generate import Donors, degrade_captions
from vttdata.generate.degrade.donors import hash64
from vttdata.records import Caption
from vttdata.statistics.arrays import Floats, Integers
from vttdata.statistics.bootstrap import resample_scores
from vttdata.statistics.scores import ColumnScores, ScoredRows
from vttdata.text.word_spans import find_words

DOUBLED, CUT, OTHER, DEGRADED = "doubled", "cut in half", "of another video", "degraded"

# Upper limits of the shares of words that degrading replaced.
_SHARES = (0.2, 0.3, 0.4, 0.5, 1.0)
# A caption of fewer words cannot be cut in half.
_LEAST_WORDS = 4
# Scores that add up in another order differ in the last bits, and are ties.
_ROUNDING = 1e-14


@dataclass(frozen=True, slots=True)
class StressResult:
    """How often a metric scores the true caption of a pair above the other one.

    Fields:
        above: share of pairs in which it does, with its interval over videos.
        ties: share of pairs with equal scores.
        below: share of pairs in which the other caption has the higher score.
    """

    above: Estimate
    ties: float
    below: float


@dataclass(frozen=True, slots=True, eq=False)
class StressSet:
    """Pairs of texts, of which the first should have the higher score; a text is one caption or several.

    Fields:
        name: of the set.
        tests: name of each pair's test, such as ``degraded``.
        groups: part of the test, such as a supercategory; None for none.
        texts: captions of both texts of each pair.
        references: of each caption of both texts.
        items: item of each pair, to which its references belong.
        videos: what each caption of a text is about.
        sources: number of each pair's video.
        notes: sentences on what was left out.
    """

    name: str
    tests: Sequence[str]
    groups: Sequence[str | None]
    texts: Sequence[tuple[Sequence[str], Sequence[str]]]
    references: Sequence[Sequence[Sequence[str]]]
    items: Sequence[str]
    videos: Sequence[Sequence[VideoSpan]]
    sources: Integers
    notes: tuple[str, ...] = ()


def read_stress_set(folder: Path, *, split: str | None = None) -> list[StressSet]:
    """Read the pairs of a set of foils, or make pairs of the captions of a dataset.

    Of every clip one caption is compared: one that the dataset degraded, if it has degraded captions; otherwise it is
    degraded here. Its references are the other human captions of the clip. The split is ``test``, or the only one, if
    omitted.

    Raises:
        VttdataError: if it has no captions, or only one of each clip.
    """
    dataset = DatasetReader(folder)
    tables = [table for table in TABLES if table in dataset.configs]
    return [foil_pairs(folder, table, split) for table in tables] or [alter_captions(folder, dataset, split)]


def foil_pairs(folder: Path, table: str, split: str | None) -> StressSet:
    """Return the pairs of a table of foils that have references."""
    items = read_foil_pairs(folder, config=table, split=split)
    usable = [row for row, references in enumerate(items.references) if all(references)]
    if not usable:
        raise VttdataError(
            f"{folder}: no pair of '{table}' has references, without which no metric can score its texts."
        )
    lost, videos = len(items.ids) - len(usable), items.videos
    parts = [items.dataset.rpartition("/")[2], *([] if table == TABLES[0] else [table])]
    return StressSet(
        " ".join(parts),
        ["foil"] * len(usable),
        [items.categories[row] for row in usable],
        [(items.truths[row], items.foils[row]) for row in usable],
        [items.references[row] for row in usable],
        [items.ids[row] for row in usable],
        [videos[row] for row in usable],
        number_sources([items.source_ids[items.sources[row]] for row in usable], [items.ids[row] for row in usable])[0],
        (f"Pairs without references, left out: {lost:,}.",) if lost else (),
    )


class Alteration(NamedTuple):
    """Altered form of the caption of a clip: the clip's row, how it was altered, and the group of its results."""

    row: int
    test: str
    text: str
    group: str | None = None


def alter_captions(folder: Path, dataset: DatasetReader, split: str | None) -> StressSet:
    """Return one caption of each clip of a split with its altered forms."""
    clips = read_clips(folder, split=split)
    degraded = read_degraded(dataset, clips)
    chosen: dict[int, int] = {}
    for row, sen_ids in enumerate(clips.sen_ids):
        index_of = {hash64("stress", clips.ids[row], sen_id): index for index, sen_id in enumerate(sen_ids)}
        usable = [point for point, index in index_of.items() if (clips.ids[row], sen_ids[index]) in degraded]
        if usable and len(sen_ids) > 1:
            chosen[row] = index_of[min(usable)]
    if not chosen:
        raise VttdataError(
            f"{folder}: no clip of '{clips.split}' has two human captions, so none can be compared with altered ones."
        )
    true = {row: clips.references[row][index] for row, index in chosen.items()}
    others = {
        row: [text for k, text in enumerate(clips.references[row]) if k != index] for row, index in chosen.items()
    }
    altered: list[Alteration] = []
    for number, (row, text) in enumerate(true.items()):
        worse, group = degraded[clips.ids[row], clips.sen_ids[row][chosen[row]]]
        altered.append(Alteration(row, DEGRADED, worse, group))
        # The next clip of another source lends its caption.
        later = itertools.islice(itertools.cycle(true), number + 1, number + len(true))
        lender = next((other for other in later if clips.sources[other] != clips.sources[row]), None)
        if lender is not None:
            altered.append(Alteration(row, OTHER, true[lender]))
        altered.append(Alteration(row, DOUBLED, f"{text} {text}"))
        words = find_words(text)
        if len(words) >= _LEAST_WORDS:
            altered.append(Alteration(row, CUT, " ".join(text[: words[len(words) // 2 - 1][1]].split())))
    rows = [alteration.row for alteration in altered]
    ids = [clips.ids[row] for row in rows]
    shown = clips.videos
    lost = len(clips.ids) - len(true)
    return StressSet(
        dataset.name.rpartition("/")[2],
        [alteration.test for alteration in altered],
        [alteration.group for alteration in altered],
        [([true[alteration.row]], [alteration.text]) for alteration in altered],
        [[others[row]] for row in rows],
        ids,
        [[shown[row]] for row in rows],
        number_sources([clips.source_ids[clips.sources[row]] for row in rows], ids)[0],
        (f"Clips without two captions, one of which can be degraded, left out: {lost:,}.",) if lost else (),
    )


def read_degraded(dataset: DatasetReader, clips: ClipItems) -> dict[tuple[str, int], tuple[str, str]]:
    """Return the degraded form of captions and the group of its share of words; degraded here if there are none."""
    if "degraded" not in dataset.configs or clips.split not in dataset.splits("degraded"):
        return degrade_clips(clips)
    columns = ["video_id", "sen_id", "caption", "words", "original"]
    return {
        (row["video_id"], row["sen_id"]): (row["caption"], name_share(row["words"], row["original"]))
        for row in dataset.rows("degraded", clips.split, columns)
        if row["caption"] is not None
    }


def degrade_clips(clips: ClipItems) -> dict[tuple[str, int], tuple[str, str]]:
    """Degrade all captions of clips with words of each other; those that cannot be degraded are left out."""
    captions = [
        Caption(video_id, number, text)
        for video_id, numbers, written in zip(clips.ids, clips.sen_ids, clips.references, strict=True)
        for number, text in zip(numbers, written, strict=True)
    ]
    sources = {video_id: str(source) for video_id, source in zip(clips.ids, clips.sources, strict=True)}
    donors = Donors(captions, sources)
    results = degrade_captions(captions, donors)
    return {
        (result.video_id, result.sen_id): (result.caption, name_share(result.words or 0, result.original))
        for result in results
        if result.caption is not None
    }


def name_share(words: int, original: str) -> str:
    """Return the range into which a number of words falls as a share of a caption's words."""
    share = words / max(len(find_words(original)), 1)
    upper = next(index for index, limit in enumerate(_SHARES) if share <= limit)
    return f"{_SHARES[upper - 1] if upper else 0:.0%} to {_SHARES[upper]:.0%} of words"


def stress(
    stress_set: StressSet, metric: CaptioningMetric, *, seed: int = 0, draws: int = METRIC_DRAWS
) -> dict[str, dict[tuple[str, str | None], StressResult]]:
    """Score both texts of each pair, several captions by their mean, and count how often the first is above.

    Intervals are over `draws` of videos.

    Returns:
        Column of the metric -> test and its part, None for the whole test -> result.
    """
    captions: list[str] = []
    references: list[Sequence[str]] = []
    items: list[str] = []
    videos: list[VideoSpan] = []
    lengths = []
    columns = (stress_set.items, stress_set.texts, stress_set.references, stress_set.videos)
    for item, pair, written, shown in zip(*columns, strict=True):
        for text in pair:
            lengths.append(len(text))
            videos += shown
            captions += text
            references += written
            # Each caption of a paragraph has references of its own.
            items += [f"{item}\0{index}" if len(text) > 1 else item for index in range(len(text))]
    starts = np.cumsum([0, *lengths[:-1]])
    results = {}
    for column, scores in score_captions(metric, captions, references, items, videos).items():
        means = np.add.reduceat(scores.items, starts) / lengths
        results[column] = count_wins(stress_set, means[0::2], means[1::2], seed, draws)
    return results


def count_wins(
    stress_set: StressSet, true: Floats, worse: Floats, seed: int, draws: int
) -> dict[tuple[str, str | None], StressResult]:
    """Count for each test and part how often the first score of a pair is above the second."""
    ties = np.isclose(true, worse, rtol=_ROUNDING, atol=0)
    above = ColumnScores.from_means(((true > worse) & ~ties).astype(np.float64))
    tests, groups = (np.array(names, dtype=object) for names in (stress_set.tests, stress_set.groups))
    parts: list[tuple[str, str | None]] = [(test, None) for test in dict.fromkeys(stress_set.tests)]
    parts += sorted({(t, g) for t, g in zip(stress_set.tests, stress_set.groups, strict=True) if g is not None})
    rows = {
        (test, group): (tests == test) & (True if group is None else groups == group)
        for test, group in sorted(parts, key=lambda part: (stress_set.tests.index(part[0]), part[1] or ""))
    }
    selections: Mapping[tuple[str, str | None], ScoredRows] = {
        part: ScoredRows.of_rows(above, stress_set.sources, chosen) for part, chosen in rows.items()
    }
    number = int(stress_set.sources.max(initial=-1)) + 1
    resampled = resample_scores(selections, number, seed=seed, draws=draws)
    results = {}
    for part, chosen in rows.items():
        tied = float(ties[chosen].mean())
        share = Estimate.of(resampled[part])
        results[part] = StressResult(share, tied, max(0.0, 1 - share.score - tied))
    return results
