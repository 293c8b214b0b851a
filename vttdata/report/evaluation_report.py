"""Write an evaluation as a page: scores with intervals, apart for leaks, by group, and the best and worst items."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from vttdata.evaluate.conventions import PRINTED, Printed
from vttdata.evaluate.report import Evaluation
from vttdata.report.page import PageSection, Tile, format_number, render_page
from vttdata.report.page_pictures import read_clip_stills, select_stills
from vttdata.report.sections import Example, render_examples, render_sections

_ITEMS_SHOWN, _TEXTS_SHOWN, _TILES = 8, 5, 5


def evaluation_page(evaluation: Evaluation, folder: Path, videos: Sequence[Path] = ()) -> str:
    """Return the page of an evaluation; frames of items come from the dataset in a folder, or folders of videos."""
    counts = evaluation.items
    return render_page(
        f"{evaluation.dataset} {evaluation.version}",
        [*render_sections(evaluation.sections()), *_show_items(evaluation, folder, videos)],
        kicker="Evaluation",
        lead=f"{evaluation.task} on {evaluation.config}/{evaluation.split}",
        tiles=[
            Tile(f"{counts.scored:,}", "items scored", f"of {counts.expected:,}"),
            *_score_tiles(evaluation),
        ],
    )


def _show_items(evaluation: Evaluation, folder: Path, videos: Sequence[Path]) -> list[PageSection]:
    """Return the sections with the best and the worst items of the first metric whose rows are items."""
    name = next((name for name, column in evaluation.columns.items() if column.queries is None), None)
    if name is None:
        return []
    column = evaluation.columns[name]
    values = np.asarray(column.scores.items, dtype=float)
    order = [row for row in np.argsort(values, kind="stable").tolist() if math.isfinite(values[row])]
    order = order if column.lower_is_better else order[::-1]
    number = min(_ITEMS_SHOWN, len(order) // 2 or len(order))
    best, worst = order[:number], order[-number:][::-1]
    ids = {row: evaluation.item_set.ids[int(column.items[row])] for row in (*best, *worst)}
    texts = {name: evaluation.item_set.texts_of(int(column.items[row])) for row, name in ids.items()}
    stills = read_clip_stills(folder, (texts[item][0] for item in ids.values()), videos)
    sections = []
    for key, title, rows in (("best", "Best items", best), ("worst", "Worst items", worst)):
        examples = []
        for row in rows:
            clip, references = texts[ids[row]]
            predicted = evaluation.texts[int(column.items[row])] if evaluation.texts else ()
            examples.append(
                Example(
                    f"{ids[row]}: {format_number(round(values[row], 4))}",
                    strong=predicted[:_TEXTS_SHOWN],
                    stills=select_stills(stills, clip),
                    listed=references[:_TEXTS_SHOWN],
                )
            )
        if examples:
            sections.append(PageSection(key, title, render_examples(examples), note=f"By {name}."))
    return sections


def _score_tiles(evaluation: Evaluation) -> Iterator[Tile]:
    """Yield tiles of the scores that papers print, the headline of the task first; of others without any."""
    names = [name for name in PRINTED if name in evaluation.scores] or [*evaluation.scores]
    for name in names[:_TILES]:
        scores = evaluation.scores[name]
        score, printed = scores.all, PRINTED.get(name, Printed("", name, 1 if scores.lower_is_better else 100))
        ends = f"{printed.format(score.low)} to {printed.format(score.high)}" if math.isfinite(score.low) else ""
        yield Tile(printed.format(score.score), f"{printed.name} {printed.subject}".strip(), ends)
