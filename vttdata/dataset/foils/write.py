"""Write a set of foils as a dataset: pairs of captions, pairs of paragraphs, and a card with the blind attackers.

Foils are chosen and attacked in `vttdata.generate.foils`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from vttdata.dataset.card.sections import Tables
from vttdata.dataset.description_files import write_description
from vttdata.dataset.facts import DatasetFacts, FoilFacts
from vttdata.dataset.foils.statistics import write_attacks
from vttdata.dataset.metadata import Metadata
from vttdata.dataset.replace_folder import replace_folder
from vttdata.dataset.rows import FoilRow, ParagraphRow, QuestionRow, SwapRow, columns_of, fill, question_row
from vttdata.dataset.schema import table_schema
from vttdata.dataset.shards import SplitFiles, split_key, write_split
from vttdata.dataset.tombstones import Tombstones
from vttdata.errors import VttdataError
from vttdata.files.output_file import write_whole
from vttdata.generate.blind.accuracy import select_references
from vttdata.generate.blind.choices import TextPair
from vttdata.generate.blind.questions import QuestionAttack, find_floor
from vttdata.generate.blind.shortcuts import Attack
from vttdata.generate.foils.documents import FoilPair
from vttdata.generate.foils.questions import FoilQuestion
from vttdata.records import VideoQuestion, to_row
from vttdata.text.questions import letters

# Input files of the published scoring script of ActivityNet-FOIL: true paragraphs, false ones, and the paragraphs of
# both annotators with their times.
EMSCORE_FILES = (
    "final_right_video_sentences.json",
    "final_foil_video_sentences.json",
    "anet_entities_test_1.json",
    "anet_entities_test_2.json",
)

SWAP = ("concept", "foil_concept", "supercategory")
"""Columns of a swap, in the tables of pairs and of swaps."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Paragraph of a video, of so many `seconds`, and, if there is one, that of another annotator as its reference.

    `ids` and `texts` are those of its captions; spans are start and end of each sentence in seconds.
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
    """Set of foils and how it was made.

    Fields:
        selection, seed, lexicon, scorer: Settings of the search; no lexicon and no scorer where pairs are official.
        paragraphs: Paragraphs of which some have foils; empty if captions stand alone.
        attacks: Configuration -> results of the blind attackers.
        counts: Rows of (figure, number) for the card.
        made_of: The dataset that the captions are of; see `DatasetFacts`.
        question_attacks: Results of the blind attackers on them.
    """

    pairs: Sequence[FoilPair]
    selection: str
    seed: int
    lexicon: str
    scorer: str
    paragraphs: Sequence[Paragraph] = ()
    attacks: Mapping[str, Sequence[Attack]] = field(default_factory=dict)
    counts: Sequence[tuple[str, str]] = ()
    made_of: Mapping[str, str] = field(default_factory=dict)
    questions: Sequence[FoilQuestion] = ()
    question_attacks: Sequence[QuestionAttack] = ()


@dataclass(frozen=True, slots=True)
class FoiledParagraph:
    """Paragraph with at least one foil, its sentences with the foils in place, and the indices of these."""

    paragraph: Paragraph
    foils: list[str]
    changed: list[int]


def write_foils(
    folder: Path,
    foils: FoilSet,
    metadata: Metadata,
    add_files: Callable[[Path], None] | None = None,
    finish: Callable[[Path], object] | None = None,
) -> None:
    """Write a foil dataset in the place of the one in `folder`, which must be a dataset, empty or missing.

    `add_files` is called with the folder once its tables are there, and `finish` once it is complete.

    Raises:
        VttdataError: If there are no pairs, or `folder` holds something else than a dataset.
    """
    if not foils.pairs:
        raise VttdataError("No foil is left, so there is no dataset to write.")
    with replace_folder(folder) as partial:
        tables = _write_tables(partial, foils)
        if foils.paragraphs:
            _write_emscore_files(partial / "emscore", foil_paragraphs(foils))
        questions = {"questions": foils.question_attacks} if foils.questions else {}
        write_attacks(partial, {**foils.attacks, **questions})
        if add_files is not None:
            add_files(partial)
        settings = FoilFacts(foils.selection, foils.seed, foils.lexicon, foils.scorer, foils.counts)
        write_description(partial, DatasetFacts(metadata, foils=settings, made_of=foils.made_of), tables)
        if finish is not None:
            finish(partial)


def foil_paragraphs(foils: FoilSet) -> list[FoiledParagraph]:
    """Return the paragraphs with at least one foil."""
    foil_of = {pair.caption_id: pair.foil for pair in foils.pairs}
    return [
        FoiledParagraph(
            paragraph,
            [foil_of.get(caption_id, text) for caption_id, text in zip(paragraph.ids, paragraph.texts, strict=True)],
            [index for index, caption_id in enumerate(paragraph.ids) if caption_id in foil_of],
        )
        for paragraph in foils.paragraphs
        if not foil_of.keys().isdisjoint(paragraph.ids)
    ]


def paragraph_pairs(foils: FoilSet) -> list[TextPair]:
    """Return the paragraphs with a foil as pairs of texts, for blind attackers."""
    return [
        TextPair(" ".join(foiled.paragraph.texts), " ".join(foiled.foils), foiled.paragraph.video_id)
        for foiled in foil_paragraphs(foils)
    ]


def _write_tables(dataset: Path, foils: FoilSet) -> Tables:
    foiled_paragraphs = foil_paragraphs(foils)
    references: dict[str, list[str]] = {}
    for foiled in foiled_paragraphs:
        paragraph = foiled.paragraph
        if paragraph.references:
            for caption_id, span in zip(paragraph.ids, paragraph.spans, strict=True):
                references[caption_id] = select_references(span, paragraph.reference_spans, paragraph.references)
    pairs: dict[str, list[FoilRow]] = {}
    for pair in foils.pairs:
        row = fill(FoilRow, pair, pair.swap, foils, references=references.get(pair.caption_id, []))
        pairs.setdefault(pair.split or "test", []).append(row)
    split_of = {pair.video_id: pair.split or "test" for pair in foils.pairs}
    paragraphs: dict[str, list[ParagraphRow]] = {}
    for foiled in foiled_paragraphs:
        paragraph = foiled.paragraph
        paragraph_row = fill(
            ParagraphRow,
            paragraph,
            captions=list(paragraph.texts),
            foils=foiled.foils,
            changed=foiled.changed,
            starts=[start for start, _ in paragraph.spans],
            ends=[end for _, end in paragraph.spans],
            references=list(paragraph.references),
            reference_starts=[start for start, _ in paragraph.reference_spans],
            reference_ends=[end for _, end in paragraph.reference_spans],
        )
        paragraphs.setdefault(split_of[paragraph.video_id], []).append(paragraph_row)
    swaps = {
        split: swap_rows((row.concept, row.foil_concept, row.supercategory) for row in rows)
        for split, rows in pairs.items()
    }
    rows_of: dict[str, Mapping[str, Sequence[object]]] = {"foils": pairs, "paragraphs": paragraphs, "swaps": swaps}
    rows_of["questions"] = _question_rows(foils)
    tables: dict[str, list[SplitFiles]] = {}
    for config, splits in rows_of.items():
        schema = table_schema(columns_of(config))
        for split in sorted(splits, key=split_key):
            written = write_split(dataset, config, split, schema, map(to_row, splits[split]))
            tables.setdefault(config, []).extend([written] if written else [])
    return tables


def _question_rows(foils: FoilSet) -> dict[str, list[QuestionRow]]:
    """Return the rows of the questions of each split."""
    rows: dict[str, list[QuestionRow]] = {}
    for number, question in enumerate(foils.questions):
        choice = question.choice
        record = VideoQuestion(
            question_id=question.caption_id,
            video_id=choice.video_id,
            kind="multiple_choice",
            question=choice.question,
            options=choice.options,
            labels=letters(len(choice.options)),
            answer=choice.answer,
            type=question.supercategory,
        )
        blind = find_floor(foils.question_attacks).right[number] if foils.question_attacks else None
        rows.setdefault(question.split or "test", []).append(question_row(record, choice.video_id, blind))
    return rows


def swap_rows(pairs: Iterable[tuple[str, str, str]]) -> list[SwapRow]:
    """Count the swaps, with the columns of `SWAP`, of the pairs of a split, the most frequent one first."""
    ranked = sorted(Counter(pairs).items(), key=lambda item: (-item[1], item[0]))
    return [SwapRow(*swap, pairs) for swap, pairs in ranked]


def _write_emscore_files(folder: Path, foiled_paragraphs: Sequence[FoiledParagraph]) -> None:
    """Write the true and the false paragraphs, and those of both annotators in the shape of ActivityNet-Entities."""
    contents: tuple[dict[str, object], ...] = ({}, {}, {}, {})
    for foiled in foiled_paragraphs:
        paragraph = foiled.paragraph
        for content, texts in zip(contents, (paragraph.texts, foiled.foils), strict=False):
            pairs = zip(texts, paragraph.spans, strict=True)
            content[paragraph.video_id] = [{"sentence": text, "timestamp": list(span)} for text, span in pairs]
        for content, texts, spans in (
            (contents[2], paragraph.texts, paragraph.spans),
            (contents[3], paragraph.references, paragraph.reference_spans),
        ):
            content[paragraph.video_id] = {
                "duration": paragraph.seconds,
                "timestamps": [list(span) for span in spans],
                "sentences": list(texts),
            }
    folder.mkdir()
    for index, (name, content) in enumerate(zip(EMSCORE_FILES, contents, strict=True)):
        _write_json(folder / name, {"results": content} if index < 2 else content)


def withdraw_paragraphs(dataset: Path, tombstones: Tombstones) -> None:
    """Take the paragraphs of withdrawn videos out of the files for the published scoring script, if there are some."""
    for path in (dataset / "emscore").glob("*.json"):
        content = json.loads(path.read_text(encoding="utf-8"))
        paragraphs = content.get("results", content)
        for video_id in [name for name in paragraphs if tombstones.covers(name)]:
            del paragraphs[video_id]
        _write_json(path, content)


def _write_json(path: Path, content: object) -> None:
    write_whole(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
