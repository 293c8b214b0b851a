"""Sections of results are aligned, and harmless on a terminal and in Markdown, whatever their texts hold."""

from __future__ import annotations

import math

import pytest

from vttdata.files.results import (
    Interval,
    ResultColumn,
    ResultTable,
    Section,
    format_cell,
    format_markdown,
    format_p,
    format_text,
)

NAN = math.nan
HOSTILE = [
    "=1+1",
    "<script>alert(1)</script>",
    "a|b\n| c |",
    "*bold*",
    "a `b|c` d",
    "![x](https://x.example)",
    "# @you",
]


def test_sections_are_aligned_and_safe_for_a_terminal() -> None:
    rows = [["a\x1b[31m", 0.25, "x", 1200], ["*bc*", 0.00001, None, None], ["d", Interval(0.5, 0.25, 1.0), "yy", 3]]
    table = ResultTable(("system", "p", "note", "n"), rows)
    section = Section("Systems", ["One\nline."], ["an item"], table)
    assert format_text([section, Section(sentences=["End."])]).splitlines() == [
        "Systems",
        "One?line.",
        "- an item",
        "",
        "system                       p  note      n",
        "a?[31m                   0.250  x     1,200",
        "*bc*                     1e-05  -         -",
        "d       0.500 (0.250 to 1.000)  yy        3",
        "",
        "End.",
    ]


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (12345, 3, "12,345"),
        (12345.678, 4, "12,345.68"),
        (0.12345, 4, "0.1235"),
        (0.00002, 3, "2e-05"),
        (0.0, 3, "0.000"),
        (Interval(0.5, NAN, NAN), 3, "0.500"),
        (Interval(3e-09, -1e-09, 2e-04), 3, "0.000 (0.000 to 0.000)"),
        (Interval(NAN, 0.1, 0.2), 3, "-"),
        (None, 3, "-"),
        ("0.1", 3, "0.1"),
    ],
)
def test_cells_have_as_many_digits_as_their_column(value: object, digits: int, text: str) -> None:
    assert format_cell(value, digits) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(7e-41, "p < .001"), (0.00099, "p < .001"), (0.001, "p = .001"), (0.0478, "p = .048"), (1.0, "p = 1.000")],
)
def test_p_values_are_as_papers_print_them(value: float, text: str) -> None:
    assert format_p(value) == text


def test_markdown_has_headings_lists_and_tables_without_foreign_markup() -> None:
    rows = [[text, number] for number, text in enumerate(HOSTILE)]
    section = Section("A `title`", HOSTILE, HOSTILE, ResultTable((ResultColumn("name"), "n"), rows))
    text = format_markdown([section, Section("Below", depth=1)])
    lines = text.splitlines()
    assert lines[0] == "## A `title`"
    assert lines[-1] == "### Below"
    assert {line.replace("\\|", "").count("|") for line in lines if line.startswith("|")} == {3}
    assert not {"<script>", "*bold*", "a `b|c` d", "![x](", "https://", "@you"} & {*text.replace("\\*", "").split()}
    assert "&lt;script&gt;" in text
    assert "\n# " not in text


def test_numbers_and_code_in_sentences_are_not_escaped() -> None:
    table = ResultTable(("r",), [[-0.152], ["-1"], [Interval(0.5, 0.25, 1.0)]])
    assert format_markdown([Section(table=table)]).splitlines()[2:] == [
        "| -0.152 |",
        "| -1 |",
        "| 0.500 (0.250 to 1.000) |",
    ]
    assert format_markdown([Section(sentences=["Run `a_b | c`, and a_b."])]) == "Run `a_b | c`, and a\\_b.\n"
