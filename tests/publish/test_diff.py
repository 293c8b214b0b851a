"""Differences of datasets: what a brute-force comparison of rows finds, and which version that asks for."""

from __future__ import annotations

import dataclasses
import json
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.dataset.conftest import Material
from vttdata.errors import VttdataError
from vttdata.publish.diff import compare_datasets
from vttdata.records import Caption

SCHEMA = pa.schema(
    [
        ("video_id", pa.string()),
        ("sen_id", pa.int64()),
        ("caption", pa.string()),
        ("score", pa.float64()),
        ("references", pa.list_(pa.string())),
    ]
)
Row = tuple[Any, ...]
TEXTS = st.sampled_from(["a", "b", "", "None", "nan", "\u00e9\u0000", None])
ROWS = st.tuples(
    st.sampled_from(["v1", "v2", "v10", "v:1 2"]),
    st.integers(0, 2),
    TEXTS,
    st.sampled_from([0.0, -0.0, 1.5, float("nan"), None]),
    st.lists(TEXTS, max_size=2) | st.none(),
)
TABLES = st.lists(st.tuples(st.sampled_from(["train", "test"]), ROWS), max_size=12)


def write(folder: Path, config: str, rows: Sequence[tuple[str, Row]], schema: pa.Schema = SCHEMA, **info: Any) -> Path:
    """A dataset folder with one configuration of these rows, three to a file."""
    files = []
    folder.mkdir()
    for split in ("train", "test"):
        own = [row for name, row in rows if name == split]
        for first in range(0, len(own), 3):
            columns = [list(column) for column in zip(*own[first : first + 3], strict=True)]
            pq.write_table(
                pa.Table.from_arrays([*map(pa.array, columns, schema.types)], schema=schema),
                folder / f"{split}-{first:05d}.parquet",
            )
        files += [{"split": split, "path": f"{split}-*.parquet"}] if own else []
    head = {"configs": [{"config_name": config, "data_files": files}] if files else [], **info}
    (folder / "README.md").write_text(f"---\n{yaml.safe_dump(head)}---\n")
    return folder


def plain(value: Any) -> str:
    return repr(value)


def matched(old: list[Any], new: list[Any], same: Any) -> list[tuple[Any, Any]]:
    """Take pairs out of both lists, the first with the first."""
    found = []
    for one in list(old):
        other = next((other for other in new if same(one, other)), None)
        if other is not None:
            old.remove(one)
            new.remove(other)
            found.append((one, other))
    return found


def brute_force(old: Sequence[tuple[str, Row]], new: Sequence[tuple[str, Row]], key: Any) -> dict[str, Any]:
    """The definition, slowly: entries are (number, split, row), compared as text."""
    left, right = (
        sorted(((n, split, row) for n, (split, row) in enumerate(rows)), key=lambda own: own[1] == "test")
        for rows in (old, new)
    )

    def rows_same(one: Any, other: Any) -> bool:
        return plain(one[2]) == plain(other[2])

    def keys_same(one: Any, other: Any) -> bool:
        return bool(key(one[2]) == key(other[2]))

    def splits_same(one: Any, other: Any) -> bool:
        return bool(one[1] == other[1])

    matched(left, right, lambda one, other: rows_same(one, other) and splits_same(one, other))
    moved = matched(left, right, rows_same)
    changed = matched(left, right, lambda one, other: keys_same(one, other) and splits_same(one, other))
    both = matched(left, right, keys_same)
    columns = Counter(
        name
        for one, other in changed + both
        for name, before, after in zip(SCHEMA.names, one[2], other[2], strict=True)
        if plain(before) != plain(after)
    )
    moves = Counter((one[1], other[1]) for one, other in moved + both)
    figures = {"added": len(right), "removed": len(left), "changed": len(changed + both), "moved": len(moved + both)}
    return figures | {"columns": dict(columns), "moves": dict(moves)}


@settings(max_examples=150, deadline=None)
@given(old=TABLES, new=TABLES, config=st.sampled_from(["captions", "else"]))
@pytest.mark.long
def test_counts_are_those_of_a_brute_force_comparison(
    old: list[tuple[str, Row]], new: list[tuple[str, Row]], config: str
) -> None:
    def key(row: Row) -> Any:
        return row[:2] if config == "captions" else plain(row)

    with tempfile.TemporaryDirectory() as scratch:
        found = compare_datasets(write(Path(scratch, "old"), config, old), write(Path(scratch, "new"), config, new))
    own = found.configs[0].as_json() if found.configs else {}
    expected = brute_force(old, new, key)
    moves = {(flow["from"], flow["to"]): flow["rows"] for flow in own.get("moves", [])}
    assert {name: own.get(name, 0) for name in ("added", "removed", "changed", "moved")} == {
        name: expected[name] for name in ("added", "removed", "changed", "moved")
    }
    assert (moves, own.get("columns", {})) == (expected["moves"], expected["columns"])
    major = expected["removed"] or expected["changed"] or expected["moved"]
    assert found.needed == ("major" if major else "minor" if expected["added"] else "none")


@settings(max_examples=40, deadline=None)
@given(rows=TABLES, data=st.data())
def test_rows_in_another_order_are_the_same_rows(rows: list[tuple[str, Row]], data: st.DataObject) -> None:
    mixed = data.draw(st.permutations(rows))
    with tempfile.TemporaryDirectory() as scratch:
        found = compare_datasets(
            write(Path(scratch, "old"), "captions", rows), write(Path(scratch, "new"), "captions", mixed)
        )
    assert found.needed == "none"
    in_order = [
        [plain(row) for split, row in own if split == name] for own in (rows, mixed) for name in ("train", "test")
    ]
    assert any(own.reordered for own in found.configs) == (in_order[:2] != in_order[2:])


def test_a_dataset_does_not_differ_from_itself(material: Material, tmp_path: Path) -> None:
    material.write(tmp_path / "a")
    material.write(tmp_path / "b")
    found = compare_datasets(tmp_path / "a", tmp_path / "b")
    assert found.needed == "none"
    assert found.as_markdown() == "No row differs."
    assert found.next_version("1.2.3") == "1.2.3"
    assert {own.config: own.rows for own in found.configs} == {"clips": (6, 6), "captions": (18, 18), "sources": (5, 5)}


def test_a_corrected_caption_names_the_row_and_the_column(material: Material, tmp_path: Path) -> None:
    material.write(tmp_path / "a")
    material.captions[4] = dataclasses.replace(material.captions[4], caption="*a* corrected <text>")
    material.write(tmp_path / "b")
    found = compare_datasets(tmp_path / "a", tmp_path / "b")
    own = {config.config: config for config in found.configs}
    assert (own["captions"].changed, dict(own["captions"].columns)) == (1, {"caption": 1})
    assert own["captions"].examples["changed"] == ["video8 801 (caption)"]
    assert own["clips"].as_text() == "clips: 1 changed in captions (1), namely video8 (captions)"
    assert found.next_version("1.2.3") == "2.0.0"
    assert "video8 801 (caption)" in found.as_markdown()
    json.dumps(found.as_json())


def test_more_captions_only_are_a_minor_version_where_no_row_holds_them_all(tmp_path: Path) -> None:
    row = ("v1", 0, "a", None, None)
    old = write(tmp_path / "a", "captions", [("train", row)])
    new = write(tmp_path / "b", "captions", [("train", row), ("test", ("v1", 1, "b", None, None))])
    found = compare_datasets(old, new)
    assert (found.needed, found.next_version("1.2.3")) == ("minor", "1.3.0")
    assert found.as_markdown() == "- captions: 1 added, namely v1 1"
    with pytest.raises(VttdataError, match="is not a version"):
        found.next_version("1.0")


def test_clip_in_another_split_counts_as_moved_with_its_captions(material: Material, tmp_path: Path) -> None:
    material.write(tmp_path / "a")
    material.clips[3] = dataclasses.replace(material.clips[3], split="train")
    material.write(tmp_path / "b")
    found = {own.config: own for own in compare_datasets(tmp_path / "a", tmp_path / "b").configs}
    assert found["clips"].moves == {("validation", "train"): 1}
    assert (found["captions"].moved, found["captions"].changed, found["captions"].removed) == (3, 0, 0)
    assert found["clips"].examples["moved"] == ["video10"]


def test_removed_configuration_is_major_and_added_one_is_minor(material: Material, tmp_path: Path) -> None:
    material.write(tmp_path / "a")
    material.write(tmp_path / "b", captions=[Caption(c.video_id, c.sen_id, "x") for c in material.captions], sources=())
    forward, backward = (
        compare_datasets(tmp_path / "a", tmp_path / "b"),
        compare_datasets(tmp_path / "b", tmp_path / "a"),
    )
    assert {own.config: own.removed for own in forward.configs}["sources"] == 5
    assert {own.config: own.needed for own in backward.configs}["sources"] == "minor"
    assert forward.needed == "major"


@pytest.mark.parametrize(
    ("fields", "change", "needed"),
    [
        ([*SCHEMA, pa.field("more", pa.int64())], {"more": "added"}, "minor"),
        ([*SCHEMA][:-1], {"references": "removed"}, "major"),
        ([*[*SCHEMA][:3], pa.field("score", pa.int64()), SCHEMA.field(4)], {"score": "retyped"}, "major"),
        ([*[*SCHEMA][:2], pa.field("caption", pa.large_string()), *[*SCHEMA][3:]], {}, "none"),
    ],
)
def test_columns_are_compared_as_well(
    tmp_path: Path, fields: list[pa.Field], change: dict[str, str], needed: str
) -> None:
    row = ("v1", 0, "a", 1, ["x"])
    write(tmp_path / "a", "captions", [("train", row)])
    write(tmp_path / "b", "captions", [("train", (*row, 1)[: len(fields)])], pa.schema(fields))
    found = compare_datasets(tmp_path / "a", tmp_path / "b")
    assert (found.configs[0].schema, found.needed, found.configs[0].changed) == (change, needed, 0)


@pytest.mark.parametrize(("names", "needed"), [("ab", "none"), ("abc", "minor"), ("ba", "major"), ("a", "major")])
def test_labels_may_grow_but_not_change_their_numbers(tmp_path: Path, names: str, needed: str) -> None:
    row = ("v1", 0, "a", None, None)
    for name, own in (("a", "ab"), ("b", names)):
        labels = {"class_label": {"names": {str(number): name for number, name in enumerate(own)}}}
        info = [{"config_name": "captions", "features": [{"name": "sen_id", "dtype": labels}]}]
        write(tmp_path / name, "captions", [("train", row)], dataset_info=info)
    assert compare_datasets(tmp_path / "a", tmp_path / "b").needed == needed


def test_folder_without_dataset_is_refused_in_one_sentence(material: Material, tmp_path: Path) -> None:
    material.write(tmp_path / "a")
    material.write(tmp_path / "b", captions=())
    with pytest.raises(VttdataError, match="neither a dataset card nor a table"):
        compare_datasets(tmp_path / "a", tmp_path)
    next((tmp_path / "b" / "clips").iterdir()).write_bytes(b"PAR1 no")
    with pytest.raises(VttdataError, match=r"clips/.*parquet: is damaged"):
        compare_datasets(tmp_path / "a", tmp_path / "b")
