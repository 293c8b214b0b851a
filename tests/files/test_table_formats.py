"""Tables for a terminal are aligned and harmless."""

from __future__ import annotations

from vttdata.files.table_formats import as_csv, as_markdown, as_plain


def test_plain_table_is_aligned_and_safe_for_a_terminal() -> None:
    table = [["system", "p", "note"], ["a\x1b[31m", 0.25, "x"], ["*bc*", 0.00001, None], ["d", float("nan"), "yy"]]
    assert as_plain(table).splitlines() == [
        "system      p  note",
        "a?[31m  0.250  x",
        "*bc*    1e-05  -",
        "d           -  yy",
    ]


def test_csv_keeps_all_digits_and_escapes_formulas() -> None:
    table = [["n"], [-0.1], [0.1 + 0.2], [float("nan")], ["-0.1"]]
    assert as_csv(table) == 'n\n-0.1\n0.30000000000000004\n""\n\'-0.1\n'


def test_markdown_escapes_text_and_shortens_numbers() -> None:
    assert as_markdown([["p", "q"], [0.000012345, None]]) == "| p | q |\n| --- | --- |\n| 1.234e-05 | - |\n"
