"""Answers to questions are read by the stated rules, from files as models write them; oracles are published scores."""

from __future__ import annotations

import csv
import json
import random
import re
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.evaluate.model_answers import ANSWERS, QUESTIONS
from tests.helpers.question_sets import read_set
from vttdata.annotations import Annotations
from vttdata.dataset.questions import StoredQuestion
from vttdata.errors import VttdataError
from vttdata.evaluate.answers import RULES, Answer, read_answers, read_free_text
from vttdata.evaluate.predictions import NamedColumns
from vttdata.text.questions import letters

ANIMALS = ("a cat", "a dog", "a bird")


def asked(number: int = 0, options: Sequence[str] = ANIMALS, answer: int = 0, **changes: Any) -> StoredQuestion:
    known = {"kind": "multiple_choice", "question": f"what is {number}?", "labels": letters(len(options))} | changes
    names = f"q{number}", f"v{number}"
    return StoredQuestion(*names, known["kind"], known["question"], tuple(options), tuple(known["labels"]), answer)


def asked_of(official: Annotations) -> dict[str, StoredQuestion]:
    return {
        each.question_id: StoredQuestion(*(getattr(each, field.name) for field in fields(each)))
        for each in official.questions
    }


def write(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def named(path: Path, questions: Sequence[StoredQuestion], rules: str = "standard-1") -> list[frozenset[int] | None]:
    return [answer.named for _, answer in read_answers(path, questions, rules).answers]


# The authors' own scores of these files: items, understood by a rule, accuracy by rules alone, and with their judge.
TEMPCOMPASS = {
    ("video-llava", "multiple_choice"): (1_580, 1_580, 0.4557, 0.4557, (0.760, 0.352, 0.356, 0.377, 0.410)),
    ("video-llava", "yes_no"): (2_453, 2_453, 0.5638, 0.5638, (0.743, 0.518, 0.503, 0.492, 0.511)),
    ("video-llava", "caption_matching"): (1_503, 1_496, 0.6327, 0.6334, (0.879, 0.538, 0.584, 0.590, 0.583)),
    ("gemini", "multiple_choice"): (1_580, 1_458, 0.5949, 0.6392, (0.967, 0.433, 0.552, 0.556, 0.677)),
    ("gemini", "yes_no"): (2_453, 2_438, 0.7016, 0.7032, (0.882, 0.545, 0.639, 0.688, 0.732)),
    ("gemini", "caption_matching"): (1_503, 1_353, 0.7026, 0.7745, (0.980, 0.630, 0.656, 0.810, 0.809)),
}
ASPECTS = ("action", "direction", "speed", "order", "attribute_change")


@pytest.mark.parametrize("model", ["video-llava", "gemini"])
def test_tempcompass_scores_are_the_published_ones(shared: Path, model: str) -> None:
    folder = shared / "data" / "questions" / "tempcompass"
    questions = asked_of(read_set("tempcompass", folder))
    found: dict[str, dict[str, dict[str, Answer]]] = {}
    for source in ("predictions", "auto_eval_results"):
        by_kind: dict[str, dict[str, Answer]] = defaultdict(dict)
        for name, answer in read_answers(folder / source / model, list(questions.values()), "tempcompass-1").answers:
            by_kind[questions[name].kind][name] = answer
        found[source] = by_kind
    for kind, answers in found["predictions"].items():
        items, understood, by_rules, with_judge, aspects = TEMPCOMPASS[model, kind]
        assert len(answers) == items
        assert sum(answer.is_understood for answer in answers.values()) == understood
        right = sum(answer.score(questions[name]) for name, answer in answers.items())
        assert round(right / items, 4) == by_rules
        rated = {name: answer.score(questions[name]) for name, answer in found["auto_eval_results"][kind].items()}
        assert round(sum(rated.values()) / items, 4) == with_judge
        for aspect, official in zip(ASPECTS, aspects, strict=True):
            of_aspect = [value for name, value in rated.items() if name.split("/")[2] == aspect]
            assert round(sum(of_aspect) / len(of_aspect), 3) == official


@pytest.mark.parametrize("notation", ["index", "number", "letter", "text", "line", "mixed"])
@pytest.mark.sampled(2)
def test_nextqa_answers_are_the_same_in_every_notation(shared: Path, tmp_path: Path, notation: str) -> None:
    questions = list(asked_of(read_set("nextqa", shared / "data" / "questions" / "nextqa")).values())
    draw = random.Random(1)
    chosen = [each.answer if draw.random() < 0.6 else draw.randrange(5) for each in questions]
    with (tmp_path / "answers.csv").open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["question_id", "prediction"])
        for number, (each, index) in enumerate(zip(questions, chosen, strict=True)):
            text, letter = each.choices.options[index], "ABCDE"[index]
            forms = {"index": index, "number": index + 1, "letter": letter, "text": text, "line": f"{letter}. {text}"}
            mixed = (letter, text.upper(), f"{letter}. {text}", f"({letter})", f"The answer is {letter}.")[number % 5]
            writer.writerow([each.question_id, {**forms, "mixed": mixed}[notation]])
    found = named(tmp_path / "answers.csv", questions)
    # Three questions have two options with the same text, which names both.
    several = [number for number, options in enumerate(found) if options != {chosen[number]}]
    assert len(several) <= 3
    assert all(options is not None and chosen[number] in options for number, options in enumerate(found))
    assert all(len(set(questions[number].choices.options)) == 4 for number in several)


@pytest.mark.parametrize(
    ("rules", "text", "options"),
    [
        ("standard-1", "A dog.", {1}),
        ("standard-1", " b ", {1}),
        ("standard-1", "**B. a dog**", {1}),
        ("standard-1", "B) it is a dog, since it barks", {1}),
        ("standard-1", "(B) barks", {1}),
        ("standard-1", "I think that the answer is B.", {1}),
        ("standard-1", "Answer: (C)", {2}),
        ("standard-1", "The answer is a dog, I think", None),
        ("standard-1", "Option A or option B.", None),
        ("standard-1", "B. a cat", {1}),
        ("standard-1", "J.", set()),
        ("standard-1", "A.M. was the time", None),
        ("standard-1", "it barks", None),
        ("first-word-1", "B it is", {1}),
        ("first-word-1", "it is B", None),
        ("tempcompass-1", "B", {1}),
        ("tempcompass-1", "B) x", {1}),
        ("tempcompass-1", "D", set()),
        ("tempcompass-1", " B", {1}),
        ("tempcompass-1", "B ", None),
        ("tempcompass-2", " B\n", {1}),
        ("tempcompass-1", "a dog", None),
    ],
)
def test_rules_of_multiple_choice(rules: str, text: str, options: set[int] | None) -> None:
    found = RULES[rules](text, asked())
    assert (None if found is None else set(found)) == options


def letters_read(rules: str, name: str, text: str) -> str:
    """Return the letters of the options that rules read in an answer of the table."""
    options = QUESTIONS[name]
    found = read_free_text(text, asked(options=options), RULES[rules]).named
    return "".join(letters(len(options))[index] for index in sorted(found or ()))


def test_answers_of_models_are_read_as_a_reader_does() -> None:
    differing = {
        answer[1:]: found for answer in ANSWERS if (found := letters_read("standard-2", *answer[:2])) != answer[2]
    }
    assert not differing
    assert len(ANSWERS) > 200


def test_older_rules_read_what_they_did() -> None:
    read = [(letters_read("standard-1", name, text), meaning) for name, text, meaning in ANSWERS]
    right = sum(found == meaning for found, meaning in read)
    wrong = sum(bool(found) and found != meaning for found, meaning in read)
    assert (len(read), right, wrong) == (265, 134, 21)


@given(st.permutations(range(4)), st.sampled_from([each for each in ANSWERS if each[0] == "animal" and each[2]]))
def test_reading_follows_the_options_and_not_their_letters(order: list[int], answer: tuple[str, str, str]) -> None:
    # The same answer with its letters and the options in another order.
    options = QUESTIONS["animal"]
    letter_of = {"ABCD"[old]: "ABCD"[order.index(old)] for old in range(4)}
    text = re.sub(r"(?<![A-Za-z.])[A-D](?![A-Za-z]|\.M)", lambda match: letter_of[match[0]], answer[1])
    # Small letters and full-width ones stay, and so do article and repeated options.
    assume(not re.search(r"(?<!\w)[a-d](?!\w)|[\uff21-\uff3a]|\bA [a-z]", answer[1]) and "\nB. a" not in answer[1])
    found = RULES["standard-2"](text, asked(options=[options[index] for index in order]))
    assert found is not None
    assert {options[order[index]] for index in found} == {options["ABCD".index(answer[2])]}


@given(st.text(alphabet="ABab .,:()\n{}<>/'answerisnotthk"))
def test_any_text_names_one_option_or_none(text: str) -> None:
    found = RULES["standard-2"](text, asked())
    assert found is None or len(found) <= 1


@pytest.mark.parametrize("text", ["answer is not " * 3000, "<answer>" * 5000, '{"answer":' * 5000])
def test_long_answers_end(text: str) -> None:
    assert not RULES["standard-2"](text, asked())


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("Option 2", {1}),
        ("Option 2: she sits", {1}),
        ("Option 2: she is seated", {1}),
        ("Option 2: he sits", None),
        ("The answer is Option 2.", {1}),
        ("Answer: 2", {1}),
        ("2", None),
        ("Option 1 or Option 2", None),
        ("<think>Option 1?</think>Option 2", {1}),
        ("Neither option 1 nor option 2.", None),
    ],
)
def test_labels_of_options_are_read_as_letters_are(text: str, options: set[int] | None) -> None:
    labelled = asked(options=("he sits", "she sits"), labels=("Option 1", "Option 2"))
    assert RULES["standard-2"](text, labelled) == options


@pytest.mark.parametrize(
    ("rules", "text", "options"),
    [
        ("standard-1", "Yes, it is.", {0}),
        ("standard-1", "nothing", None),
        ("standard-1", "**No**", {1}),
        ("first-word-1", "no, yes", {1}),
        ("first-word-1", "I say yes", None),
        ("tempcompass-1", "nothing", {1}),
        ("videohallucer-1", "no, yes", {0, 1}),
        ("videohallucer-1", "I say yes", {0}),
        ("videohallucer-1", "nothing", None),
    ],
)
def test_rules_of_yes_and_no(rules: str, text: str, options: set[int] | None) -> None:
    found = RULES[rules](text, asked(options=("yes", "no"), kind="yes_no"))
    assert (None if found is None else set(found)) == options


@given(st.permutations(range(4)), st.integers(0, 3), st.sampled_from(["letter", "index", "text", "scores"]))
def test_options_and_answers_permuted_together_score_the_same(
    tmp_path_factory: pytest.TempPathFactory, order: list[int], chosen: int, notation: str
) -> None:
    options = ("a cat", "a dog", "a bird", "a fish")
    questions = [asked(number, options) for number in range(8)]
    rows = []
    for number, each in enumerate(questions):
        # All places occur, so that numbers are known to count from 0.
        place = (order.index(chosen) + number) % 4
        answer: dict[str, Any] = {
            "letter": {"prediction": "ABCD"[place]},
            "index": {"prediction": place},
            "text": {"prediction": options[order[place]]},
            "scores": {"scores": [float(index == place) for index in range(4)]},
        }[notation]
        rows.append({"question_id": each.question_id, "options": [options[index] for index in order], **answer})
    path = write(tmp_path_factory.mktemp("answers") / "a.jsonl", rows)
    places = [(order.index(chosen) + number) % 4 for number in range(8)]
    assert named(path, questions) == [frozenset({order[place]}) for place in places]


def test_rows_name_questions_by_id_or_by_video_and_text(tmp_path: Path) -> None:
    questions = [asked(0), asked(1)]
    lines = "what is 1?\nA. a cat\nB. a dog\nC. a bird"
    rows = [
        {"video": "v0.mp4", "question": "What is 0?", "response": "A"},
        {"video": "v1", "question": lines, "pred": "C"},
    ]
    assert [
        (name, answer.named)
        for name, answer in read_answers(write(tmp_path / "a.jsonl", rows), questions, "standard-1").answers
    ] == [
        ("q0", {0}),
        ("q1", {2}),
    ]
    (tmp_path / "b.json").write_text(
        json.dumps({"q0": {"prediction": 2, "answer": 0}, "q1": {"prediction": 0, "answer": 1}})
    )
    assert named(tmp_path / "b.json", questions) == [{2}, {0}]
    (tmp_path / "c.json").write_text(json.dumps({"q0": "B", "q1": None}))
    assert named(tmp_path / "c.json", questions) == [{1}, None]


def test_facts_beside_the_answers_of_eventhallusion_are_no_answers(tmp_path: Path) -> None:
    def video(number: int, answer: str, prediction: str | None) -> dict[str, Any]:
        truth = {"type": "hallucination", "question": f"what is {number}?", "answer": answer}
        facts = {"id": f"v{number}", "length": "00:02", "event_info": {"scene": "a yard"}, "judgement": "Yes."}
        return facts | {"questions": [truth], "qa": [{**truth, "prediction": prediction}]}

    questions = [asked(number, ("yes", "no"), 1, kind="yes_no") for number in range(3)]
    content = {
        "entire": {"v0": video(0, "No.", "Yes, he is."), "v1": video(1, "No.", None)},
        "interleave": {"v2": video(2, "Yes.", "No.")},
    }
    (tmp_path / "model.json").write_text(json.dumps(content))
    answers = read_answers(tmp_path / "model.json", questions, "standard-1").answers
    assert [(name, answer.named) for name, answer in answers] == [("q0", {0}), ("q1", None), ("q2", {1})]


@given(st.lists(st.tuples(*[st.sampled_from(["Yes", "no.", "No, yes", "who knows"])] * 2), min_size=1, max_size=5))
def test_pairs_of_videohallucer_score_as_its_script(predicted: list[tuple[str, str]]) -> None:
    # Both subsets ask the same about the same videos.
    subsets, parts = ("external_factual", "external_nonfactual"), {"basic": "yes", "hallucination": "no"}
    questions: dict[str, StoredQuestion] = {}
    official = []
    with tempfile.TemporaryDirectory() as folder:
        for subset in subsets:
            pairs = []
            for number, texts in enumerate(predicted if subset == subsets[0] else predicted[::-1]):
                pair: dict[str, Any] = {"type": "fact"}
                for (part, answer), text in zip(parts.items(), texts, strict=True):
                    name, asks = f"{subset}/{number}/{part}", f"is it {part}?"
                    known = (name, f"v{number}", "yes_no", asks, ("yes", "no"), letters(2))
                    questions[name] = StoredQuestion(*known, ["yes", "no"].index(answer))
                    pair[part] = {"video": f"v{number}.mp4", "question": asks, "answer": answer, "predict": text}
                    official.append((name, bool(re.search(rf"\b({answer})\b", text, re.IGNORECASE))))
                pairs.append(pair)
            (Path(folder) / f"{subset}_model.json").write_text(json.dumps(pairs))
        answers = read_answers(Path(folder), list(questions.values()), "videohallucer-1").answers
    assert [(name, bool(answer.score(questions[name]))) for name, answer in answers] == official


def test_highest_score_answers_and_ties_share(tmp_path: Path) -> None:
    rows = [{"qid": "q0", "scores": [0.5, 0.5, -1]}, {"qid": "q1", "score_0": -3, "score_1": -2, "score_2": -9}]
    first, second = (
        answer
        for _, answer in read_answers(write(tmp_path / "a.jsonl", rows), [asked(0), asked(1)], "standard-1").answers
    )
    assert [first.score(asked(answer=place)) for place in range(3)] == [0.5, 0.5, 0.0]
    assert [second.score(asked(answer=place)) for place in range(3)] == [0.0, 1.0, 0.0]


@pytest.mark.parametrize(
    ("cells", "score"),
    [
        ({"prediction": "D"}, 1),
        ({"prediction": "B"}, 1),
        ({"answer_index": 3}, 1),
        ({"prediction": "A"}, 0),
        ({"scores": [0, 1, 0, 1]}, 1),
        ({"scores": [1, 1, 0, 1]}, 2 / 3),
    ],
)
def test_either_copy_of_the_right_option_is_right(tmp_path: Path, cells: dict[str, Any], score: float) -> None:
    question = asked(options=("a cat", "a dog", "a bird", "A dog."), answer=1)
    path = write(tmp_path / "a.jsonl", [{"qid": "q0", **cells}])
    assert read_answers(path, [question], "standard-1").answers[0][1].score(question) == pytest.approx(score)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (
            [{"prediction": 1}, {"prediction": 2}],
            "a.jsonl:1: the answer '1' reads as index from 0 and as number from 1",
        ),
        ([{"prediction": 0}, {"prediction": 3}], "a.jsonl:1: the answer 0 counts from 0, but that of "),
        ([{"prediction": 0}, {"prediction": 7}], "a.jsonl:2: the answer '7' is no option"),
        ([{"answer_index": 3}], "a.jsonl:1: answer_index '3' is no option, of 3"),
        ([{"answer_letter": "D"}], "a.jsonl:1: answer_letter 'D' is no option, of 3"),
        ([{"scores": [1, 2]}], "a.jsonl:1: 3 scores are expected, found 2"),
        ([{"scores": [1, 2, None]}], "a.jsonl:1: 'scores' has 'None', which is no finite number"),
        ([{"prediction": "A", "rating": 5}], "a.jsonl:1: 'rating' is 5, not from 0 to 1"),
        ([{"prediction": "A", "options": ["a cat", "a dog"]}], "a.jsonl:1: the options are not those of the question"),
        ([{"comment": "A"}], "a.jsonl:1: there is no column 'prediction' or 'answer'; the columns are 'question_id', "),
    ],
)
def test_bad_answer_is_one_sentence(tmp_path: Path, rows: list[dict[str, Any]], words: str) -> None:
    path = write(tmp_path / "a.jsonl", [{"question_id": f"q{number}", **row} for number, row in enumerate(rows)])
    with pytest.raises(VttdataError) as refused:
        read_answers(path, [asked(0), asked(1)], "standard-1")
    assert words in str(refused.value)


def test_unknown_rules_are_refused(tmp_path: Path) -> None:
    with pytest.raises(VttdataError, match="There are no rules called 'tempcompas-1'"):
        read_answers(write(tmp_path / "a.jsonl", [{"qid": "q0", "pred": "A"}]), [asked()], "tempcompas-1")


BIRD_DOG_CAT = ("a bird", "a dog", "a cat")


@pytest.mark.parametrize(
    "cells",
    [
        {"options": str(list(BIRD_DOG_CAT))},
        {"options": str(BIRD_DOG_CAT)},
        {"options": json.dumps(BIRD_DOG_CAT)},
        {"options": "A. a bird\nB. a dog\nC. a cat"},
        {"options": str({"C": "a cat", "A": "a bird", "B": "a dog"})},
        {"choices": str(list(BIRD_DOG_CAT))},
        {"candidates": json.dumps([f"{number}. {text}" for number, text in enumerate(BIRD_DOG_CAT, 1)])},
        dict(zip("ABC", BIRD_DOG_CAT, strict=True)),
        {f"option_{number}": text for number, text in enumerate(BIRD_DOG_CAT)},
    ],
)
def test_shown_options_are_read_in_every_notation(tmp_path: Path, cells: dict[str, str]) -> None:
    with (tmp_path / "a.csv").open("w", newline="") as stream:
        rows = csv.DictWriter(stream, ["question_id", "prediction", *cells])
        rows.writeheader()
        rows.writerow({"question_id": "q0", "prediction": "A", **cells})
    # The first that was shown is the last of the question.
    assert named(tmp_path / "a.csv", [asked()]) == [frozenset({2})]


@pytest.mark.parametrize(
    "cells", [{"choices": [{"index": 0}]}, {"choices": 3}, {"candidates": ["A", "B", "C"]}, {"a": "x", "b": "y"}]
)
def test_columns_that_are_not_of_options_are_no_order(tmp_path: Path, cells: dict[str, object]) -> None:
    rows = [{"qid": "q0", "prediction": "A", **cells}]
    assert named(write(tmp_path / "a.jsonl", rows), [asked()]) == [frozenset({0})]


@pytest.mark.parametrize("cell", ["['a bird', 'a dog', ", "shuffled", 3, '{["a"]: 1}'])
def test_shown_options_that_cannot_be_read_are_refused(tmp_path: Path, cell: object) -> None:
    rows = [
        {"qid": "q0", "prediction": "A", "options": list(ANIMALS)},
        {"qid": "q1", "prediction": "A", "options": cell},
    ]
    with pytest.raises(VttdataError, match=r"a\.jsonl:2: .* is no list of options"):
        read_answers(write(tmp_path / "a.jsonl", rows), [asked(0), asked(1)], "standard-1")


def test_probabilities_of_options_are_no_shown_options(tmp_path: Path) -> None:
    rows = [{"qid": "q0", "prediction": "C", "A": 0.1, "B": 0.2, "C": 0.7}]
    assert named(write(tmp_path / "a.jsonl", rows), [asked()]) == [frozenset({2})]


@pytest.mark.parametrize("right", ["answer", "answer_letter", "text"])
@pytest.mark.parametrize("output", ["model_output", "output", "Generated Text", "pred", "response", "free_text"])
def test_output_of_a_system_is_read_before_what_may_be_right(tmp_path: Path, right: str, output: str) -> None:
    path = write(tmp_path / "a.jsonl", [{"qid": "q0", right: "A", output: "C"}])
    answers, notes = read_answers(path, [asked()], "standard-1")
    assert [answer.named for _, answer in answers] == [{2}]
    name = output.lower().replace(" ", "_")
    assert notes == [f"a.jsonl: the answers are those of '{name}', not of '{right}'."]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([{"answer": "A", "gemini": "B"}, {"answer": "B", "gemini": "B"}], "'gemini' reads as answers too"),
        ([{"answer": "A", "comment": "fine"}, {"answer": "A", "comment": "so"}], "every one is right"),
        ([{"answer": "A"}, {"answer": "B"}], ""),
        ([{"answer": "A", "question": "A"}, {"answer": "B", "question": "B"}], ""),
    ],
)
def test_column_that_may_be_what_is_right_is_named(tmp_path: Path, rows: list[dict[str, str]], words: str) -> None:
    path = write(tmp_path / "a.jsonl", [{"question_id": f"q{number}", **row} for number, row in enumerate(rows)])
    notes = read_answers(path, [asked(0), asked(1)], "standard-1").notes
    expected = f"a.jsonl: the answers are those of 'answer', and {words}; if it holds what is right, call the column "
    assert [note.startswith(expected) for note in notes] == [True] * bool(words)


@pytest.mark.parametrize("suffix", ["jsonl", "json"])
def test_columns_of_answers_may_have_any_names(tmp_path: Path, suffix: str) -> None:
    rows = [{"Key": "q0", "says": "C", "answer": "A", "prediction": "B"}, {"Key": "q1", "says": "B", "answer": "A"}]
    path = tmp_path / f"a.{suffix}"
    path.write_text(json.dumps(rows) if suffix == "json" else "".join(json.dumps(row) + "\n" for row in rows))
    questions = [asked(0), asked(1)]
    for any_table in (False, True):
        columns = NamedColumns({"question_id": "key", "prediction": "says"}, any_table)
        found = read_answers(path, questions, "standard-1", columns=columns).answers
        assert [(name, answer.named) for name, answer in found] == [("q0", {2}), ("q1", {1})]
    with pytest.raises(VttdataError, match=r"name the right ones with --columns question_id=COLUMN"):
        read_answers(write(tmp_path / "c.jsonl", [{"key": "q0", "says": "C"}]), questions, "standard-1")
    # Another name is not replaced by the usual one, but in tables of other systems.
    columns = NamedColumns({"question_id": "key", "prediction": "say"})
    with pytest.raises(VttdataError, match=r"no column 'say'.*did you mean 'says'"):
        read_answers(path, questions, "standard-1", columns=columns)
    usual = write(tmp_path / "b.jsonl", [{"qid": "q0", "prediction": "B"}])
    other = read_answers(usual, questions, "standard-1", columns=columns._replace(any_table=True)).answers
    assert [answer.named for _, answer in other] == [{1}]


def test_what_is_said_of_several_files_is_said_once(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    for number in range(2):
        rows = [{"question_id": f"q{number}", "prediction": "C", "answer": "A"}]
        write(tmp_path / "model" / f"{number}.jsonl", rows)
    notes = read_answers(tmp_path / "model", [asked(0), asked(1)], "standard-1").notes
    assert notes == ["0.jsonl, 1.jsonl: the answers are those of 'prediction', not of 'answer'."]


@pytest.mark.parametrize("name", ["v0.mkv", "clips/v0.MP4", "C:\\clips\\v0.webm", "v0"])
def test_questions_are_found_by_the_file_of_their_video(tmp_path: Path, name: str) -> None:
    rows = [{"video": name, "question": "What is 0?", "prediction": "B"}]
    assert named(write(tmp_path / "a.jsonl", rows), [asked()]) == [frozenset({1})]
    assert read_answers(write(tmp_path / "a.jsonl", rows), [asked()], "standard-1").answers[0][0] == "q0"
