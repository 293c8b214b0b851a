"""Test WMT's layout of results where `rid` is a document, not an item."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from vttdata.errors import VttdataError
from vttdata.people import caption_scores, read_moments, read_results, standardise, system_scores
from vttdata.people.answers.wmt import HEADER
from vttdata.records import Judgment

Row = dict[str, str]

# Segments in a document.
SIZE = 7


def write(file: Path, rows: list[Row], change: Callable[[Row], Row] = dict) -> Path:
    changed = [change(row) for row in rows]
    file.write_text(f"{HEADER}\n" + "".join("\t".join(row[name] for name in HEADER.split()) + "\n" for row in changed))
    return file


def document(row: Row) -> str:
    return f"doc{(int(row['sid']) - 1) // SIZE}"


def by_document(row: Row) -> Row:
    return row | {"rid": document(row)}


def by_shown_document(row: Row) -> Row:
    """Return a row as in WMT21: every showing of a document to somebody has an id, and controls are shown apart."""
    is_control = row["type"] != "SYSTEM"
    return row | {"rid": f"{row['HITId']}-{document(row)}-{row['sys_id']}-{is_control}"}


def without_items(row: Row) -> Row:
    """Return a row as in the Wikipedia task of WMT21: no HITs, no items, and quoted systems."""
    return row | {"rid": "NA", "sys_id": f'"{row["sys_id"]}"'}


def numbered_anew(row: Row) -> Row:
    return by_document(row) | {"sid": str((int(row["sid"]) - 1) % SIZE + 1)}


@pytest.mark.parametrize("change", [by_document, by_shown_document, without_items, numbered_anew])
def test_judgments_of_documents_have_the_published_scores(
    shared: Path, tmp_path: Path, change: Callable[[Row], Row]
) -> None:
    folder = shared / "data" / "direct-assessment" / "wmt22-lv-en"
    moments = read_moments(folder / "ad-lven-trk-mean-sd.txt")
    original = folder / "ad-lven-good-stnd-redup.csv"
    lines = original.read_text().splitlines()[1:]
    rows = [dict(zip(HEADER.split(), line.split(), strict=True)) for line in lines]
    results = read_results([write(tmp_path / "documents.csv", rows, change)], moments=moments)
    assert not results.findings
    assert len(results.judgments) == len(rows) == 5782
    captions = caption_scores(standardise(results.judgments, moments=moments))
    segments = [line.split() for line in (folder / "ad-seg-scores-lv-en.csv").read_text().splitlines()[1:]]
    assert sorted((score.system, score.assessments, round(score.raw, 6), round(score.z, 6)) for score in captions) == (
        sorted((system, int(n), round(float(raw), 6), round(float(z), 6)) for system, _, raw, z, n in segments)
    )
    ranking = [line.split() for line in (folder / "ad-sys-ranking-lv-en-z.csv").read_text().splitlines()]
    assert [(score.system, f"{score.z:.3f}") for score in system_scores(captions)] == [(r[4], r[1]) for r in ranking]


def judged(systems: str = "AB", segments: int = 20, **cells: str) -> list[Row]:
    """A HIT in which each system's document is judged, with all segments degraded once."""
    rows = [
        f"h w lv en ad 1 {system} d {kind} {n} {score + n % 20} 9".split()
        for system in systems
        for kind, score in (("SYSTEM", 60), ("BAD_REF", 20))
        for n in range(1, segments + 1)
    ]
    return [dict(zip(HEADER.split(), row, strict=True)) | cells for row in rows]


def test_item_is_what_all_columns_say_together(tmp_path: Path) -> None:
    results = read_results([write(tmp_path / "wmt.csv", judged())])
    assert not results.findings
    assert results.judgments[0] == Judgment("h", "w", "d", "1", "A", "system", 61, 0, 9 / 80)
    assert len({(one.video_id, one.system, one.kind) for one in results.judgments}) == len(results.judgments) == 80


def test_segments_numbered_in_documents_are_told_apart(tmp_path: Path) -> None:
    rows = [*judged(), *judged(rid="e")]
    videos = {judgment.video_id for judgment in read_results([write(tmp_path / "wmt.csv", rows)]).judgments}
    assert videos == {f"{name}/{n}" for name in "de" for n in range(1, 21)}
    # A document may be shown twice in a HIT; its segments remain the same.
    rows = [*judged(), *judged("A", 3, rid="e")]
    videos = {judgment.video_id for judgment in read_results([write(tmp_path / "wmt.csv", rows)]).judgments}
    assert videos == {str(n) for n in range(1, 21)}


def test_cells_may_be_quoted(tmp_path: Path) -> None:
    file = write(tmp_path / "wmt.csv", judged(), lambda row: row | {"sys_id": f'"the {row["sys_id"]}"', "rid": '"d"'})
    file.write_text(file.read_text().replace("HITId", '"HITId"', 1).replace("\t", " "))
    results = read_results([file])
    assert {judgment.system for judgment in results.judgments} == {"the A", "the B"}
    assert {judgment.item for judgment in results.judgments} == {"d"}


def test_many_contradictions_are_refused(tmp_path: Path) -> None:
    rows = judged()
    file = write(tmp_path / "wmt.csv", [*rows, *(row | {"score": "5"} for row in rows[:6])])
    with pytest.raises(
        VttdataError, match=r"6 answers contradict an earlier one of the same worker .* \(first h/w/d\)"
    ):
        read_results([file])
    file = write(tmp_path / "wmt.csv", [*rows, *(row | {"score": "5"} for row in rows[:5])])
    assert len(read_results([file]).findings["conflicting_duplicate"]) == 5
    file = write(tmp_path / "wmt.csv", [*rows, *rows])
    assert len(read_results([file]).findings["duplicate"]) == len(rows)
    large = judged(segments=200)
    file = write(tmp_path / "wmt.csv", [*large, *(row | {"score": "5"} for row in large[:8])])
    assert len(read_results([file]).findings["conflicting_duplicate"]) == 8
