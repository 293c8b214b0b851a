from __future__ import annotations

import hashlib
from pathlib import Path

from tests.clients.client import client
from tests.clients.conftest import references
from vttdata.export import export

CLIENT = client("webdataset", "tables")


def test_samples_have_videos_and_captions(demo: Path, official: Path, tmp_path: Path) -> None:
    export(demo, "webdataset", tmp_path / "x")
    shown = CLIENT.run("webdataset_samples.py", tmp_path / "x")
    assert {name: row[2:] for name, row in shown.items()} == references(demo)
    files = {
        path.stem: (path.parent.name, hashlib.sha256(path.read_bytes()).hexdigest()) for path in demo.rglob("*.mp4")
    }
    assert {name: tuple(row[:2]) for name, row in shown.items()} == files
    warned: list[str] = []
    export(official, "webdataset", tmp_path / "y", warn=warned.append)
    assert len(warned) == 1
    bare = CLIENT.run("webdataset_samples.py", tmp_path / "y")
    assert {name: row[2:] for name, row in bare.items()} == references(official)
    assert {row[1] for row in bare.values()} == {None}
    CLIENT.showed(
        "vttdata export DATASET --format webdataset --out FOLDER",
        f"{len(shown)} samples with the same bytes of the video and the same captions; {len(bare)} without videos",
        "digests of the dataset's videos; captions as `evaluate` reads them",
    )
