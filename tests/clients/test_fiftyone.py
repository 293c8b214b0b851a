from __future__ import annotations

from pathlib import Path

from tests.clients.client import client
from tests.clients.conftest import references

CLIENT = client("fiftyone", "fiftyone")


def test_samples_are_videos_with_their_captions(demo: Path, tmp_path: Path) -> None:
    # Its database is a process of its own, which ends with the program.
    variables = {"FIFTYONE_DATABASE_DIR": str(tmp_path / "db"), "FIFTYONE_DO_NOT_TRACK": "1", "HOME": str(tmp_path)}
    shown = CLIENT.run("fiftyone_samples.py", demo, **variables)
    assert {name: row[2:] for name, row in shown.items()} == references(demo)
    assert all(row[0] == "video" and Path(row[1]).stem == name for name, row in shown.items())
    CLIENT.showed(
        "fiftyone.Sample(path, captions=...) of DATASET/videos/SPLIT/metadata.jsonl",
        f"{len(shown)} videos with their {sum(map(len, references(demo).values()))} captions",
    )
