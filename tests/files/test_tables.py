"""Tables are read as spreadsheets and programs write them, or refused with what to do."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from vttdata.errors import VttdataError
from vttdata.files.tables import Columns, parse_seconds, read_table

COLUMNS = Columns(("video_id", "caption", "score"), (("video_id",), ("caption",)), ("score",), {})
ROWS = [{"video_id": "v1", "caption": "a man, running"}, {"video_id": "v2", "caption": 'a "café"'}]


def read(path: Path, content: str | bytes, columns: Columns = COLUMNS) -> list[dict[str, Any]]:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return [row for _, row in read_table(path, columns)]


def refusal(path: Path, content: str | bytes, columns: Columns = COLUMNS) -> str:
    with pytest.raises(VttdataError) as error:
        read(path, content, columns)
    assert "\n" not in str(error.value)
    return str(error.value).removeprefix(f"{path.parent}/")


COMMAS = 'video_id,caption\r\nv1,"a man, running"\r\nv2,"a ""café"""\r\n'
SEMICOLONS = 'video_id;caption\r\nv1;a man, running\r\nv2;"a ""café"""\r\n'
TABS = 'video_id\tcaption\r\nv1\ta man, running\r\nv2\t"a ""café"""\r\n'


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", COMMAS),
        ("t.csv", SEMICOLONS),
        ("t.csv", TABS),
        ("t.tsv", TABS),
        ("t.txt", TABS),
        ("t.csv", SEMICOLONS.encode("utf-8-sig")),
        ("t.txt", TABS.encode("utf-16")),
        ("t.csv", SEMICOLONS.encode("utf-16-le")),
        ("t.csv", COMMAS.encode("utf-16-be")),
        ("t.csv", "sep=;\r\n" + SEMICOLONS),
        ("t.csv", '"sep=;"\r\n' + SEMICOLONS),
        ("t.csv", ("sep=,\n" + COMMAS).encode("utf-8-sig")),
        ("t.csv", "\r\n\r\n" + SEMICOLONS),
        ("t.csv", COMMAS.replace("\r\n", "\r")),
        ("t.csv", " Video ID , CAPTION \nv1 , \"a man, running\"\n v2,\"a \"\"café\"\"\"\n"),
        ("t.csv", SEMICOLONS.replace("\r\n", ";;\r\n") + ";;;\r\n;;;\r\n"),
        ("t.csv", "video_id;caption;;\r\nv1;a man, running\r\nv2;a \"café\";;;;\r\n;\r\n"),
        ("t.csv", ',video_id,caption\n0,v1,"a man, running"\n1,v2,"a ""café"""\n'),
        ("t.json", json.dumps(ROWS)),
        ("t.json", json.dumps([{"Video-ID": row["video_id"], "Caption": row["caption"]} for row in ROWS], indent=2)),
        ("t.json", "\n".join(json.dumps(row, indent=1) for row in ROWS)),
        ("t.jsonl", "\n".join(json.dumps(row) for row in ROWS)),
        ("t.jsonl", json.dumps(ROWS).encode("utf-16")),
    ],
)  # fmt: skip
def test_same_rows_are_read_however_the_table_is_written(tmp_path: Path, name: str, content: str | bytes) -> None:
    assert read(tmp_path / name, content) == ROWS


def test_delimiter_is_the_one_that_gives_the_known_columns(tmp_path: Path) -> None:
    text = "video_id;caption;place, time\nv1;a man, running;here, now\n"
    assert read(tmp_path / "t.csv", text) == [{"video_id": "v1", "caption": "a man, running"}]


def test_delimiter_that_cannot_be_told_is_asked_for(tmp_path: Path) -> None:
    text = "a;b,c;d\n1;2,3;4\n"
    message = refusal(tmp_path / "t.csv", text, Columns())
    assert message == "t.csv: its columns could be divided at ',' and at ';'; put the line sep=, before the first one."
    assert read(tmp_path / "t.csv", f"sep=;\n{text}", Columns()) == [{"a": "1", "b,c": "2,3", "d": "4"}]


def test_lines_are_counted_from_the_first_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('sep=;\n\nvideo_id;caption\nv1;"one\ntwo"\nv2;x\n')
    assert [line for line, _ in read_table(path, COLUMNS)] == [5, 6]
    assert refusal(path, "sep=;\nvideo_id;captoin\n").startswith("t.csv:2: there is no column 'caption'")


def test_either_of_two_columns_is_offered(tmp_path: Path) -> None:
    either = Columns(("url", "path"), (("url", "path"),), mapping={})
    assert refusal(tmp_path / "t.csv", "Film\na.mp4\n", either).endswith("with --columns url=COLUMN (or path).")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "Clip;Text\nv1;x\n",
            "t.csv:1: there is no column 'video_id' and none 'caption'; the columns are 'Clip', 'Text'; name the right "
            "ones with --columns video_id=COLUMN --columns caption=COLUMN.",
        ),
        (
            "video_id,Captoin\nv1,x\n",
            "t.csv:1: there is no column 'caption'; the columns are 'video_id', 'Captoin' (did you mean 'Captoin'?); "
            "name the right ones with --columns caption=Captoin.",
        ),
        ("video_id,Caption,CAPTION\n", "t.csv:1: the columns 'Caption' and 'CAPTION' could both be 'caption'; rename"),
        ("video_id,caption,x,x\n", "t.csv:1: the column 'x' is duplicated."),
        ("video_id,caption,score\nv1,x\n", "t.csv:2: 2 cells under 3 column names; a cell for 'score' is missing."),
        (
            "video_id,caption\nv1,a man, who runs\n",
            "t.csv:2: 3 cells under 2 column names; put a text with ',' in it into double quotes, or name the column "
            "of 'who runs'.",
        ),
        (
            'video_id,caption\nv1,x\nv2,"y\nv3,z\n',
            "t.csv:3: not valid CSV in the row that begins on this line (",
        ),
        (
            "video_id;caption\nv1;x\nv2;un café noir\n".encode("cp1252"),
            "t.csv:3: not UTF-8 text; in Windows-1252 it says 'v2;un café noir'. If that is right, save it as 'CSV "
            "UTF-8', or convert it: iconv -f WINDOWS-1252 -t UTF-8 /",
        ),
        (b"video_id,caption\nv1,\x81\x8d\n", "t.csv:2: not UTF-8 text ("),
        ("video_id,caption\n".encode("utf-16") + b"\x00", "t.csv: damaged or cut off; it is not valid UTF-16"),
    ],
)  # fmt: skip
def test_table_that_cannot_be_read_is_refused_with_what_to_do(
    tmp_path: Path, content: str | bytes, message: str
) -> None:
    assert refusal(tmp_path / "t.csv", content).startswith(message)


def test_conversion_that_the_message_names_works(tmp_path: Path) -> None:
    message = refusal(tmp_path / "t's table.csv", "video_id;caption\nv2;un café noir\n".encode("cp1252"))
    subprocess.run(["sh", "-c", message.partition("convert it: ")[2]], check=True)
    assert [row for _, row in read_table(tmp_path / "t's table-utf8.csv", COLUMNS)] == [
        {"video_id": "v2", "caption": "un café noir"}
    ]


def test_spreadsheet_file_is_refused_with_the_format_to_save_it_in(tmp_path: Path) -> None:
    assert "not '.ods'; save it as 'CSV UTF-8'." in refusal(tmp_path / "t.ods", b"PK")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.json", '[{"video_id": "v1", "caption": "x"}', "t.json: cut off, damaged or not JSON after value 1"),
        ("t.json", '[{"video_id": "v1", "caption": "x"}, {"vid', "t.json:2: cut off, damaged or not JSON"),
        ("t.json", '[{"video_id": "v1", "caption": "x"},]', "t.json:2: cut off, damaged or not JSON"),
        ("t.json", '[{"video_id": "v1", "caption": "x"}] x', "t.json: damaged or not JSON; there is more after"),
        ("t.json", "[1]", "t.json:1: a JSON object is expected, found int."),
        ("t.json", '[{"video_id": "v1"}]', "t.json:1: there is no column 'caption'; the columns are 'video_id'"),
        ("t.jsonl", '{"video_id": "v1", "caption": "x"}\n{', "t.jsonl:2: not a JSON object"),
        ("t.json", "video_id,caption\n", "t.json:1: cut off, damaged or not JSON"),
    ],
)  # fmt: skip
def test_damaged_json_is_refused_with_its_position(tmp_path: Path, name: str, content: str, message: str) -> None:
    assert refusal(tmp_path / name, content).startswith(message)


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(st.dictionaries(st.sampled_from("abc"), st.text(), min_size=1), max_size=8), chunk=st.integers(1, 40)
)
def test_json_list_gives_the_rows_of_the_standard_library_wherever_reading_pauses(
    rows: list[dict[str, str]], chunk: int
) -> None:
    from vttdata.files import tables

    for text in (json.dumps(rows), json.dumps(rows, indent=1, ensure_ascii=False)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(tables, "_JSON_CHUNK", chunk)
            assert [value for _, value in tables.parse_json("t", ".json", io.StringIO(text))] == rows


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(st.tuples(st.text("ab ;,\t\"'\n=1é"), st.text("ab ;,\t\"'\n=1é")), max_size=8),
    delimiter=st.sampled_from(",;\t"),
)
def test_what_the_standard_library_writes_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]], delimiter: str
) -> None:
    # A line of a cell may look like a row where it has the delimiter in it.
    assume(not any("\n" in cell and delimiter in cell for row in rows for cell in row))
    path = tmp_path_factory.mktemp("t") / "t.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream, delimiter=delimiter).writerows([("video_id", "caption"), *rows])
    expected = [
        {"video_id": a.strip() or None, "caption": b.strip() or None} for a, b in rows if a.strip() or b.strip()
    ]
    assert [row for _, row in read_table(path, COLUMNS)] == expected


def test_column_may_have_another_name_and_serve_twice(tmp_path: Path) -> None:
    columns = Columns(("video_id", "source", "caption"), (("caption",),), (), {"video_id": "file", "source": "File"})
    rows = read(tmp_path / "t.csv", "FILE,caption,source\na.mp4,x,y\n", columns)
    assert rows == [{"video_id": "a.mp4", "source": "a.mp4", "caption": "x"}]


def test_numbers_have_decimal_commas_only_between_semicolons(tmp_path: Path) -> None:
    assert read(tmp_path / "t.csv", "video_id;caption;score\nv;1,5;1,5\n")[0] == {
        "video_id": "v",
        "caption": "1,5",
        "score": "1.5",
    }
    assert read(tmp_path / "t.tsv", "video_id\tcaption\tscore\nv\tx\t1,5\n")[0]["score"] == "1,5"


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (3, 3.0), (2.5, 2.5), ("2.5", 2.5), (" .5 ", 0.5), ("-1", -1.0), ("1e2", 100.0), ("0:05", 5.0), ("1:5", 65.0),
        ("75:30", 4530.0), ("01:02:03.250", 3723.25), ("1:02:03,25", 3723.25),
    ],
)  # fmt: skip
def test_times_are_seconds_or_clock_times(value: Any, seconds: float) -> None:
    assert parse_seconds(value) == seconds


@pytest.mark.parametrize(
    "value", ["", "1:60", "1:75:00", "1:2:3:4", "-0:05", "1_0", "nan", "inf", "٣", True, None, [1], 10**400]
)
def test_anything_else_is_no_time(value: Any) -> None:
    assert parse_seconds(value) != parse_seconds(value)


@pytest.mark.parametrize("name", ["t.csv", "t.json", "t.jsonl"])
def test_memory_does_not_grow_with_the_table(tmp_path: Path, name: str) -> None:
    def peak(rows: int) -> int:
        values = [{"video_id": f"v{number}", "caption": "a man walks along the street"} for number in range(rows)]
        lines = [json.dumps(value) for value in values]
        if name == "t.csv":
            text = "video_id;caption\n" + "".join(f"{value['video_id']};{value['caption']}\n" for value in values)
        else:
            text = "\n".join(lines) if name == "t.jsonl" else f"[{', '.join(lines)}]"
        (tmp_path / name).write_text(text)
        del values, lines, text
        tracemalloc.start()
        assert sum(1 for _ in read_table(tmp_path / name, COLUMNS)) == rows
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return used

    assert peak(8_000) < 1.2 * peak(2_000) + 2**16
