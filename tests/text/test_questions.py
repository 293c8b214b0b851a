"""Tables of questions: options and answers are read as people write them, and never by chance."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vttdata.errors import VttdataError
from vttdata.text.questions import (
    Choices,
    decide_answers,
    find_option,
    letters,
    read_question_table,
    split_option_lines,
)


def decide(*answers: object, options: int = 3) -> list[int]:
    choices = [Choices(["cats", "dogs", "birds", "fish", "ants"][:options], letters(options))] * len(answers)
    return decide_answers(answers, choices, [f"t.csv:{line}" for line in range(2, 2 + len(answers))])


@pytest.mark.parametrize(
    ("answers", "indices"),
    [
        (("dogs", "Cats.", " birds "), [1, 0, 2]),
        (("B", "(c)", "a.", "C)"), [1, 2, 0, 2]),
        (("B. dogs", "A", "birds"), [1, 0, 2]),
        ((0, 1, 2), [0, 1, 2]),
        (("1", "3", "2.0"), [0, 2, 1]),
    ],
)
def test_notation_is_that_of_the_whole_file(answers: tuple[object, ...], indices: list[int]) -> None:
    assert decide(*answers) == indices


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ((1, 2), "t.csv:2: the answer '1' reads as index from 0 and as number from 1"),
        ((1, 0, 3), "t.csv:3: the answer 0 counts from 0, but that of t.csv:4, 3 of 3 options, from 1"),
        (("A", "D"), "t.csv:3: the answer 'D' is no option, of 3"),
        ((0, 1, 7), "t.csv:4: the answer '7' is no option"),
        ((None, "A"), "t.csv:2: the answer 'None' is no option"),
        (("B. cats", "A"), "t.csv:2: the answer 'B. cats' is no option"),
        ((True,), "t.csv:2: the answer 'True' is no option"),
    ],
)
def test_answer_that_fits_no_or_several_notations_is_refused(answers: tuple[object, ...], words: str) -> None:
    with pytest.raises(VttdataError) as refused:
        decide(*answers)
    assert words in str(refused.value)


def test_numbers_as_options_are_not_taken_for_indices() -> None:
    choices = [Choices(["2", "3", "1"], letters(3))] * 2
    assert decide_answers(["3", "3"], [Choices(["3", "4"], letters(2))] * 2, ["a", "b"]) == [0, 0]
    with pytest.raises(VttdataError, match="and so does every answer of the file"):
        decide_answers(["1", "2"], choices, ["a", "b"])


@given(st.lists(st.integers(0, 4), min_size=1, max_size=20), st.booleans())
def test_numbers_are_right_or_refused(indices: list[int], from_one: bool) -> None:
    try:
        found = decide(*(index + from_one for index in indices), options=5)
    except VttdataError:
        assert min(indices) > 0 or from_one
        assert max(indices) < 4 or not from_one
    else:
        assert found == indices


@pytest.mark.parametrize(
    ("text", "options", "labels"),
    [
        ("Which?\nA. dance\nB. kiss\nC.Both at once", ("dance", "kiss", "Both at once"), ("A", "B", "C")),
        ("Which?\nOption 1: one.\nOption 2: two.", ("one.", "two."), ("Option 1", "Option 2")),
        ("Who?\n(A) he\n(B) she", ("he", "she"), ("A", "B")),
        ("B. is a title\nWho?\nA) he\nB) she", ("he", "she"), ("A", "B")),
    ],
)
def test_options_are_lines_of_the_question(text: str, options: tuple[str, ...], labels: tuple[str, ...]) -> None:
    lined = split_option_lines(text)
    assert lined is not None
    assert (lined.options, lined.labels) == (options, labels)


@pytest.mark.parametrize("text", ["Who?", "Who?\nA. he", "Who?\nA. he\nC. she", "How far?\n1.5 m\n2.5 m", ""])
def test_other_lines_are_no_options(text: str) -> None:
    assert split_option_lines(text) is None


def test_label_and_text_that_disagree_name_nothing() -> None:
    choices = Choices(["he", "she"], ("Option 1", "Option 2"))
    assert [find_option(text, choices) for text in ("Option 2", "Option 2: she", "B. she", "Option 1: she")] == [
        1,
        1,
        1,
        None,
    ]


@pytest.mark.parametrize(
    "row",
    [
        {"options": ["a cat", "a dog"], "answer": "B"},
        {"candidates": ["a cat", "a dog"], "answer": "a dog"},
        {"options": '["a cat", "a dog"]', "answer": "a dog"},
        {"options": "['a cat', 'a dog']", "answer": "a dog"},
        {"options": {"A": "a cat", "B": "a dog"}, "answer": "B"},
        {"options": ["A. a cat", "B. a dog"], "answer": "B. a dog"},
        {"option_0": "a cat", "option_1": "a dog", "answer_index": 1},
        {"a0": "a cat", "a1": "a dog", "answer_number": 2},
        {"A": "a cat", "B": "a dog", "Answer": "b"},
        {"opt_a": "a cat", "opt_b": "a dog", "answer": "b"},
        {"Option A": "a cat", "Option B": "a dog", "answer": "B"},
        {"choice_1": "a cat", "choice_2": "a dog", "answer_letter": "B"},
        {"question": "what?\nA. a cat\nB. a dog", "answer": "B"},
    ],
)
def test_options_are_columns_lists_or_lines(tmp_path: Path, row: dict[str, Any]) -> None:
    (tmp_path / "q.jsonl").write_text(json.dumps({"question": "what?", "video": "v.mp4"} | row))
    read = read_question_table(tmp_path / "q.jsonl")
    assert read is not None
    assert (read[0].question, list(read[0].choices.options), read[0].answer) == ("what?", ["a cat", "a dog"], 1)
    assert read[0].video_id == "v"


WORDS = [f"word {number}" for number in range(12)]


@pytest.mark.parametrize(
    "names",
    [
        [f"option_{number}" for number in range(1, 11)],
        [f"Option {number}" for number in range(12)],
        [f"a{number}" for number in range(12)],
        list("ABCDEFGHIJK"),
    ],
)
def test_option_columns_are_a_run_from_the_first(tmp_path: Path, names: list[str]) -> None:
    # The order of the columns says nothing, and a letter that no A precedes is something else.
    cells = dict(reversed([*zip(names, WORDS, strict=False)])) | ({} if names[0] == "A" else {"i": "7", "g": "c"})
    (tmp_path / "q.jsonl").write_text(json.dumps({"question": "what?", "answer": "word 2", **cells}))
    read = read_question_table(tmp_path / "q.jsonl")
    assert read is not None
    assert (list(read[0].choices.options), read[0].answer) == (WORDS[: len(names)], 2)


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ({"A": "One", "B": "", "C": "Two", "D": "Three"}, "q.csv:2: the option 'b' is empty, but 'd' after it is not"),
        ({"option_0": "", "option_1": "x", "option_2": "y"}, "q.csv:2: the option 'option_0' is empty, but 'option_2'"),
        ({"A": "x", "B": "y", "D": "z"}, "q.csv:2: the options are 'a', 'b', and 'd' is beyond them"),
        ({"A": "x", "B": "y", "i": "0"}, "q.csv:2: the options are 'a', 'b', and 'i' is beyond them"),
        ({"option_2": "x", "option_3": "y"}, "q.csv:2: the options are none, and 'option_2' is beyond them"),
        ({"option_1": "x", "option_2": "y", "A": "z", "B": "w"}, "'option_1', 'option_2', and 'a' is beyond them"),
        ({"options": str({"A": "x", "C": "y"})}, "q.csv:2: the options a, c are not numbered or lettered"),
        ({"options": str({"A": "x", "B": "y", "D": "z"})}, "q.csv:2: the options are 'a', 'b', and 'd' is beyond them"),
    ],
)
def test_letters_never_move(tmp_path: Path, cells: dict[str, str], words: str) -> None:
    with (tmp_path / "q.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([["question", "answer_letter", *cells], ["what?", "B", *cells.values()]])
    with pytest.raises(VttdataError) as refused:
        read_question_table(tmp_path / "q.csv")
    assert words in str(refused.value)


def test_options_may_be_empty_at_the_end(tmp_path: Path) -> None:
    (tmp_path / "q.csv").write_text("question,A,B,C,D,answer\nwhat?,x,y,z,w,D\nwhere?,x,y,,,B\n")
    read = read_question_table(tmp_path / "q.csv")
    assert read is not None
    assert [len(row.choices.options) for row in read] == [4, 2]


def test_answer_may_be_the_text_of_two_options(tmp_path: Path) -> None:
    rows = [{"options": ["x", "y", "x"], "answer": "x"}, {"options": ["x", "y", "z"], "answer": "z"}]
    (tmp_path / "q.jsonl").write_text("".join(json.dumps({"question": "what?", **row}) + "\n" for row in rows))
    read = read_question_table(tmp_path / "q.jsonl")
    assert read is not None
    assert [row.answer for row in read] == [0, 2]
    assert read[0].choices.copies(2) == {0, 2}


def test_yes_and_no_need_no_options(tmp_path: Path) -> None:
    (tmp_path / "q.csv").write_text("clip,question,says\nv,is it?,Yes.\nw,was it?,no\n")
    read = read_question_table(tmp_path / "q.csv", {"answer": "says", "video_id": "clip"})
    assert read is not None
    assert [(row.choices.options, row.answer, row.video_id) for row in read] == [
        (["yes", "no"], 0, "v"),
        (["yes", "no"], 1, "w"),
    ]


@pytest.mark.parametrize("names", [("option_0", "option_1"), ("A", "B")])
def test_columns_of_options_are_named(tmp_path: Path, names: tuple[str, str]) -> None:
    (tmp_path / "q.csv").write_text("q,first,second,C,gold\nwhat?,cat,dog,x,B\nwho?,he,she,y,A\n")
    columns = {"question": "q", "answer": "gold", names[0]: "first", names[1]: "second"}
    read = read_question_table(tmp_path / "q.csv", columns)
    assert read is not None
    assert [(row.question, row.choices.options, row.answer) for row in read] == [
        ("what?", ["cat", "dog"], 1),
        ("who?", ["he", "she"], 0),
    ]


def test_column_that_has_another_meaning_is_no_option(tmp_path: Path) -> None:
    (tmp_path / "q.csv").write_text("q,A,B,gold\nwhat?,cat,dog,B\n")
    read = read_question_table(tmp_path / "q.csv", {"question": "q", "answer": "gold"})
    assert read is not None
    assert (read[0].question, read[0].choices.options, read[0].answer) == ("what?", ["cat", "dog"], 1)


def test_unknown_names_of_options_are_shown(tmp_path: Path) -> None:
    (tmp_path / "q.csv").write_text("question,first,second,answer\nwhat?,cat,dog,B\n")
    with pytest.raises(VttdataError, match=r"such as option_0.* the columns are question, first, second, answer"):
        read_question_table(tmp_path / "q.csv")


def test_unknown_column_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "q.csv").write_text("question,answer\nis it?,yes\n")
    with pytest.raises(VttdataError, match=r"q\.csv:2: there is no column 'truth'"):
        read_question_table(tmp_path / "q.csv", {"answer": "truth"})
    with pytest.raises(VttdataError, match="has no column 'reply'"):
        read_question_table(tmp_path / "q.csv", {"reply": "answer"})
