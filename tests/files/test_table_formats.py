"""Tables in CSV keep their digits and are harmless."""

from __future__ import annotations

from vttdata.files.table_formats import as_csv


def test_csv_keeps_all_digits_and_escapes_formulas() -> None:
    table: list[list[object]] = [["n"], [-0.1], [0.1 + 0.2], [float("nan")], ["-0.1"]]
    assert as_csv(table) == 'n\n-0.1\n0.30000000000000004\n""\n\'-0.1\n'
