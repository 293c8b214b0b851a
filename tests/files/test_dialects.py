"""One table written by many programs: it is read as the same rows or refused, never as other rows."""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.helpers.workbook import write_workbook
from vttdata.errors import VttdataError
from vttdata.evaluate.meta.judgments import read_judgment_table
from vttdata.evaluate.predictions import read_captions, read_foil_scores
from vttdata.files.id_lists import read_ids
from vttdata.files.tables import Columns, read_number, read_table
from vttdata.text.questions import read_question_table

Table = Sequence[dict[str, Any]]
NAMES = ("video_id", "caption", "score")
COLUMNS = Columns(NAMES, (("video_id",), ("caption",)), ("score",))


def delimited(
    delimiter: str, encoding: str = "utf-8", before: str = "", after: str = "", decimal: str = ".", **options: Any
) -> Callable[[Path, Table], None]:
    def write(path: Path, table: Table) -> None:
        text = io.StringIO(newline="")
        rows = csv.writer(text, delimiter=delimiter, **{"lineterminator": "\n", **options})
        rows.writerow(table[0])
        for row in table:
            rows.writerow(
                [str(value).replace(".", decimal) if isinstance(value, float) else value for value in row.values()]
            )
        path.write_bytes((before + text.getvalue() + after).encode(encoding))

    return write


def renamed(path: Path, table: Table) -> None:
    names = {name: name.replace("_", " ").title() for name in table[0]}
    delimited(",")(path, [{names[name]: value for name, value in row.items()} for row in table])


def as_json(form: Callable[[pd.DataFrame], Any]) -> Callable[[Path, Table], None]:
    return lambda path, table: path.write_text(form(pd.DataFrame(table)), encoding="utf-8") and None


def workbook(path: Path, table: Table) -> None:
    write_workbook(path, {"Sheet1": [[*table[0]], *([*row.values()] for row in table)], "Sheet2": []})


DIALECTS: dict[str, tuple[str, Callable[[Path, Table], None]]] = {
    "commas": ("csv", delimited(",")),
    "all quoted": ("csv", delimited(",", quoting=csv.QUOTE_ALL)),
    "semicolons": ("csv", delimited(";")),
    "decimal commas": ("csv", delimited(";", decimal=",")),
    "tabs in csv": ("csv", delimited("\t")),
    "tsv": ("tsv", delimited("\t")),
    "txt": ("txt", delimited("\t", quoting=csv.QUOTE_ALL)),
    "byte order mark": ("csv", delimited(",", "utf-8-sig")),
    "utf-16": ("csv", delimited(";", "utf-16")),
    "sep=": ("csv", delimited(";", before="sep=;\r\n", lineterminator="\r\n")),
    "empty end": ("csv", delimited(",", after=",,\r\n,,\r\n", lineterminator="\r\n")),
    "other case": ("csv", renamed),
    "pandas csv": ("csv", as_json(lambda frame: frame.to_csv())),
    "json list": ("json", as_json(lambda frame: frame.to_json(orient="records", indent=1))),
    "json lines": ("jsonl", as_json(lambda frame: frame.to_json(orient="records", lines=True))),
    "json lines under json": ("json", as_json(lambda frame: frame.to_json(orient="records", lines=True))),
    "pandas json": ("json", as_json(lambda frame: frame.to_json())),
    "pandas split": ("json", as_json(lambda frame: frame.to_json(orient="split"))),
    "pandas index": ("json", as_json(lambda frame: frame.to_json(orient="index"))),
    "pandas table": ("json", as_json(lambda frame: frame.to_json(orient="table"))),
    "lists": ("json", as_json(lambda frame: json.dumps(frame.to_dict("list")))),
    "coco": ("json", as_json(lambda frame: json.dumps({"info": {}, "annotations": frame.to_dict("records")}))),
    "excel": ("xlsx", workbook),
}
"""Name -> file name extension, and how a table is written."""

_TEXTS = (
    *("a man runs", "a", "None", "NA", "true", "1,5", "7", "a; b", "a, b", 'a "b"', '"', "'", "x\ty", "two\nlines"),
    *("=1+1", "caf\u00e9", "\u732b", " spaced ", "a,b,c", "x;y;z", '"quoted"', "#", "sep=;", "{}", "[1]", "50%", "-"),
)


def draw_table(seed: int) -> Table:
    """Return a table of one to six rows whose texts are made of what dialects use as marks."""
    draw = random.Random(seed)
    return [
        {
            "video_id": f"v{number}",
            "caption": draw.choice(("", " ", ", ", "; ", "\n", '"')).join(draw.choices(_TEXTS, k=draw.randint(1, 3))),
            "score": draw.randint(0, 100_000) / 1000,
        }
        for number in range(draw.randint(1, 6))
    ]


def plain(rows: Table) -> list[tuple[str, ...]]:
    """Return the texts of rows without spaces around them, and scores as numbers."""
    return [(str(row["video_id"]).strip(), str(row["caption"]).strip(), str(float(row["score"]))) for row in rows]


def read_dialects(folder: Path, seeds: Sequence[int]) -> dict[str, list[int]]:
    """Return the seeds of the tables that each dialect refuses; raise for one whose rows are others."""
    refused: dict[str, list[int]] = {name: [] for name in DIALECTS}
    for seed in seeds:
        table = draw_table(seed)
        for name, (suffix, write) in DIALECTS.items():
            path = folder / f"t.{suffix}"
            write(path, table)
            try:
                rows = list(read_table(path, COLUMNS))
                # As every reader of numbers does: tabs in a quoted cell of several lines may divide them into rows.
                scores = [read_number(path, line, "score", row["score"]) for line, row in rows]
            except VttdataError:
                refused[name].append(seed)
            else:
                read = [{**row, "score": score} for (_, row), score in zip(rows, scores, strict=True)]
                assert plain(read) == plain(table), (name, seed)
    return refused


def test_every_dialect_gives_the_same_rows_or_a_refusal(tmp_path: Path) -> None:
    refused = read_dialects(tmp_path, [*range(40, 80), 3459])
    assert len(refused) > 20
    assert max(map(len, refused.values())) < 20
    assert not any(refused[name] for name in DIALECTS if DIALECTS[name][0] in ("json", "jsonl", "xlsx"))


QUESTION = {"question": "what?", "A": "x", "B": "y", "answer": "B", "video_id": "v1"}
ROWS: dict[str, tuple[Table, Callable[[Path], Any], Any]] = {
    "captions": ([{"video_id": "v1", "caption": "a man"}], lambda path: list(read_captions(path)), [("v1", "a man")]),
    "pairs": (
        [{"foil_id": "p1", "true_score": 1.5, "foil_score": 0.5}],
        lambda path: list(read_foil_scores(path)),
        [("p1", (1.5, 0.5))],
    ),
    "judgments": (
        [{"item": "v1", "caption": "a man", "score": 1.5}],
        lambda path: read_judgment_table(path).raw.tolist(),
        [1.5],
    ),
    "ids": ([{"video_id": "v1", "split": "test"}], read_ids, ["v1"]),
    "questions": (
        [QUESTION],
        lambda path: [(row.choices.options, row.answer) for row in read_question_table(path) or ()],
        [(["x", "y"], 1)],
    ),
}


@pytest.mark.parametrize("reader", ROWS)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_readers_take_the_same_dialects(tmp_path: Path, reader: str, dialect: str) -> None:
    table, read, expected = ROWS[reader]
    suffix, write = DIALECTS[dialect]
    write(tmp_path / f"t.{suffix}", table)
    assert read(tmp_path / f"t.{suffix}") == expected


@pytest.mark.parametrize(
    ("sheets", "words"),
    [
        ({"a": [["video_id", "caption"], ["v", "x"]], "b": [["y"]]}, "the sheets 'a', 'b' have content"),
        ({"a": [["video_id"], ["v"]]}, "t.xlsx:1: there is no column 'caption'"),
        ({"a": [["video_id", "caption"], ["v", "x", "more"]]}, "t.xlsx:2: 3 cells under 2 column names"),
    ],
)
def test_workbook_that_is_no_table_is_refused(tmp_path: Path, sheets: dict[str, Any], words: str) -> None:
    with pytest.raises(VttdataError) as refused:
        list(read_table(write_workbook(tmp_path / "t.xlsx", sheets), COLUMNS))
    assert words in str(refused.value)


def test_numbers_of_a_workbook_are_texts_of_a_table(tmp_path: Path) -> None:
    rows = [["video_id", "caption", "score"], [7, True, 0.5], [None, None, None], ["007", None, 1e-3]]
    assert [row for _, row in read_table(write_workbook(tmp_path / "t.xlsx", {"a": rows}), COLUMNS)] == [
        {"video_id": "7", "caption": "TRUE", "score": "0.5"},
        {"video_id": "007", "caption": None, "score": "0.001"},
    ]
