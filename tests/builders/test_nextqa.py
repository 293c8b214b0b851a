"""NExT-QA: the real validation questions where they are at hand, and small tables of their form."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from builders.nextqa import read
from vttdata.errors import VttdataError

HEADER = "video,frame_count,width,height,question,answer,qid,type,a0,a1,a2,a3,a4"


def test_real_validation_has_published_counts(shared: Path) -> None:
    nextqa = read(shared / "data" / "questions" / "nextqa")
    questions = nextqa.questions
    assert (len(questions), len(nextqa.clips)) == (4_996, 570)
    assert Counter(question.answer for question in questions) == {0: 1013, 1: 1013, 2: 991, 3: 967, 4: 1012}
    # By the first letter of the types, as the paper groups them: causal, temporal, descriptive.
    assert Counter(str(question.type)[0] for question in questions) == {"C": 2607, "T": 1612, "D": 777}
    first = questions[0]
    assert (first.question_id, first.question) == ("4010069381_6", "how do the two man play the instrument")
    assert (first.options[first.answer], first.type) == ("roll the handle", "CH")
    assert {finding.kind: finding.count for finding in nextqa.findings} == {"unknown_length": 570, "same_options": 3}


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("v,9,6,4,why,5,0,CW,a,b,c,d,e", "val.csv:2: the answer '5' is no index from 0 to 4"),
        ("v,9,6,4,why,A,0,CW,a,b,c,d,e", "val.csv:2: the answer 'A' is no index from 0 to 4"),
        (",9,6,4,why,0,0,CW,a,b,c,d,e", "val.csv:2: the row names no video"),
        ("v,9,6,4,why,,0,CW,a,b,c,d,e", "val.csv:2: the column 'answer' is empty"),
        ("v,9,6,4,why,0,0,CW,a,b,,d,e", "val.csv:2: the column 'a2' is empty"),
        ("../v,9,6,4,why,0,0,CW,a,b,c,d,e", "val.csv:2: '../v' is not a usable id"),
        ("v,9,6,4,why,0,0,CW,a,b,c,d,e\n" * 2, "val.csv:3: there is another question with the id 'v_0'"),
    ],
)
def test_damaged_table_is_one_sentence(tmp_path: Path, row: str, words: str) -> None:
    (tmp_path / "val.csv").write_text(f"{HEADER}\n{row}\n")
    with pytest.raises(VttdataError) as refused:
        read(tmp_path)
    assert words in str(refused.value)
