"""Quotes in delimited text: cells that they enclose are read as written, and no row is lost in a cell."""

from __future__ import annotations

import io

import pytest

from vttdata.errors import VttdataError
from vttdata.files.delimited import MAX_CELL_CHARACTERS, read_records


def records(content: str, delimiter: str = "\t") -> list[tuple[int, list[str]]]:
    return list(read_records("t", io.StringIO(content, newline=""), delimiter))


def cells(content: str, delimiter: str = "\t") -> list[list[str]]:
    return [row for _, row in records(content, delimiter)]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_quote_between_tabs_that_nothing_closes_takes_no_rows(end: str) -> None:
    lines = ["id\tcaption", 'a\t"a man talks loudly', "b\ta dog barks", 'c\ta boy says hi there"', "d\tend"]
    assert records(end.join(lines) + end) == [(number, line.split("\t")) for number, line in enumerate(lines, 1)]


@pytest.mark.parametrize(
    "line",
    [
        'a\t"hi" she says',
        'a\t"hi" and "ho"',
        'a\t"the only one',
        'a\t"hi" ',
        'a\the says "hi"',
        '"a\tb"',
        '5" disk\t6"',
        'a\t"""hi" x',
        'a\t"',
    ],
)
@pytest.mark.parametrize("following", ["", "\nb\tnext", '\nb\tsays "ho"', '\n"b"\tc'])
def test_quote_between_tabs_that_encloses_no_whole_cell_is_text(line: str, following: str) -> None:
    rows = cells(f"id\tcaption\n{line}{following}")
    assert rows[1] == line.split("\t")
    assert len(rows) == 2 + bool(following)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('a\t"hi"', ["a", "hi"]),
        ('a\t"he says ""hi"""', ["a", 'he says "hi"']),
        ('"a"\t""', ["a", ""]),
        ('a\t"one\ttwo"', ["a", "one\ttwo"]),
        ('a\t"one\ntwo"', ["a", "one\ntwo"]),
        ('"one\r\ntwo"\tb', ["one\r\ntwo", "b"]),
        ('"one\n\n\ntwo"\t"three\nfour"', ["one\n\n\ntwo", "three\nfour"]),
        ('a\t"one ""two\nthree"" four"', ["a", 'one "two\nthree" four']),
    ],
)
def test_cell_between_tabs_that_quotes_enclose_is_read_as_spreadsheets_write_it(
    content: str, expected: list[str]
) -> None:
    assert cells(f"id\tcaption\n{content}\nb\tnext") == [["id", "caption"], expected, ["b", "next"]]


def test_only_column_between_quotes_may_have_line_ends() -> None:
    assert records('id\n"a\nb"\nc\n') == [(1, ["id"]), (3, ["a\nb"]), (4, ["c"])]


@pytest.mark.parametrize("delimiter", [",", ";"])
@pytest.mark.parametrize(
    ("lines", "first", "last"),
    [
        (["id,caption", 'a,"a man talks loudly', "b,a dog barks", 'c,a boy says hi there"'], 2, 4),
        (["id,caption", 'a,"a man talks loudly', 'c,a boy says hi there"'], 2, 3),
        (["caption,id", "one,1", '"a man talks,a', "a dog barks,b", 'hi there",c'], 3, 5),
        (["id, caption", 'a, "a man talks loudly', "b, a dog barks", 'c, a boy says hi"'], 2, 4),
        (["id,caption,,", 'a,"a man talks loudly,,', "b,a dog barks,,", 'c,a boy says hi there"'], 2, 4),
    ],
)
def test_quoted_cell_that_took_rows_is_refused_with_both_lines(
    delimiter: str, lines: list[str], first: int, last: int
) -> None:
    with pytest.raises(VttdataError, match=rf"^t:{first}: .* line {last},"):
        cells("\n".join(lines).replace(",", delimiter), delimiter)


@pytest.mark.parametrize(
    "cell",
    [
        "A man walks in.\nThen he leaves.",
        "A man walks in,\nthen, he leaves,\nand comes back.",
        "First he waits\nsecond, he walks",
        "There are\nabout 1,000 people\nin the square",
        "one\n\ntwo",
    ],
)
@pytest.mark.parametrize("place", [0, 1])
def test_prose_of_several_lines_between_quotes_is_a_cell(cell: str, place: int) -> None:
    row = ["a", "b"]
    row[place] = f'"{cell}"'
    assert cells(f"id,caption\n{','.join(row)}\nb,next", ",")[1][place] == cell


def test_cell_beyond_the_limit_is_refused_with_its_line() -> None:
    for delimiter in "\t,":
        with pytest.raises(VttdataError, match=r"^t:2: "):
            cells(f"a{delimiter}b\nc{delimiter}{'x' * (MAX_CELL_CHARACTERS + 1)}\n", delimiter)


def test_quotes_that_may_enclose_tabs_and_lines_or_be_text_are_refused() -> None:
    with pytest.raises(VttdataError, match="t:2: the quotes from this line to line 3 may enclose a cell with tabs"):
        records('id\tcaption\tscore\nv\t"x\ty; two\nlines; x\ty"\t12\n')
