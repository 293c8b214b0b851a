"""Captioning: a text for each clip, scored against the human captions of the clip by captioning metrics."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from vttdata.errors import VttdataError
from vttdata.evaluate.columns import ScoreColumn
from vttdata.evaluate.items import Items, ItemTexts, read_clip_texts, read_clips
from vttdata.evaluate.java_scores import JavaError
from vttdata.evaluate.metrics import DEFAULT_METRICS
from vttdata.evaluate.predictions import Matched, describe_caption_column, match_predictions, read_captions
from vttdata.evaluate.task import EvaluationTask, Scored, Scoring
from vttdata.text.damage import find_text_damage
from vttdata.text.generated import find_prompt, strip_generated

# What programs write where there is no text.
_NO_CAPTION = frozenset({"nan", "none", "null", "n/a", "<na>", "undefined"})


class CaptioningTask:
    """Captions of clips."""

    default_config = "clips"
    default_metrics: Sequence[str] = DEFAULT_METRICS
    options: Collection[str] = ("train_split", "human", "clean")

    def fits(self, dataset: Path, predictions: Path | None) -> bool:  # noqa: ARG002
        """Return False: tables of captions have no name or place of their own."""
        return False

    def read_items(self, dataset: Path, *, config: str, split: str | None) -> Items:
        """Read the clips of a split; see `read_clips`."""
        return read_clips(dataset, config=config, split=split)

    def read_predictions(self, path: Path, scoring: Scoring) -> Matched:
        """Read captions; see `read_captions`."""
        items = scoring.items
        matched = match_predictions(
            str(path), read_captions(path), items.ids, scoring.rule, other_split=items.other_split
        )
        notes = describe_caption_column(path)
        if scoring.clean:
            cleaned = strip_captions(matched.values)
            changed = sum(text != clean for text, clean in zip(matched.values, cleaned, strict=True))
            matched = matched._replace(values=cleaned)
            notes.append(f"Captions that were cleaned of reasoning, special tokens or a prompt: {changed:,}.")
        return matched._replace(notes=notes)

    def score(self, predictions: Matched, scoring: Scoring) -> Scored:
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
        findings = [*predictions.notes, *describe_captions(predictions.values, items)]
        for metric in scoring.metrics:
            findings += metric.describe(items.references) if metric.name not in failed else []
        settings = {"clean": "yes"} if scoring.clean else {}
        return Scored(columns, predictions.counts, findings, texts, failed, settings)

    def from_baseline(self, name: str, scoring: Scoring) -> Scored:
        """Score the captions of a baseline."""
        return self.score(Matched(scoring.predict(name), scoring.complete), scoring)

    def read_texts(self, dataset: Path, config: str, ids: Collection[str]) -> Mapping[str, ItemTexts]:
        """Return the human captions of clips."""
        return read_clip_texts(dataset, config, ids)

    def predicted_texts(self, path: Path) -> Iterable[tuple[str, str]]:
        """Return the id and the caption of each prediction."""
        return read_captions(path)


def strip_captions(captions: Sequence[str | None]) -> list[str | None]:
    """Return captions without reasoning, special tokens and a prompt that all repeat; None where there is none."""
    stripped = [None if caption is None else strip_generated(caption) for caption in captions]
    prompt = find_prompt([caption for caption in stripped if caption])
    return [caption and caption.removeprefix(prompt).strip() for caption in stripped]


def describe_captions(captions: Sequence[str | None], items: Items) -> list[str]:
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
            "Captions with reasoning or special tokens, whose words are scored unless --clean leaves them out: "
            f"{len(marked):,}, such as {marked[0][:80]!a}."
        )
    if prompt:
        findings.append(
            f"All captions begin with {prompt[:80]!a}; if that is the prompt, --clean leaves it out of the scores."
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


TASK: EvaluationTask = CaptioningTask()
