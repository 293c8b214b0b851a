"""Section of a card on questions: counts by kind, answers by place, and what blind attackers reach."""

from __future__ import annotations

from collections import Counter, defaultdict

from vttdata.dataset.card.sections import escape, fold, format_table
from vttdata.dataset.questions import QuestionSet
from vttdata.generate.blind.questions import question_rows, question_sentence
from vttdata.records import VideoQuestion

CAUTION = (
    "A published score up to the blind one says nothing about seeing the videos, and a higher one only as far as it is "
    "above: `vttdata evaluate` gives the gain over the blind attackers with its interval."
)


def describe_attacks(made: QuestionSet) -> str:
    """Return sentences on what blind attackers reach on each kind; empty if none tried."""
    sentences = [
        f"{escape(kind)}: {question_sentence(attacks, len(made.attacked[kind]))}"
        for kind, attacks in made.attacks.items()
    ]
    return " ".join([*sentences, CAUTION]) if sentences else ""


def format_questions(made: QuestionSet) -> str:
    """Return the section of the card: counts by kind, answers by place, and the blind attackers."""
    blind = made.blind
    by_kind: dict[str, list[VideoQuestion]] = defaultdict(list)
    for question in made.questions:
        by_kind[question.kind].append(question)
    rows: list[tuple[str, ...]] = [("kind", "questions", "options", "guessing", "blind", "answers by place")]
    for kind, questions in by_kind.items():
        sizes = sorted({len(question.options) for question in questions})
        places = Counter(question.answer for question in questions)
        tried = [blind[question.question_id] for question in questions if question.question_id in blind]
        rows.append(
            (
                escape(kind),
                f"{len(questions):,}",
                f"{sizes[0]}-{sizes[-1]}" if len(sizes) > 1 else f"{sizes[0]}",
                f"{sum(1 / len(question.options) for question in questions) / len(questions):.3f}",
                f"{sum(tried) / len(tried):.3f}" if tried else "-",
                ", ".join(f"{places[place]:,}" for place in range(sizes[-1])),
            )
        )
    groups = Counter(question.group for question in made.questions if question.group is not None)
    parts = [
        "## Questions",
        format_table(rows),
        f"Questions that belong together: {groups.total():,}, in {len(groups):,} groups." if groups else "",
        describe_attacks(made),
        *(
            fold(f"Blind attackers on {escape(kind)}", format_table(question_rows(attacks)))
            for kind, attacks in made.attacks.items()
        ),
    ]
    return "\n\n".join(part for part in parts if part)
