"""Questions: answers as options, letters, indices, free text or scores, with what is reachable blind beside them.

Every question counts: an answer that no rule understands is wrong, and the accuracy without such answers is a column of
its own. Balanced accuracy is the mean of the accuracies on questions whose answer is yes and on those whose answer is
no. A group of questions that belong together is right if all of them are; ``prefix`` is the share of its questions
before the first wrong one.
"""

from __future__ import annotations

import dataclasses
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from vttdata.dataset.questions import StoredQuestion
from vttdata.errors import VttdataError
from vttdata.evaluate.answers import (
    DEFAULT_RULES,
    FREE_TEXT,
    Answer,
    load_rules,
    read_answers,
    read_free_text,
)
from vttdata.evaluate.columns import ScoreColumn, describe_guessing, is_worse_than_guessing
from vttdata.evaluate.items import (
    Items,
    describe_items,
    other_splits,
    read_item_protocol,
    select_listed,
)
from vttdata.evaluate.predictions import Matched, match_predictions
from vttdata.evaluate.preferences import describe_preferences
from vttdata.evaluate.task import ExportedTask, ObservedTask, Scored, Scoring, TextChoice
from vttdata.export.reader import DatasetReader
from vttdata.generate.blind.questions import MultipleChoice, audit_questions, find_floor, question_sentence
from vttdata.generate.blind.words import lower_words
from vttdata.json_types import JsonObject
from vttdata.statistics.arrays import Flags, Floats, Integers
from vttdata.statistics.scores import ColumnScores
from vttdata.text.questions import find_shared_types, fold_text, letters

_SHOWN, _SHOWN_CHARACTERS = 3, 60


TABLE = "questions"
_NAMING = (
    "the video and the text of a question name it too (--columns video_id=COLUMN --columns question=COLUMN), and a "
    "build with --columns question_id=COLUMN gives questions the ids of that column"
)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class QuestionItems(Items):
    """Questions of a split, n."""

    questions: Sequence[StoredQuestion]

    @property
    def clip_ids(self) -> Sequence[str]:
        """Clip that each question is about, n."""
        return [asked.video_id for asked in self.questions]

    def show(self, index: int) -> Sequence[str]:
        """Return the text of a question, the right option and the other ones."""
        asked = self.questions[index]
        others = (f"wrong: {option}" for place, option in enumerate(asked.options) if place != asked.answer)
        return asked.question, f"right: {asked.options[asked.answer]}", *others


def read_question_items(
    folder: Path, *, config: str = TABLE, split: str | None = None, with_open: bool = False
) -> QuestionItems:
    """Read the questions of a dataset, those without options only `with_open`.

    `config` is ``questions``, ``questions/KIND`` for those of one kind, or the path of a protocol file of questions;
    `split` is ``test``, or the only one, if omitted.

    Raises:
        VttdataError: if the dataset has no questions, or none of this kind, or there is no such split.
    """
    dataset = DatasetReader(folder)
    config, protocol = read_item_protocol(config, TABLE)
    table = config.partition("/")[0]
    if table != TABLE or table not in dataset.configs:
        raise VttdataError(
            f"{folder}: '{config}' holds no questions; a dataset of them has the table '{TABLE}', and '{TABLE}/KIND' "
            "stands for one kind, such as yes_no."
        )
    split, questions = dataset.questions(config, split, with_open=with_open)
    if protocol is not None:
        wanted = select_listed(protocol, split, [asked.question_id for asked in questions])
        questions = [asked for asked in questions if asked.question_id in wanted]
    label, ids = config if protocol is None else protocol.label, [asked.question_id for asked in questions]
    sources = [asked.source_id or f"source of {asked.video_id}" for asked in questions]
    return QuestionItems(
        **describe_items(dataset, label, split, ids, sources),
        table=TABLE,
        questions=questions,
        groupings={
            "type": [asked.type for asked in questions],
            "place": [letters(asked.answer + 1)[-1] for asked in questions],
        },
        other_split=other_splits(dataset, table, split, "question_id"),
    )


class QuestionsTask(ObservedTask[QuestionItems], ExportedTask[QuestionItems]):
    """Answers to questions."""

    default_config = TABLE
    options: Collection[str] = ("rules", "permuted", "errata", "train_split")
    columns: Sequence[str] = (
        *("question_id", "video_id", "question", "prediction", "free_text", "scores", "options", "rating"),
        *("answer_index", "answer_number", "answer_letter", "answer_text"),
    )
    headline = "accuracy"
    sample_column = "accuracy"

    def fits(self, dataset: Path, predictions: Path | None) -> bool:  # noqa: ARG002
        """Return whether the dataset has questions."""
        return (dataset / TABLE).is_dir()

    def read_items(self, dataset: Path, *, config: str, split: str | None) -> QuestionItems:
        """Read the questions of a split; see `read_question_items`."""
        return read_question_items(dataset, config=config, split=split)

    def read_predictions(self, path: Path, scoring: Scoring[QuestionItems]) -> Matched:
        """Read answers; see `read_answers`."""
        items = scoring.items
        answers, notes = read_answers(path, items.questions, scoring.rules, columns=scoring.columns)
        matched = match_predictions(
            *(str(path), answers, items.ids, scoring.rule),
            other_split=items.other_split,
            noun="answer",
            hint=_NAMING,
        )
        return matched._replace(notes=notes)

    def score(self, predictions: Matched, scoring: Scoring[QuestionItems]) -> Scored:
        """Score answers; see `score_answers`."""
        items, answers = scoring.items, predictions.values
        permuted = score_permuted(answers, scoring) if scoring.permuted else {}
        agreement = float(permuted["agreement"].scores.items.mean()) if permuted else None
        columns, findings = score_answers(answers, items, agreement)
        columns |= permuted
        findings = [*predictions.notes, *findings]
        settings = {"rules": scoring.rules}
        rated = sum(answer is not None and answer.rating is not None for answer in answers)
        if rated:
            settings["rated"] = str(rated)
            findings.append(f"Answers whose right is what a judge rated: {rated:,} of {len(answers):,}.")
        if permuted:
            settings["permuted"] = str(len(scoring.permuted))
        if scoring.errata:
            listed = [name for name in items.ids if name in scoring.errata]
            columns["accuracy-without-errata"] = _leave_out(columns["accuracy"], items, listed)
            settings["errata"] = f"{len(listed)} of {len(items.ids)}"
            errors = Counter(error for name in listed for error in set(scoring.errata[name]))
            kinds = ", ".join(f"{error} {count:,}" for error, count in sorted(errors.items()))
            findings.append(
                f"Questions that the errata list, which accuracy-without-errata leaves out: {len(listed):,} of "
                f"{len(items.ids):,} ({kinds or 'none of these'})."
            )
        unread = {
            name: answer.text
            for name, answer in zip(items.ids, answers, strict=True)
            if answer is not None and not answer.is_understood
        }
        if unread:
            examples = ", ".join(
                f"{name[:80]} {text[:_SHOWN_CHARACTERS]!a}" for name, text in list(unread.items())[:_SHOWN]
            )
            findings.insert(
                0,
                f"No rule of {scoring.rules} understood {len(unread):,} of {len(answers):,} answers, which count as "
                f"wrong: {examples}{', ...' if len(unread) > _SHOWN else ''}. accuracy-understood leaves them out.",
            )
        given = sum(answer is not None for answer in answers)
        counts = {"understood": given - len(unread), "not_understood": len(unread)}
        return Scored(
            *(columns, predictions.counts, findings),
            settings=settings,
            answers=counts,
            not_understood=unread,
            texts=[
                [] if answer is None else [answer.show(asked)]
                for answer, asked in zip(answers, items.questions, strict=True)
            ],
        )

    def from_baseline(self, name: str, scoring: Scoring[QuestionItems]) -> Scored:
        """Score the answers of a baseline, which are indices of options."""
        answers = [Answer(frozenset({index})) for index in scoring.predict(name)]
        return self.score(Matched(answers, scoring.complete), scoring)

    def guessing(self, items: QuestionItems, metric: str) -> Sequence[float]:  # noqa: ARG002
        """Return the share of one option of each question."""
        return [1 / len(asked.options) for asked in items.questions]

    def list_choices(
        self, scoring: Scoring[QuestionItems], present: Sequence[int]
    ) -> tuple[Sequence[Sequence[str]], Sequence[TextChoice]]:
        """Return the words of each option; those of yes and no are the words of the question, apart for both."""
        texts: list[Sequence[str]] = []
        choices = []
        for index in present:
            asked = scoring.items.questions[index]
            choices.append(TextChoice(range(len(texts), len(texts) + len(asked.options)), asked.answer))
            question = lower_words(asked.question)
            for option in asked.options:
                said = [f"{word} {option.lower()}" for word in question]
                texts.append(said if asked.is_yes_no else lower_words(option))
        return texts, choices

    def observe(self, scoring: Scoring[QuestionItems], scores: Mapping[int, Floats]) -> Matched:
        """Return answers that name the options of the highest score, which share it."""
        best = {index: np.flatnonzero(values == values.max()).tolist() for index, values in scores.items()}
        return scoring.match({index: Answer(frozenset(named), 1 / len(named)) for index, named in best.items()})

    def solve_blindly(self, items: QuestionItems) -> Floats:
        """Return how far the ensemble of blind attackers answers each question."""
        sources = (items.source_ids[source] for source in items.sources)
        questions = [
            MultipleChoice(asked.question, asked.options, asked.answer, source, asked.group)
            for asked, source in zip(items.questions, sources, strict=True)
        ]
        return np.array(find_floor(audit_questions(questions)).right)

    def exported_items(self, about: JsonObject, documents: Sequence[JsonObject]) -> QuestionItems:
        """Return exported questions as items."""
        return QuestionItems(**about, questions=[StoredQuestion.of_row(document) for document in documents])

    def log_answer(self, document: JsonObject, answer: str) -> dict[str, str]:  # noqa: ARG002
        """Return the answer as free text."""
        return {FREE_TEXT: answer}

    def read_logged(self, items: QuestionItems, logged: Sequence[Mapping[str, str]]) -> list[Any]:
        """Return the answers that the default rules understand."""
        read = load_rules(DEFAULT_RULES)
        return [read_free_text(row[FREE_TEXT], asked, read) for row, asked in zip(logged, items.questions, strict=True)]


def score_answers(
    answers: Sequence[Answer | None], items: QuestionItems, agreement: float | None = None
) -> tuple[dict[str, ScoreColumn], list[str]]:
    """Return the columns of answers to questions, n, and findings; None is a missing answer, which is wrong.

    `agreement` is that of `score_permuted`, None without other orders of the options.

    Returns:
        ``accuracy``; ``accuracy-understood`` on the answers that a rule understood, where not all are;
        ``accuracy/KIND`` where there are several kinds; ``chance``, what guessing reaches; ``blind``, what the blind
        attackers reach together, and ``gain-over-blind``, by how much the answers are better; of yes and no
        ``balanced-accuracy`` and ``yes-share``; of questions that belong together ``group-accuracy``,
        ``group-prefix``, ``group-blind`` and ``group-gain-over-blind``, and ``group-accuracy/TYPE`` where every group
        has several questions of several types.
    """
    questions = items.questions
    right = np.array(
        [0.0 if answer is None else answer.score(asked) for answer, asked in zip(answers, questions, strict=True)]
    )
    understood = np.array([answer is not None and answer.is_understood for answer in answers], dtype=np.bool_)
    kinds = np.array([asked.kind for asked in questions], dtype=object)
    columns = {"accuracy": _mean(right, np.arange(len(right)))}
    if not understood.all():
        columns["accuracy-understood"] = _mean(right, np.flatnonzero(understood))
    for kind in dict.fromkeys(kinds) if len(set(kinds)) > 1 else ():
        columns[f"accuracy/{kind}"] = _mean(right, np.flatnonzero(kinds == kind))
    guessed = np.array([len(asked.right) / len(asked.options) for asked in questions])
    columns["chance"] = dataclasses.replace(_mean(guessed, np.arange(len(right))), known=True)
    blind = np.array([asked.blind for asked in questions], dtype=np.float64)
    tried = np.flatnonzero(np.isfinite(blind))
    findings = []
    if len(tried):
        columns["blind"] = _mean(blind, tried)
        columns["gain-over-blind"] = _mean(right - blind, tried)
        findings.append(
            f"blind is what blind attackers reach together that see one question at a time, without any video, on "
            f"{len(tried):,} of {len(right):,} questions; others may reach more."
        )
    else:
        findings.append(question_sentence((), len(right)))
    given = np.flatnonzero(understood)
    if is_worse_than_guessing(right[given], guessed[given], guessed[given] * (1 - guessed[given])):
        hint = "perhaps the answers count from another number, or the options were shown in another order"
        means = float(right[given].mean()), float(guessed[given].mean())
        findings.append(describe_guessing("accuracy of the answers that are understood", *means, hint))
    doubled = [asked.question_id for asked in questions if len(asked.right) > 1]
    if doubled:
        findings.append(
            "Questions with a further option of the text of the right one, which counts as right too: "
            f"{len(doubled):,}, such as {doubled[0][:80]}."
        )
    findings = [*describe_preferences(right, answers, questions, items.sources, agreement), *findings]
    columns |= _score_yes_no(right, answers, items)
    columns |= _score_groups(right, blind, items)
    return columns, findings


def _mean(values: Floats, items: Integers) -> ScoreColumn:
    chosen = values[items]
    return ScoreColumn(ColumnScores.from_means(chosen), items, binary=bool(np.isin(chosen, (0, 1)).all()))


def _leave_out(accuracy: ScoreColumn, items: QuestionItems, listed: Sequence[str]) -> ScoreColumn:
    """Return the accuracy on the questions that are not listed.

    Raises:
        VttdataError: when all are.
    """
    kept = np.array([index for index, name in enumerate(items.ids) if name not in set(listed)], dtype=np.int64)
    if not len(kept):
        raise VttdataError("The errata list all questions of the split; nothing is left to score.")
    return _mean(accuracy.scores.items, kept)


def _score_yes_no(right: Floats, answers: Sequence[Answer | None], items: QuestionItems) -> dict[str, ScoreColumn]:
    """Return the balanced accuracy on yes and no, and how often the answers that are understood say yes."""
    chosen = np.array([index for index, asked in enumerate(items.questions) if asked.is_yes_no], dtype=np.int64)
    if not len(chosen):
        return {}
    yes = [
        next(place for place, text in enumerate(asked.options) if fold_text(text) == "yes") if asked.is_yes_no else -1
        for asked in items.questions
    ]
    is_yes: Flags = np.array([items.questions[index].answer == yes[index] for index in chosen])
    values = right[chosen]
    columns = {}
    if is_yes.any() and not is_yes.all():
        statistics = np.column_stack([values * is_yes, is_yes, values * ~is_yes, ~is_yes]).astype(np.float64)
        columns["balanced-accuracy"] = ScoreColumn(ColumnScores(values, statistics, balanced_accuracy), chosen)
    named = {index: answers[index] for index in chosen.tolist()}
    said = np.array(
        [index for index, answer in named.items() if answer is not None and answer.named and answer.rating is None],
        dtype=np.int64,
    )
    if len(said):
        says_yes = np.zeros(len(right))
        for index in said.tolist():
            answer = answers[index]
            says_yes[index] = answer is not None and answer.named is not None and yes[index] in answer.named
        columns["yes-share"] = _mean(says_yes, said)
    return columns


def balanced_accuracy(sums: Floats, count: Floats) -> Floats:  # noqa: ARG001
    """Return the mean of two accuracies from sums of hits and numbers of each, ``(..., 4)``; NaN without one."""
    with np.errstate(invalid="ignore", divide="ignore"):
        means: Floats = (sums[..., 0] / sums[..., 1] + sums[..., 2] / sums[..., 3]) / 2
    return means


def _score_groups(right: Floats, blind: Floats, items: QuestionItems) -> dict[str, ScoreColumn]:
    """Return the scores of groups of two or more questions; a group counts as an item of its first question.

    `right` and `blind` are how far answers, and the blind attackers together, are right on each question, n.
    """
    members: dict[str, list[int]] = defaultdict(list)
    for index, asked in enumerate(items.questions):
        if asked.group is not None:
            members[asked.group].append(index)
    groups = [indices for indices in members.values() if len(indices) > 1]
    if not groups:
        return {}
    first = np.array([indices[0] for indices in groups], dtype=np.int64)

    def column(values: Iterable[float]) -> ScoreColumn:
        listed = np.array(list(values), dtype=np.float64)
        return ScoreColumn(ColumnScores.from_means(listed), first, binary=bool(np.isin(listed, (0, 1)).all()))

    columns = {
        "group-accuracy": column(right[indices].min() == 1 for indices in groups),
        "group-prefix": column(np.cumprod(right[indices] == 1).mean() for indices in groups),
    }
    tried = [indices for indices in groups if np.isfinite(blind[indices]).all()]
    if tried:
        # Options that are tied for an attacker are guessed for each question of a group on its own.
        reached = np.array([blind[indices].prod() for indices in tried])
        gained = np.array([float(right[indices].min() == 1) for indices in tried]) - reached
        rows = np.array([indices[0] for indices in tried], dtype=np.int64)
        columns["group-blind"] = ScoreColumn(ColumnScores.from_means(reached), rows)
        columns["group-gain-over-blind"] = ScoreColumn(ColumnScores.from_means(gained), rows)
    types = [asked.type for asked in items.questions]
    for name in find_shared_types([types[index] for index in indices] for indices in groups):
        of_type = ([index for index in indices if types[index] == name] for indices in groups)
        columns[f"group-accuracy/{name}"] = column(right[indices].min() == 1 for indices in of_type)
    return columns


def score_permuted(answers: Sequence[Answer | None], scoring: Scoring[QuestionItems]) -> dict[str, ScoreColumn]:
    """Return how answers hold when the options are shown in other orders, given in the files `Scoring.permuted`.

    Returns:
        ``agreement``: whether all runs name the same option, and ``circular-accuracy``: whether all are right.

    Raises:
        VttdataError: if a file cannot be read, or does not say which order was shown.
    """
    items = scoring.items
    runs = [answers]
    for path in scoring.permuted:
        columns = scoring.columns._replace(any_table=True)
        found = read_answers(path, items.questions, scoring.rules, must_show=True, columns=columns)
        runs.append(match_predictions(str(path), found.answers, items.ids, scoring.rule, noun="answer").values)
    same, circular = [], []
    for asked, *given in zip(items.questions, *runs, strict=True):
        named = {
            frozenset(min(asked.choices.copies(index)) for index in (answer and answer.named) or ()) for answer in given
        }
        same.append(len(named) == 1 and bool(named.pop()))
        circular.append(all(answer is not None and answer.score(asked) == 1 for answer in given))
    every = np.arange(len(items.ids))
    return {
        "agreement": _mean(np.array(same, dtype=np.float64), every),
        "circular-accuracy": _mean(np.array(circular, dtype=np.float64), every),
    }


TASK = QuestionsTask()
