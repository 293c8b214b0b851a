"""Test reading manifests."""

from __future__ import annotations

from pathlib import Path

import pytest

from vttdata.errors import VttdataError
from vttdata.people import read_manifest

HEADER = "hit,item,video_id,system,kind\n"


def test_manifest_has_items_in_order_without_escapes(tmp_path: Path) -> None:
    (tmp_path / "manifest.csv").write_text(f"{HEADER}h1,i1,v1,'=A1,TGT\nh1,i0,v2,human,BAD_REF\n")
    items = read_manifest(tmp_path / "manifest.csv")["h1"]
    assert list(items.items()) == [("i1", ("v1", "=A1", "system")), ("i0", ("v2", "human", "degraded"))]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("h1,i0,v0,A,system\n" * 2, r"manifest.csv:3: the item 'i0' of HIT 'h1' is duplicated"),
        ("", "contains no items"),
        ("h1,i0,,A,system\n", r"manifest.csv:2: 'video_id' is empty"),
        ("h1,i0,v0,A,odd\n", r"manifest.csv:2: unknown kind 'odd'"),
    ],
)
def test_bad_manifest_raises_one_sentence(tmp_path: Path, rows: str, message: str) -> None:
    (tmp_path / "manifest.csv").write_text(HEADER + rows)
    with pytest.raises(VttdataError, match=message):
        read_manifest(tmp_path / "manifest.csv")
