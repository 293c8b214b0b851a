"""Sections of a page on the questions of a dataset: types, places of answers, blind attackers, and some questions."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path

from vttdata.dataset.card.questions import TriedQuestions, read_question_attacks
from vttdata.dataset.front_matter import read_layout
from vttdata.dataset.parquet import read_parquet_rows
from vttdata.files.results import Bar, Bars, Section
from vttdata.generate.blind.fixed_rules import FixedRule, try_fixed_rules
from vttdata.generate.blind.questions import question_headline, question_sentence
from vttdata.json_types import Row
from vttdata.media.video_folder import locate_videos
from vttdata.report.page import PageSection
from vttdata.report.page_pictures import read_clip_stills, read_video_stills, select_stills
from vttdata.report.sections import Example, render_examples, render_sections
from vttdata.text.questions import fold_text, letters

_COLUMNS = ("question_id", "video_id", "kind", "question", "options", "answer", "type")
# Of a kind.
_QUESTIONS_SHOWN, _TYPES_SHOWN = 12, 60


def show_questions(folder: Path, videos: Path | None = None) -> list[PageSection]:
    """Return a section for each kind of question of a dataset, and one with some questions; nothing without questions.

    What blind attackers answer together is taken from the card. Frames come from a folder of videos, named by their
    ids, or from the dataset's clips.
    """
    by_kind = _read_kinds(folder)
    tried = read_question_attacks(folder)
    sections = render_sections(_count_kind(kind, rows, tried.get(kind)) for kind, rows in by_kind.items())
    return [*sections, _show_examples(folder, by_kind, videos)] if sections else []


def blind_alerts(folder: Path) -> list[tuple[str, str]]:
    """Return a tone and a sentence on what blind attackers reach on each kind of question, for the top of a page.

    Of kinds that they did not try, it is what fixed rules reach to which they are open.
    """
    attacked = read_question_attacks(folder)
    return [
        *(
            ("bad" if tried.attacks[0].open else "good", question_headline(kind, *tried))
            for kind, tried in attacked.items()
        ),
        *(
            ("bad", f"{kind}: {rule.sentence()}")
            for kind, rows in _read_kinds(folder).items()
            if kind not in attacked
            for rule in _try_rules(rows)
            if rule.open
        ),
    ]


def _read_kinds(folder: Path) -> dict[str, list[Row]]:
    by_kind: dict[str, list[Row]] = defaultdict(list)
    for row in read_parquet_rows(chain(*read_layout(folder, needs=None).files.get("questions", {}).values()), _COLUMNS):
        by_kind[row["kind"]].append(row)
    return by_kind


def _try_rules(rows: Sequence[Row]) -> list[FixedRule]:
    return try_fixed_rules((row["options"], row["answer"]) for row in rows)


def _count_kind(kind: str, rows: Sequence[Row], tried: TriedQuestions | None) -> Section:
    """Return the section of a kind: its questions by type and by place of the answer, and what attackers reach."""
    types = Counter(row["type"] for row in rows if row["type"] is not None)
    places = Counter(row["answer"] for row in rows)
    named = {letter: places[place] for place, letter in enumerate(letters(max(len(row["options"]) for row in rows)))}
    counted = {"type": ("Questions of each type", dict(types.most_common(_TYPES_SHOWN)))} if types else {}
    counted["place"] = ("Questions by the place of their answer", named)
    figures = [
        Bars([Bar(name, count, text=f"{count:,}") for name, count in counts.items()], caption, (heading, "questions"))
        for heading, (caption, counts) in counted.items()
    ]
    guessing = sum(1 / len(row["options"]) for row in rows) / len(rows)
    sentences = [f"{len(rows):,} questions; guessing answers {guessing:.3f}."]
    if tried is not None:
        sentences.append(question_sentence(*tried))
    else:
        sentences += [rule.sentence() for rule in _try_rules(rows)]
    key, badge = f"questions-{kind.replace('_', '-')}", f"{len(rows):,}"
    return Section(f"Questions: {kind}", sentences, figures=figures, key=key, badge=badge)


def _choose_examples(rows: Sequence[Row]) -> list[Row]:
    """Return some rows from all over a kind, those of different types and texts before those that repeat one."""
    step = max(1, len(rows) // _QUESTIONS_SHOWN)
    texts, types = Counter[tuple[str | None, str]](), Counter[str | None]()
    ranked = []
    for place in chain.from_iterable(range(first, len(rows), step) for first in range(step)):
        text, type_ = (rows[place]["type"], fold_text(rows[place]["question"])), rows[place]["type"]
        ranked.append((texts[text], types[type_], place))
        texts[text] += 1
        types[type_] += 1
    ranked.sort(key=lambda found: found[:2])
    return [rows[place] for _, _, place in ranked[:_QUESTIONS_SHOWN]]


def _show_examples(folder: Path, by_kind: Mapping[str, Sequence[Row]], videos: Path | None) -> PageSection:
    """Return questions of each kind, with the right option in bold and the middle of the video."""
    shown = list(chain(*map(_choose_examples, by_kind.values())))
    ids = {row["video_id"] for row in shown}
    stills = read_clip_stills(folder, ids) if videos is None else read_video_stills(locate_videos(videos, ids))
    body = render_examples(
        Example(
            text=row["question"] + (f" ({row['type']})" if row["type"] else ""),
            stills=select_stills(stills, row["video_id"]),
            listed=[
                f"{letter}. {option}"
                for letter, option in zip(letters(len(row["options"])), row["options"], strict=True)
            ],
            marked=row["answer"],
        )
        for row in shown
    )
    frames = ", and the frame in the middle of its video" if stills else ""
    return PageSection("questions", "Some questions", body, f"Each with its options, the right one in bold{frames}.")
