"""Captioning: a text for each clip, scored against the human captions of the clip by captioning metrics."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from vttdata.errors import VttdataError
from vttdata.evaluate.columns import ScoreColumn
from vttdata.evaluate.items import ClipItems, read_clips
from vttdata.evaluate.java_scores import JavaError
from vttdata.evaluate.metrics import DEFAULT_METRICS
from vttdata.evaluate.predictions import (
    Matched,
    describe_caption_column,
    match_predictions,
    read_captions,
)
from vttdata.evaluate.task import ExportedTask, Scored, Scoring
from vttdata.json_types import JsonObject
from vttdata.statistics.scores import ColumnScores
from vttdata.text.damage import find_text_damage
from vttdata.text.generated import find_prompt, strip_generated

# What programs write where there is no text.
_NO_CAPTION = frozenset({"nan", "none", "null", "n/a", "<na>", "undefined"})


class CaptioningTask(ExportedTask[ClipItems]):
    """Captions of clips."""

    default_metrics: Sequence[str] = DEFAULT_METRICS
    options: Collection[str] = ("train_split", "human", "strip")
    columns: Sequence[str] = ("video_id", "caption")
    headline = "cider-d"
    solves_items = False
    observed_as = "retrieval"
    sample_column = "rouge-l"

    def read_items(self, dataset: Path, *, config: str, split: str | None) -> ClipItems:
        """Read the clips of a split; see `read_clips`."""
        return read_clips(dataset, config=config, split=split)

    def read_predictions(self, path: Path, scoring: Scoring[ClipItems]) -> Matched:
        """Read captions; see `read_captions`."""
        items = scoring.items
        matched = match_predictions(
            str(path), read_captions(path, scoring.columns), items.ids, scoring.rule, other_split=items.other_split
        )
        notes = describe_caption_column(path, scoring.columns)
        if scoring.strip:
            stripped = strip_captions(matched.values)
            changed = sum(text != left for text, left in zip(matched.values, stripped, strict=True))
            matched = matched._replace(values=stripped)
            notes.append(f"Captions that were stripped of reasoning, special tokens or a prompt: {changed:,}.")
        return matched._replace(notes=notes)

    def score(self, predictions: Matched, scoring: Scoring[ClipItems]) -> Scored:
        """Score captions by the metrics; a missing one is scored as an empty text.

        Raises:
            VttdataError: if no metric can be computed.
        """
        items = scoring.items
        texts = [caption or "" for caption in predictions.values]
        every = np.arange(len(texts))
        columns: dict[str, ScoreColumn] = {}
        failed: dict[str, str] = {}
        for metric in scoring.metrics:
            try:
                scores = metric.score_videos(texts, items.references, items.videos)
            except JavaError as error:
                failed[metric.name] = str(error)
            else:
                columns |= {name: ScoreColumn(values, every) for name, values in scores.items()}
        if not columns:
            raise VttdataError(" ".join(failed.values()))
        findings = [*predictions.notes, *find_caption_problems(predictions.values, items)]
        for metric in scoring.metrics:
            findings += metric.describe(items.references) if metric.name not in failed else []
        settings = {"strip": "yes"} if scoring.strip else {}
        shown = [[text] if text else [] for text in texts]
        return Scored(columns, predictions.counts, findings, texts, failed, settings, texts=shown)

    def score_human_ceiling(self, scored: Scored, scoring: Scoring[ClipItems]) -> dict[tuple[str, str], ScoreColumn]:
        """Score human captions against the other captions of their clips, and the system against as many references.

        The human captions of each rank are left out in turn; statistics are averaged, so that both have the same number
        of references.
        """
        items = scoring.items
        if min(map(len, items.references), default=0) < 2:
            raise VttdataError("A clip has only one human caption, so human captions cannot be scored against others.")
        scores: dict[tuple[str, str], list[ColumnScores]] = {}
        # All metrics score the same captions one after the other, so that those which index texts share an index.
        by_metric = [
            metric.score_left_out(scored.captions, items.references, items.videos)
            for metric in scoring.metrics
            if metric.name not in scored.failed
        ]
        for who, columns in chain.from_iterable(zip(*by_metric, strict=True)):
            for name, column in columns.items():
                scores.setdefault((who, name), []).append(column)
        every = np.arange(len(items.ids))
        return {key: ScoreColumn(ColumnScores.average(columns), every) for key, columns in scores.items()}

    def exported_items(self, about: JsonObject, documents: Sequence[JsonObject]) -> ClipItems:
        """Return exported clips as items."""
        return ClipItems(**about, references=[document["captions"] for document in documents])

    def log_answer(self, document: JsonObject, answer: str) -> dict[str, str]:  # noqa: ARG002
        """Return the answer as a caption."""
        return {"caption": answer}

    def read_logged(self, items: ClipItems, logged: Sequence[Mapping[str, str]]) -> list[Any]:  # noqa: ARG002
        """Return the captions."""
        return [row["caption"] for row in logged]


def strip_captions(captions: Sequence[str | None]) -> list[str | None]:
    """Return captions without reasoning, special tokens and a prompt that all repeat; None where there is none."""
    stripped = [None if caption is None else strip_generated(caption) for caption in captions]
    prompt = find_prompt([caption for caption in stripped if caption])
    return [caption and caption.removeprefix(prompt).strip() for caption in stripped]


def find_caption_problems(captions: Sequence[str | None], items: ClipItems) -> list[str]:
    """Return what is odd about captions: empty, all the same, damaged, not only captions, or copied from references."""
    present = [caption for caption in captions if caption is not None]
    empty = sum(not caption.strip() for caption in present)
    copied = sum(
        caption is not None and caption in references
        for caption, references in zip(captions, items.references, strict=True)
    )
    findings = [f"Captions that are empty: {empty:,}."] if empty else []
    if len(present) > 1 and len(set(present)) == 1:
        findings.append(f"All {len(present):,} captions are the same: {present[0][:80]!a}.")
    damaged = [caption for caption in present if find_text_damage(caption) is not None]
    if damaged:
        findings.append(
            f"Captions with damaged characters, read in another encoding or lost (U+FFFD): {len(damaged):,}, such as "
            f"{damaged[0][:80]!r}."
        )
    marked = [caption for caption in present if strip_generated(caption) != caption.strip()]
    prompt = find_prompt([stripped for caption in present if (stripped := strip_generated(caption))])
    if marked:
        findings.append(
            "Captions with reasoning or special tokens, whose words are scored unless --strip leaves them out: "
            f"{len(marked):,}, such as {marked[0][:80]!a}."
        )
    if prompt:
        findings.append(
            f"All captions begin with {prompt[:80]!a}; if that is the prompt, --strip leaves it out of the scores."
        )
    placeholders = [caption for caption in present if caption.strip().casefold() in _NO_CAPTION]
    if placeholders:
        findings.append(
            f"Captions that are a word for a missing value, such as {placeholders[0].strip()!a}: {len(placeholders):,}."
        )
    if copied:
        share = copied / len(captions)
        findings.append(f"Captions that are word for word a reference of their clip: {copied:,} ({share:.1%}).")
    return findings


TASK = CaptioningTask()
