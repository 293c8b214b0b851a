"""Section of a card on questions: counts by kind, answers by place, and what blind attackers reach."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from typing import NamedTuple

from vttdata.dataset.card.sections import Tables, fold, format_table, read_rows
from vttdata.dataset.foils.statistics import read_blind_results
from vttdata.files.results import escape_line
from vttdata.generate.blind.fixed_rules import try_fixed_rules
from vttdata.generate.blind.questions import QuestionAttack, question_rows, question_sentence
from vttdata.json_types import Row

CAUTION = (
    "A published score up to the blind one says nothing about seeing the videos, and a higher one only as far as it is "
    "above: `vttdata evaluate` gives the gain over the blind attackers with its interval."
)


class TriedQuestions(NamedTuple):
    """Results of the blind attackers on so many questions, their ensemble first."""

    attacks: list[QuestionAttack]
    number: int


def read_question_attacks(dataset: Path) -> dict[str, TriedQuestions]:
    """Return what blind attackers reach on the questions of each kind that they tried."""
    return {
        config.partition("/")[2]: TriedQuestions(list(map(QuestionAttack.from_json, results)), results[0]["questions"])
        for config, results in read_blind_results(dataset).items()
        if config.partition("/")[0] == "questions" and results
    }


def describe_attacks(dataset: Path) -> str:
    """Return sentences on what blind attackers reach on each kind of question; empty if none tried."""
    tried = read_question_attacks(dataset).items()
    sentences = [f"{escape_line(kind)}: {question_sentence(*attacked)}" for kind, attacked in tried]
    return " ".join([*sentences, CAUTION]) if sentences else ""


def format_questions(tables: Tables, dataset: Path) -> str:
    """Return the section of the card: counts by kind, answers by place, and the blind attackers; empty without any."""
    by_kind: dict[str, list[Row]] = defaultdict(list)
    for question in read_rows(dataset, tables, "questions", ("kind", "options", "answer", "group", "blind")):
        by_kind[question["kind"]].append(question)
    if not by_kind:
        return ""
    rows: list[tuple[str, ...]] = [("kind", "questions", "options", "guessing", "blind", "answers by place")]
    for kind, questions in by_kind.items():
        numbers = [len(question["options"]) for question in questions]
        sizes = sorted(set(numbers))
        places = Counter(question["answer"] for question in questions)
        tried = [question["blind"] for question in questions if question["blind"] is not None]
        rows.append(
            (
                escape_line(kind),
                f"{len(questions):,}",
                f"{sizes[0]}-{sizes[-1]}" if len(sizes) > 1 else f"{sizes[0]}",
                f"{sum(1 / number for number in numbers) / len(questions):.3f}",
                f"{sum(tried) / len(tried):.3f}" if tried else "-",
                ", ".join(f"{places[place]:,}" for place in range(sizes[-1])),
            )
        )
    attacked = read_question_attacks(dataset)
    rules = [
        f"{escape_line(kind)}: {rule.sentence()}"
        for kind, questions in by_kind.items()
        if kind not in attacked
        for rule in try_fixed_rules((each["options"], each["answer"]) for each in questions)
    ]
    groups = Counter(each["group"] for of_kind in by_kind.values() for each in of_kind if each["group"] is not None)
    parts = [
        "## Questions",
        format_table(rows),
        f"Questions that belong together: {groups.total():,}, in {len(groups):,} groups." if groups else "",
        describe_attacks(dataset),
        " ".join(rules),
        *(
            fold(f"Blind attackers on {escape_line(kind)}", format_table(question_rows(tried.attacks)))
            for kind, tried in attacked.items()
        ),
    ]
    return "\n\n".join(part for part in parts if part)
