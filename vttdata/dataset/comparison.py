"""Figures of several datasets side by side (Table 1 of MSR-VTT, Xu et al., CVPR 2016), and words by part of speech."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from vttdata.dataset.caption_agreement import read_captions_by_clip
from vttdata.dataset.statistics import SplitStatistics
from vttdata.files.results import ResultColumn, ResultTable
from vttdata.json_types import JsonObject
from vttdata.text.nouns.mentions import load_pipeline

if TYPE_CHECKING:
    from spacy.language import Language

PARTS: Mapping[str, frozenset[str]] = {
    "nouns": frozenset({"NOUN", "PROPN"}),
    "verbs": frozenset({"VERB"}),
    "adjectives": frozenset({"ADJ"}),
    "adverbs": frozenset({"ADV"}),
}
"""Part of speech -> its tags of Universal Dependencies; auxiliaries are no verbs here."""

_FIGURES = ("sources", "clips", "hours", "sentences", "words", "vocabulary")


class PartWords(NamedTuple):
    """Words of a part of speech: how many there are, and how many different ones in lower case."""

    words: int
    vocabulary: int


class DatasetFigures(NamedTuple):
    """Dataset, its figures over all splits, and its words by part of speech; none without a pipeline."""

    name: str
    total: SplitStatistics
    parts: Mapping[str, PartWords]


def count_parts_of_speech(texts: Iterable[str], pipeline: Language) -> dict[str, PartWords]:
    """Return the words of each part of speech (`PARTS`) in texts; a pipeline of spaCy tags them."""
    words = dict.fromkeys(PARTS, 0)
    vocabulary: dict[str, set[str]] = {name: set() for name in PARTS}
    part_of = {tag: name for name, tags in PARTS.items() for tag in tags}
    for doc in pipeline.pipe(texts, disable=[name for name in ("parser",) if name in pipeline.pipe_names]):
        for token in doc:
            if (name := part_of.get(token.pos_)) is not None:
                words[name] += 1
                vocabulary[name].add(token.lower_)
    return {name: PartWords(words[name], len(vocabulary[name])) for name in PARTS}


def count_parts_of_dataset(folder: Path, pipeline: str) -> dict[str, PartWords]:
    """Return the words by part of speech of all human captions of a dataset; `pipeline` is a name or a folder.

    Raises:
        VttdataError: if there are no captions, or the pipeline cannot be loaded.
    """
    tagger = load_pipeline(pipeline)
    splits = read_captions_by_clip(folder)
    texts = (
        text
        for clips in splits.values()
        for captions in clips.values()
        for author, text in captions
        if author == "human"
    )
    return count_parts_of_speech(texts, tagger)


def comparison_table(compared: Sequence[DatasetFigures]) -> ResultTable:
    """Return a table with a row for each dataset."""
    parts_shown = PARTS if any(dataset.parts for dataset in compared) else ()
    rows = [
        (
            name,
            *(getattr(total, figure) for figure in _FIGURES),
            *(parts[part].vocabulary if parts else None for part in parts_shown),
        )
        for name, total, parts in compared
    ]
    return ResultTable(("dataset", *(ResultColumn(figure, 2) for figure in _FIGURES), *parts_shown), rows)


def plain_comparison(compared: Sequence[DatasetFigures]) -> JsonObject:
    """Return plain values for JSON: ``datasets``, each with its figures and ``parts``."""
    return {
        "datasets": [
            {
                "dataset": name,
                **{figure: getattr(total, figure) for figure in _FIGURES},
                **({"parts": {part: counts._asdict() for part, counts in parts.items()}} if parts else {}),
            }
            for name, total, parts in compared
        ]
    }
