"""Writes sets of foils as a dataset: pairs of captions, pairs of paragraphs, and a card that says how blind they are.

Which foils there are is decided in `vttdata.generate`; who tries to solve them blind, in `vttdata.assess`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vttdata.dataset.card.rights import credits_text
from vttdata.dataset.card.sections import (
    Tables,
    creation_text,
    details_text,
    escape,
    loading_text,
    structure_text,
    table_text,
)
from vttdata.dataset.columns import columns_of, schema
from vttdata.dataset.describe import write_description
from vttdata.dataset.foils.statistics import SHORTCUTS
from vttdata.dataset.metadata import Metadata
from vttdata.dataset.replace_folder import replace_folder
from vttdata.dataset.shards import SplitFiles, split_key, write_split
from vttdata.errors import VttdataError
from vttdata.generate.foils.blind.accuracy import select_references
from vttdata.generate.foils.blind.shortcuts import Attack, TextPair, attack_rows, attack_sentence
from vttdata.generate.foils.documents import FoilPair

EMSCORE_FILES = (
    "final_right_video_sentences.json",
    "final_foil_video_sentences.json",
    "anet_entities_test_1.json",
    "anet_entities_test_2.json",
)
"""What ActivityNet-FOIL's published scoring script reads: true paragraphs, false ones, times of these, references."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph and, where there is one, that of another annotator; times in seconds, one span a sentence.

    `ids` are those of its captions, and `seconds` is how long the video is.
    """

    video_id: str
    annotator: str
    seconds: float | None
    ids: tuple[str, ...]
    texts: tuple[str, ...]
    spans: tuple[tuple[float, float], ...]
    references: tuple[str, ...] = ()
    reference_spans: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True, slots=True)
class FoilSet:
    """A set of foils and what is to be said of it.

    Fields:
        pairs: in the order of the dataset.
        paragraphs: of which some may have foils; empty where captions stand alone.
        selection, seed, lexicon, scorer: how it was made.
        attacks: configuration -> what blind attackers reached.
        counts: rows of (figure, number) for the card.
    """

    pairs: Sequence[FoilPair]
    selection: str
    seed: int
    lexicon: str
    scorer: str
    paragraphs: Sequence[Paragraph] = ()
    attacks: Mapping[str, Sequence[Attack]] = field(default_factory=dict)
    counts: Sequence[tuple[str, str]] = ()


def write_foils(
    folder: Path, foils: FoilSet, metadata: Metadata, add_files: Callable[[Path], None] | None = None
) -> None:
    """Write a foil dataset and put it in the place of the one that is in `folder`.

    Args:
        folder: becomes the dataset; what is there must be a dataset or empty.
        foils: at least one pair.
        metadata: what the card says besides.
        add_files: is given the folder once its tables are there, to add files of its own to it.

    Raises:
        VttdataError: when there are no pairs, or `folder` holds something else than a dataset.
    """
    if not foils.pairs:
        raise VttdataError("No foil is left, so there is no dataset to write.")
    with replace_folder(folder) as partial:
        tables = _write_tables(partial, foils)
        if foils.paragraphs:
            _write_emscore(partial / "emscore", foils)
        attacks = {config: [attack.as_json() for attack in own] for config, own in foils.attacks.items()}
        (partial / SHORTCUTS).write_text(_json(attacks), encoding="utf-8")
        if add_files is not None:
            add_files(partial)
        limits = [f"`{config}`: {attack_sentence(own)}" for config, own in foils.attacks.items()]
        body = _card(foils, metadata, tables, partial)
        write_description(partial, metadata, tables, body, limitations=limits)


def _write_tables(dataset: Path, foils: FoilSet) -> Tables:
    rows: dict[str, dict[str, list[dict[str, Any]]]] = {"foils": {}, "paragraphs": {}}
    references = {name: found for own, _, _ in changed_paragraphs(foils) for name, found in _references(own)}
    for pair in foils.pairs:
        rows["foils"].setdefault(pair.split or "test", []).append(
            _row(pair, foils, references.get(pair.caption_id, []))
        )
    if foils.paragraphs:
        rows["paragraphs"]["test"] = [_paragraph_row(*both) for both in changed_paragraphs(foils)]
    rows["swaps"] = {split: _swap_rows(own) for split, own in rows["foils"].items()}
    tables: dict[str, list[SplitFiles]] = {}
    for config, splits in rows.items():
        for split in sorted(splits, key=split_key):
            written = write_split(dataset, config, split, schema(columns_of(config), ()), splits[split])
            tables.setdefault(config, []).extend([written] if written else [])
    return tables


def changed_paragraphs(foils: FoilSet) -> list[tuple[Paragraph, list[str], list[int]]]:
    """Each paragraph with a foil, its false sentences, and the places of those that are changed."""
    false = {pair.caption_id: pair.foil for pair in foils.pairs}
    return [
        (
            own,
            [false.get(name, text) for name, text in zip(own.ids, own.texts, strict=True)],
            [place for place, name in enumerate(own.ids) if name in false],
        )
        for own in foils.paragraphs
        if not false.keys().isdisjoint(own.ids)
    ]


def paragraph_pairs(foils: FoilSet) -> list[TextPair]:
    """The paragraphs with a foil as texts, for blind attackers."""
    return [TextPair(" ".join(own.texts), " ".join(false), own.video_id) for own, false, _ in changed_paragraphs(foils)]


def _references(own: Paragraph) -> Iterator[tuple[str, list[str]]]:
    """Of each caption of a paragraph the other annotator's sentences about its time."""
    for name, span in zip(own.ids, own.spans, strict=True):
        yield name, select_references(span, own.reference_spans, own.references) if own.references else []


def _row(pair: FoilPair, foils: FoilSet, references: list[str]) -> dict[str, Any]:
    swap = pair.swap
    own = ("video_id", "caption_id", "caption", "foil", "perplexity", "foil_perplexity")
    changed = ("start", "end", "replacement", "concept", "foil_concept", "supercategory")
    row = {name: getattr(pair, name) for name in own} | {name: getattr(swap, name) for name in changed}
    made = {"selection": foils.selection, "seed": foils.seed, "lexicon": foils.lexicon, "references": references}
    return row | made | {"foil_id": pair.foil_id}


def _paragraph_row(own: Paragraph, false: list[str], changed: list[int]) -> dict[str, Any]:
    row: dict[str, Any] = {"video_id": own.video_id, "annotator": own.annotator}
    row |= {"captions": list(own.texts), "foils": false, "changed": changed}
    row |= {"starts": [start for start, _ in own.spans], "ends": [end for _, end in own.spans]}
    row |= {"references": list(own.references), "reference_starts": [start for start, _ in own.reference_spans]}
    return row | {"reference_ends": [end for _, end in own.reference_spans]}


def _swap_rows(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What the rows of a split swap, the most frequent swap first."""
    names = ("concept", "foil_concept", "supercategory")
    counted = Counter(tuple(row[name] for name in names) for row in rows)
    ranked = sorted(counted.items(), key=lambda own: (-own[1], own[0]))
    return [dict(zip(names, swap, strict=True)) | {"pairs": pairs} for swap, pairs in ranked]


def _write_emscore(folder: Path, foils: FoilSet) -> None:
    """The true and the false paragraphs, and those of both annotators in the shape of ActivityNet-Entities."""
    changed = changed_paragraphs(foils)
    contents = (
        {"results": {own.video_id: _sentences(own.texts, own.spans) for own, _, _ in changed}},
        {"results": {own.video_id: _sentences(false, own.spans) for own, false, _ in changed}},
        {own.video_id: _times(own, own.spans) | {"sentences": list(own.texts)} for own, _, _ in changed},
        {own.video_id: _times(own, own.reference_spans) | {"sentences": list(own.references)} for own, _, _ in changed},
    )
    folder.mkdir()
    for name, content in zip(EMSCORE_FILES, contents, strict=True):
        (folder / name).write_text(_json(content), encoding="utf-8")


def _sentences(texts: Sequence[str], spans: Sequence[tuple[float, float]]) -> list[dict[str, Any]]:
    return [{"sentence": text, "timestamp": list(span)} for text, span in zip(texts, spans, strict=True)]


def _times(own: Paragraph, spans: Sequence[tuple[float, float]]) -> dict[str, Any]:
    return {"duration": own.seconds, "timestamps": [list(span) for span in spans]}


def _json(content: Any) -> str:
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _card(foils: FoilSet, metadata: Metadata, tables: Tables, folder: Path) -> str:
    arrows = Counter((pair.swap.concept, pair.swap.foil_concept) for pair in foils.pairs)
    frequent = [("true", "foil", "pairs"), *((*arrow, f"{n:,}") for arrow, n in arrows.most_common(20))]
    parts = [
        f"# {metadata.name.partition('/')[2]} {metadata.version}",
        escape(metadata.description) or "Pairs of a true text and a foil, made with vttdata.",
        details_text(metadata),
        loading_text(metadata, tables),
        f"Selection `{foils.selection}`, seed {foils.seed}, lexicon {foils.lexicon}; perplexities of "
        f"{escape(foils.scorer)}. A score is right on a pair when that "
        "of the true text is strictly higher; ties are counted apart. A paragraph's score is its captions' mean.",
        "## Counts\n\n" + table_text([("", ""), *((escape(name), number) for name, number in foils.counts)]),
        *(_blind(config, attacks) for config, attacks in foils.attacks.items()),
        f"## Most frequent swaps\n\n{len(arrows):,} different ones in all.\n\n{table_text(frequent)}",
        creation_text(metadata),
        credits_text(metadata, folder, shipped=False),
        structure_text(tables),
        "`shortcuts.json` has the blind attackers.",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _blind(config: str, attacks: Sequence[Attack]) -> str:
    told = (
        f"{attack_sentence(attacks)} An attacker sees both texts and no video, and learns only from other videos; "
        "worst first, ties count half. Where each pair of words is used as often in both directions, who counts words "
        "is right in less than half: what the other videos lack is what comes. So never tell a part of the labels."
    )
    return f"## Blind attackers on `{config}`\n\n{told}\n\n{table_text(attack_rows(attacks))}"
