"""The card of a set of foils: how its pairs were made, and what blind attackers reach on them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from vttdata.dataset.card.corrections import format_corrections
from vttdata.dataset.card.questions import read_question_attacks
from vttdata.dataset.card.sections import (
    Tables,
    fold,
    format_creation,
    format_details,
    format_loading,
    format_rebuilding,
    format_responsible,
    format_rights,
    format_structure,
    format_table,
    read_rows,
)
from vttdata.dataset.facts import DatasetFacts, FoilFacts
from vttdata.dataset.foils.statistics import read_blind_results
from vttdata.files.results import escape_line
from vttdata.generate.blind.questions import question_rows, question_sentence
from vttdata.generate.blind.shortcuts import Attack, attack_rows, attack_sentences

_SHOWN_SWAPS = 20


def format_foil_card(facts: DatasetFacts, foils: FoilFacts, tables: Tables, folder: Path) -> str:
    """Return the README below its front matter, of a folder that has its provenance already."""
    metadata = facts.metadata
    pairs = read_rows(folder, tables, "foils", ("concept", "foil_concept"))
    swaps = Counter((pair["concept"], pair["foil_concept"]) for pair in pairs)
    frequent = [(*swap, f"{number:,}") for swap, number in swaps.most_common(_SHOWN_SWAPS)]
    parts = [
        f"# {metadata.name.partition('/')[2]} {metadata.version}",
        escape_line(metadata.description) or "Pairs of a true text and a foil, made with vttdata.",
        format_details(metadata),
        format_loading(metadata, tables),
        (
            f"Selection `{foils.selection}`, seed {foils.seed}, lexicon {foils.lexicon}; perplexities of "
            f"{escape_line(foils.scorer)}. "
            if foils.scorer
            else "The pairs are those of the official files. "
        )
        + "A score is right on a pair if that of the true text is strictly higher; ties are "
        "counted separately. The score of a paragraph is the mean of its captions' scores.",
        "## Counts\n\n" + format_table([("", ""), *((escape_line(name), number) for name, number in foils.counts)]),
        _format_questions(tables, folder),
        *(_format_attacks(config, attacks) for config, attacks in _read_attacks(folder).items()),
        format_responsible(metadata),
        format_rights(metadata, folder, shipped=False),
        format_corrections(facts, tables, folder),
        "## Details",
        fold(
            "Most frequent swaps",
            f"{len(swaps):,} different ones in all.",
            format_table([("true", "foil", "pairs"), *frequent]),
        ),
        format_creation(metadata),
        format_rebuilding(metadata, folder),
        format_structure(tables),
        "`shortcuts.json` has the blind attackers.",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def list_blind_results(tables: Tables, folder: Path) -> list[str]:
    """Return what blind attackers reach, a sentence each: a known limitation of a set of foils."""
    sentences = [f"`{config}`: {attack_sentences(attacks)}" for config, attacks in _read_attacks(folder).items()]
    return [*sentences, *([f"`questions`: {_say_questions(tables, folder)}"] if "questions" in tables else [])]


def _read_attacks(folder: Path) -> dict[str, list[Attack]]:
    return {
        config: list(map(Attack.from_json, results))
        for config, results in read_blind_results(folder).items()
        if config != "questions"
    }


def _say_questions(tables: Tables, folder: Path) -> str:
    tried = read_question_attacks(folder).get("")
    return question_sentence(*tried) if tried else question_sentence((), sum(s.rows for s in tables["questions"]))


def _format_questions(tables: Tables, folder: Path) -> str:
    rows = list(read_rows(folder, tables, "questions", ("options", "answer")))
    if not rows:
        return ""
    options = len(rows[0]["options"])
    positions = Counter(row["answer"] for row in rows)
    answers = ", ".join(f"{positions[index]:,}" for index in range(options))
    explanation = (
        f"`questions` has {len(rows):,} questions with {options} options: a caption of the video, and foils of it that "
        "all have another word of one supercategory in the same place. `answer` is the index of the caption in "
        f"`options`, from 0; the positions have {answers} answers. The pairs of `foils` are those of each caption with "
        "each of its foils. "
    )
    tried = read_question_attacks(folder).get("")
    table = format_table(question_rows(tried.attacks)) if tried else ""
    return f"## Multiple-choice questions\n\n{explanation}{_say_questions(tables, folder)}\n\n{table}".rstrip()


def _format_attacks(config: str, attacks: list[Attack]) -> str:
    explanation = (
        f"{attack_sentences(attacks)} An attacker sees both texts but no video; what it learned from is in the last "
        "column. Ties count half, and intervals come from drawing videos with replacement. If each pair of words is "
        "used equally often in both directions, an attacker that counts words is right in less than half of the pairs: "
        "what the other videos lack comes next. So never reveal a part of the labels."
    )
    return f"## Blind attackers on `{config}`\n\n{explanation}\n\n{format_table(attack_rows(attacks))}"
