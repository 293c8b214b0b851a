"""Datasets of others: rows that cannot be used are refused where tables are read, and unknown times are not judged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from vttdata.cli.main import main
from vttdata.dataset.front_matter import read_layout
from vttdata.dataset.parquet import open_parquet, read_column_chunks, read_parquet_rows
from vttdata.dataset.rows import fixed_columns
from vttdata.errors import VttdataError

SPLITS = ("train", "test")


def write(folder: Path, config: str, table: pa.Table, **options: Any) -> Path:
    """Write a table as each split of a configuration, and the README of a dataset that somebody made by hand."""
    (folder / config).mkdir(parents=True, exist_ok=True)
    for split in SPLITS:
        pq.write_table(table, folder / config / f"{split}.parquet", **options)
    lines = ["---", "configs:"]
    for path in sorted(path.name for path in folder.iterdir() if path.is_dir()):
        lines += [f"- config_name: {path}", "  data_files:"]
        for split in SPLITS:
            lines += [f"  - split: {split}", f"    path: {path}/{split}.parquet"]
    (folder / "README.md").write_text("\n".join([*lines, "---", "# A dataset", ""]))
    return folder


def clips(**columns: list[Any]) -> pa.Table:
    """Return clips of one source, which overlap with themselves in the other split."""
    number = len(next(iter(columns.values()), [0, 0]))
    rows: dict[str, list[Any]] = {column.name: [None] * number for column in fixed_columns("clips")}
    rows |= {"video_id": [f"v{k}" for k in range(number)], "source_id": ["s"] * number}
    rows |= {"captions": [[f"caption {k}"] for k in range(number)], "start": [0.0] * number, "end": [9.0] * number}
    return pa.table(rows | columns)


def audit(folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, Any]]:
    capsys.readouterr()
    code = main(["audit", str(folder), "--json"])
    return code, json.loads(capsys.readouterr().out)


NAN, INFINITE = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("config", "columns", "words"),
    [
        ("clips", {"video_id": ["a", None, "c"]}, "'video_id' of row 2 is null"),
        ("clips", {"start": [0.0, 1.0, INFINITE]}, "'start' of row 3 is inf, which is no time in seconds"),
        ("clips", {"end": [1.0, 1e308, 2.0]}, "'end' of row 2 is 1e+308, which is no time in seconds"),
        ("clips", {"start": [-1e10, NAN, 0.0]}, "'start' of row 1 is -10000000000.0, which is no time in seconds"),
        ("captions", {"caption": ["a", "b", None]}, "'caption' of row 3 is null"),
        ("captions", {"sen_id": [None, 1, 2]}, "'sen_id' of row 1 is null"),
    ],
)
@pytest.mark.not_on("win32")
def test_row_that_cannot_be_used_is_refused_by_every_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], config: str, columns: dict[str, list[Any]], words: str
) -> None:
    folder = write(tmp_path / "foreign", "clips", clips(**columns) if config == "clips" else clips(start=[0.0] * 3))
    if config == "captions":
        rows = {"video_id": ["v0", "v1", "v2"], "sen_id": [1, 2, 3], "caption": ["a", "b", "c"]} | columns
        write(folder, "captions", pa.table(rows))
    for command in (["audit"], ["show"], ["show", "--page", str(tmp_path / "page.html")], ["degrade", "--out", "x"]):
        capsys.readouterr()
        assert main([command[0], str(folder), *command[1:]]) == 2
        error = capsys.readouterr().err
        assert f"{folder / config}/" in error
        assert words in error
        assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ([NAN, NAN], [NAN, NAN]),
        ([None, None], [None, None]),
        ([-5.0, -9.0], [-1.0, -2.0]),
        ([-1.0, -1.0], [-1.0, -1.0]),
        ([3.0, NAN], [3.0, 4.0]),
    ],
)
@pytest.mark.not_on("win32")
def test_audit_of_times_that_say_nothing_does_not_judge_overlaps(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], start: list[float | None], end: list[float | None]
) -> None:
    columns = {"start": pa.array(start, pa.float64()), "end": pa.array(end, pa.float64())}
    sources = ["s0", "s1"]
    folder = write(tmp_path, "clips", clips(source_id=sources, **columns))
    # The other split has other sources, so that nothing leaks.
    pq.write_table(clips(source_id=["t0", "t1"], video_id=["w0", "w1"], **columns), folder / "clips/test.parquet")
    code, found = audit(folder, capsys)
    assert code == 0
    assert "overlap" not in found["leaks"]
    assert "overlaps in time" in found["verdict"]
    assert "were not judged" in found["verdict"]
    assert main(["audit", str(folder)]) == 0
    (line,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("overlap in time"))
    assert "not judged" in line


def test_span_that_starts_before_its_source_is_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, found = audit(write(tmp_path, "clips", clips(start=[-1.0, 5.0], end=[4.0, 9.0])), capsys)
    assert code != 0
    assert found["leaks"]["overlap"]["pairs"] == 2


def test_time_that_is_not_a_number_is_not_known(tmp_path: Path) -> None:
    folder = write(tmp_path, "clips", clips(start=[0.0, NAN], end=[NAN, 2.0]))
    files = read_layout(folder).files["clips"]["train"]
    assert [(row["start"], row["end"]) for row in read_parquet_rows(files, ("start", "end"))] == [(0, None), (None, 2)]


def test_duplicated_column_is_refused_with_its_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = clips()
    folder = write(tmp_path, "clips", table.append_column("url", table.column("url")))
    for command, *options in (["audit"], ["show"], ["show", "--page", str(tmp_path / "p.html")]):
        capsys.readouterr()
        assert main([command, str(folder), *options]) == 2
        assert "train.parquet: the column 'url' is duplicated." in capsys.readouterr().err


def test_footer_of_many_row_groups_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "many.parquet"
    pq.write_table(
        pa.table({"video_id": [f"v{k}" for k in range(2000)], "texts": [["a", "b"]] * 2000}), path, row_group_size=1
    )
    metadata = pq.read_metadata(path)
    expected = [
        [
            (chunk.path_in_schema, chunk.num_values, chunk.total_compressed_size, chunk.total_uncompressed_size)
            for chunk in (metadata.row_group(group).column(column) for column in range(2))
        ]
        for group in range(metadata.num_row_groups)
    ]
    chunks = read_column_chunks(path)
    assert [[(each.path, each.values, each.packed, each.unpacked) for each in group] for group in chunks] == expected
    reads: list[Path] = []

    def count(file: Path) -> Any:
        reads.append(file)
        return read_column_chunks(file)

    monkeypatch.setattr("vttdata.dataset.parquet.read_column_chunks", count)
    for _ in range(5):
        assert sum(1 for _ in read_parquet_rows([path], ("video_id",))) == 2000
    assert len(reads) == 1
    pq.write_table(pa.table({"video_id": ["w", "w"]}), path)
    assert [row["video_id"] for row in read_parquet_rows([path], ("video_id",))] == ["w", "w"]
    assert len(reads) == 2


def test_file_that_is_missing_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(VttdataError, match="is damaged or unreadable"), open_parquet(tmp_path / "none.parquet"):
        pass
