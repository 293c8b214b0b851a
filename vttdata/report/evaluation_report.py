"""Write an evaluation as a page: scores with intervals, apart for leaks, by group, and the best and worst items."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from markupsafe import Markup

from vttdata.evaluate.report import Estimate, Evaluation
from vttdata.evaluate.task import load_evaluation_task
from vttdata.report import plots
from vttdata.report.page import PageSection, Tile, format_number, render_page, render_table, render_text
from vttdata.report.page_pictures import read_clip_stills

_ITEMS = """{% import "macros.html" as macros %}
{% for item in items %}<h3 dir="auto">{{ item.id }}: {{ item.value }}</h3>
{% if item.still %}<div class="thumbs">{{ macros.thumb(item.still, item.id) }}</div>{% endif %}
{% if item.prediction is not none %}<p dir="auto"><strong>{{ item.prediction }}</strong></p>{% endif %}
<ul>{% for text in item.texts %}<li dir="auto">{{ text }}</li>{% endfor %}</ul>{% endfor %}"""
_ITEMS_SHOWN, _TEXTS_SHOWN = 8, 5


def evaluation_page(evaluation: Evaluation, folder: Path, predictions: Path | None = None) -> str:
    """Return the page of an evaluation; texts and frames of items come from the folder of the dataset.

    The texts of predictions, the file of captions that was scored, are shown beside the references.
    """
    sections = [PageSection("scores", "Scores", _format_scores(evaluation), note="With 95 % intervals over sources.")]
    for kind, groups in evaluation.groups.items():
        names = list(next(iter(groups.values()), {}))
        rows = [(group, *(_plain(scores[name].score) for name in names)) for group, scores in groups.items()]
        table = render_table((kind, *names), rows, f"Scores by {kind}", names)
        sections.append(PageSection(f"by-{kind}", f"By {kind}", table))
    if evaluation.against:
        rows = [
            (name, *map(_plain, (row.difference, row.low, row.high, row.p, row.p_holm)))
            for name, row in evaluation.against.items()
        ]
        columns = ("metric", "difference", "low", "high", "p", "p (Holm)")
        table = render_table(columns, rows, "This system minus the other one", columns[1:])
        sections.append(PageSection("against", "Against the other system", table))
    sections += _format_items(evaluation, folder, predictions)
    counts = evaluation.items
    notes = [*(f"{name} is unavailable: {reason}" for name, reason in evaluation.unavailable.items())]
    return render_page(
        f"{evaluation.dataset} {evaluation.version}",
        sections,
        kicker="Evaluation",
        lead=f"{evaluation.task} on {evaluation.config}/{evaluation.split}",
        tiles=[
            Tile(f"{counts.scored:,}", "items scored", f"of {counts.expected:,}"),
            *(
                Tile(format_number(scores.all.score), name, _interval(scores.all))
                for name, scores in [*evaluation.scores.items()][:5]
            ),
        ],
        alerts=[("warn", note) for note in (*notes, *evaluation.findings)],
        footer=f"Signature: {evaluation.signature}",
    )


def _format_scores(evaluation: Evaluation) -> Markup:
    """Return a plot for each metric: all items, those that leak and those that do not, people, blind attackers."""
    blind, parts = evaluation.blind, []
    for name, scores in evaluation.scores.items():
        rows = {"all items": scores.all, "clean": scores.clean, "leaked": scores.leaked}
        rows |= {kind.replace("_", "-"): score for kind, score in scores.by_leak.items()}
        rows |= {f"{who}, one reference fewer": score for who, score in evaluation.human.get(name, {}).items()}
        bars = [
            plots.Bar(
                label, score.score, _plain(score.low), _plain(score.high), tone="bad" if label == "leaked" else "a"
            )
            for label, score in rows.items()
            if score is not None and math.isfinite(score.score)
        ]
        limits = [plots.Limit(blind["accuracy"], f"blind {blind['attacker']}")] if blind else []
        better = ", lower is better" if scores.lower_is_better else ""
        if bars:
            parts.append(plots.bars(bars, caption=f"{name}{better}", columns=("items", "score"), limits=limits))
    return Markup().join(parts)


def _format_items(evaluation: Evaluation, folder: Path, predictions: Path | None) -> list[PageSection]:
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
    task = load_evaluation_task(evaluation.task)
    texts = {name: evaluation.item_set.texts_of(int(column.items[row])) for row, name in ids.items()}
    predicted = task.predicted_texts(predictions) if predictions is not None else ()
    captions = {key: text for key, text in predicted if key in texts}
    stills = read_clip_stills(folder, (texts[item][0] for item in ids.values() if item in texts))
    sections = []
    for key, title, rows in (("best", "Best items", best), ("worst", "Worst items", worst)):
        items = [
            {
                "id": ids[row],
                "value": format_number(values[row]),
                "still": stills.get(texts.get(ids[row], ("", []))[0], ""),
                "prediction": captions.get(ids[row]),
                "texts": texts.get(ids[row], ("", []))[1][:_TEXTS_SHOWN],
            }
            for row in rows
        ]
        if items:
            sections.append(PageSection(key, title, render_text(_ITEMS, items=items), note=f"By {name}."))
    return sections


def _interval(score: Estimate) -> str:
    return f"{format_number(score.low)} to {format_number(score.high)}" if math.isfinite(score.low) else ""


def _plain(value: float) -> float | None:
    return value if math.isfinite(value) else None
