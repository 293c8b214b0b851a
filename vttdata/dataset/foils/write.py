"""Write a set of foils as a dataset: pairs of captions, pairs of paragraphs, and a card with the blind attackers.

Foils are chosen and attacked in `vttdata.generate.foils`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from vttdata.dataset.card.sections import (
    Tables,
    escape,
    fold,
    format_creation,
    format_details,
    format_rebuilding,
    format_responsible,
    format_rights,
    format_structure,
    format_table,
    format_uses,
)
from vttdata.dataset.description_files import write_description
from vttdata.dataset.foils.statistics import write_attacks
from vttdata.dataset.metadata import Metadata
from vttdata.dataset.replace_folder import replace_folder
from vttdata.dataset.rows import FoilRow, ParagraphRow, QuestionRow, SwapRow, columns_of, fill, question_row
from vttdata.dataset.schema import table_schema
from vttdata.dataset.shards import SplitFiles, split_key, write_split
from vttdata.errors import VttdataError
from vttdata.generate.blind.accuracy import select_references
from vttdata.generate.blind.choices import TextPair
from vttdata.generate.blind.questions import QuestionAttack, find_floor, question_rows, question_sentence
from vttdata.generate.blind.shortcuts import Attack, attack_rows, attack_sentences
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
        limitations = [f"`{config}`: {attack_sentences(results)}" for config, results in foils.attacks.items()]
        if foils.questions:
            limitations.append(f"`questions`: {question_sentence(foils.question_attacks, len(foils.questions))}")
        body = _format_card(foils, metadata, tables, partial)
        write_description(partial, metadata, tables, body, limitations=limitations)
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
    swaps = {split: _swap_rows(rows) for split, rows in pairs.items()}
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


def _swap_rows(rows: Sequence[FoilRow]) -> list[SwapRow]:
    """Count the swaps in the rows of a split, the most frequent one first."""
    counts = Counter((row.concept, row.foil_concept, row.supercategory) for row in rows)
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
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


def _write_json(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")


def _format_card(foils: FoilSet, metadata: Metadata, tables: Tables, folder: Path) -> str:
    swaps = Counter((pair.swap.concept, pair.swap.foil_concept) for pair in foils.pairs)
    frequent = [("true", "foil", "pairs"), *((*swap, f"{pairs:,}") for swap, pairs in swaps.most_common(20))]
    parts = [
        f"# {metadata.name.partition('/')[2]} {metadata.version}",
        escape(metadata.description) or "Pairs of a true text and a foil, made with vttdata.",
        format_details(metadata),
        format_uses(metadata, tables),
        (
            f"Selection `{foils.selection}`, seed {foils.seed}, lexicon {foils.lexicon}; perplexities of "
            f"{escape(foils.scorer)}. "
            if foils.scorer
            else "The pairs are those of the official files. "
        )
        + "A score is right on a pair if that of the true text is strictly higher; ties are "
        "counted separately. The score of a paragraph is the mean of its captions' scores.",
        "## Counts\n\n" + format_table([("", ""), *((escape(name), number) for name, number in foils.counts)]),
        _format_questions(foils) if foils.questions else "",
        *(_format_attacks(config, attacks) for config, attacks in foils.attacks.items()),
        format_responsible(metadata),
        format_rights(metadata, folder, shipped=False),
        "## Details",
        fold("Most frequent swaps", f"{len(swaps):,} different ones in all.", format_table(frequent)),
        format_creation(metadata),
        format_rebuilding(metadata, folder),
        format_structure(tables),
        "`shortcuts.json` has the blind attackers.",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _format_questions(foils: FoilSet) -> str:
    count = len(foils.questions)
    options = len(foils.questions[0].choice.options)
    positions = Counter(question.choice.answer for question in foils.questions)
    answers = ", ".join(f"{positions[index]:,}" for index in range(options))
    explanation = (
        f"`questions` has {count:,} questions with {options} options: a caption of the video, and foils of it that "
        "all have another word of one supercategory in the same place. `answer` is the index of the caption in "
        f"`options`, from 0; the positions have {answers} answers. The pairs of `foils` are those of each caption with "
        "each of its foils. "
    )
    table = format_table(question_rows(foils.question_attacks)) if foils.question_attacks else ""
    said = question_sentence(foils.question_attacks, count)
    return f"## Multiple-choice questions\n\n{explanation}{said}\n\n{table}".rstrip()


def _format_attacks(config: str, attacks: Sequence[Attack]) -> str:
    explanation = (
        f"{attack_sentences(attacks)} An attacker sees both texts but no video; what it learned from is in the last "
        "column. Ties count half, and intervals come from drawing videos with replacement. If each pair of words is "
        "used equally often in both directions, an attacker that counts words is right in less than half of the pairs: "
        "what the other videos lack comes next. So never reveal a part of the labels."
    )
    return f"## Blind attackers on `{config}`\n\n{explanation}\n\n{format_table(attack_rows(attacks))}"
