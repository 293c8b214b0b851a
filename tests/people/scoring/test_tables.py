"""Test that tables and the drawing of wins are readable and harmless, whatever names systems and workers have."""

from __future__ import annotations

import csv
import io
from xml.etree import ElementTree

from tests.helpers.judgments import hit
from vttdata.files.table_formats import as_csv
from vttdata.people import caption_scores, judge_workers, significance, standardise, system_intervals, system_scores
from vttdata.people.scoring.significance_svg import significance_svg
from vttdata.people.scoring.tables import findings_table, significance_table, system_table, worker_table
from vttdata.records import CaptionScore

HOSTILE = ["=1+1", "<script>alert(1)</script>", "a|b\n| c |", "x" * 300, "*bold*"]


def scores() -> list[CaptionScore]:
    return [CaptionScore(f"v{n}", name, 50, index + n % 5, 1) for index, name in enumerate(HOSTILE) for n in range(20)]


def test_csv_of_systems_is_ordered_and_harmless() -> None:
    captions = scores()
    table = system_table(system_scores(captions), system_intervals(captions), significance(captions))
    rows = list(csv.DictReader(io.StringIO(as_csv(table))))
    assert [row["system"] for row in rows] == ["*bold*", "x" * 300, "a|b\n| c |", "<script>alert(1)</script>", "'=1+1"]
    assert float(rows[0]["z"]) == 6.0
    assert [row["cluster"] for row in rows] == sorted(row["cluster"] for row in rows)


def test_worker_table_has_every_p_value() -> None:
    judgments = hit("=w", [("human", 90.0 + n) for n in range(9)] + [("degraded", 10.0 - n) for n in range(9)])
    (row,) = csv.DictReader(io.StringIO(as_csv(worker_table(judge_workers(judgments)))))
    assert (row["worker"], row["verdict"], row["degraded_pairs"]) == ("'=w", "too_few_pairs", "9")
    assert float(row["degraded_wilcoxon"]) == 1 / 2**9
    assert row["repeat_paired_t"] == ""


def test_findings_table_has_examples() -> None:
    table = findings_table({"duplicate": ("h/w/1", "h/w/2", "h/w/3", "h/w/4")})
    assert table[1][:2] == ["duplicate", 4]
    assert table[1][3] == "h/w/1, h/w/2, h/w/3"


def test_drawing_has_a_green_cell_for_each_win() -> None:
    tested = significance(scores())
    wins = sum(tested.wins(row, column) for row in range(5) for column in range(5))
    tree = ElementTree.fromstring(significance_svg(tested))
    cells = [cell for cell in tree.iter("{http://www.w3.org/2000/svg}rect") if cell.get("width") == "34"]
    assert len(cells) == 25
    assert sum(cell.get("fill") == "#3a9a50" for cell in cells) == wins > 0
    assert not list(tree.iter("{http://www.w3.org/2000/svg}script"))
    assert significance_table(tested)[0] == ["system", *tested.systems]


def test_single_system_has_table_and_drawing() -> None:
    captions = caption_scores(standardise(hit("w", [("system", 3), ("system", 9)])))
    tested = significance(captions)
    assert len(system_table(system_scores(captions), system_intervals(captions), tested)) == 2
    ElementTree.fromstring(significance_svg(tested))
