"""Datasets of vttdata whose tables somebody edited: what says that two clips are one is found wherever it is stated."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from vttdata.cli.main import main
from vttdata.dataset import Metadata, write_dataset
from vttdata.dataset.leak_audit import audit_dataset
from vttdata.records import Caption, Clip, ClipMedia, Source

Row = dict[str, Any]
CHECKSUMS = {name: f"{number:064x}".replace("0", "a") for number, name in enumerate("abcdwxyz", 7)}


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four clips of four sources, two of them in test, each with an address and checksums of its own."""
    clips = [
        Clip(
            f"v{source}",
            f"source-{source}",
            0.0,
            5.0,
            None,
            None,
            1,
            url=f"https://example.org/{source}.mp4",
            media=ClipMedia(f"v{source}.mp4", CHECKSUMS[source], 9),
            split=split,
        )
        for source, split in zip("abcd", ("train", "train", "test", "test"), strict=True)
    ]
    sources = [
        Source(clip.source_id, "x.mp4", "listed", CHECKSUMS["wxyz"[number]], 9, clip.url)
        for number, clip in enumerate(clips)
    ]
    captions = [Caption(clip.video_id, 0, f"what {clip.video_id} shows") for clip in clips]
    folder = tmp_path_factory.mktemp("clean") / "dataset"
    write_dataset(folder, clips=clips, captions=captions, sources=sources, metadata=Metadata("me/clean"), media=None)
    return folder


def edit(dataset: Path, config: str, split: str, change: Callable[[list[Row]], list[Row]]) -> None:
    (path,) = (dataset / config).glob(f"{split}-*.parquet")
    table = pq.read_table(path)
    pq.write_table(pa.Table.from_pylist(change(table.to_pylist()), table.schema), path)


def setting(**values: object) -> Callable[[list[Row]], list[Row]]:
    return lambda rows: [rows[0] | values, *rows[1:]]


LEAKS = {
    "copied whole under another source": (
        "clips",
        setting(video_id="va", sha256=CHECKSUMS["a"]),
        {"video_id", "sha256"},
    ),
    "copied under another id": ("clips", setting(sha256=CHECKSUMS["a"]), {"sha256"}),
    "address of clips": ("clips", setting(url="http://www.example.org/a.mp4#t=3"), {"url", "source_url"}),
    "address of sources": ("sources", setting(url="https://example.org/a.mp4"), {"url", "source_url"}),
    "checksum of sources": ("sources", setting(sha256=CHECKSUMS["w"].upper()), {"source_sha256"}),
    "source in other case": ("clips", setting(source_id="Source-A"), {"source_id"}),
    "source with a space": ("clips", setting(source_id="source-a "), {"source_id"}),
    "id of a file": ("clips", setting(video_id="VA.mp4"), {"video_id"}),
}


@pytest.mark.parametrize("name", LEAKS)
def test_every_statement_that_two_clips_are_one_is_a_leak(clean: Path, tmp_path: Path, name: str) -> None:
    config, change, columns = LEAKS[name]
    assert audit_dataset(clean).ok
    dataset = shutil.copytree(clean, tmp_path / "dataset")
    edit(dataset, config, "test", change)
    found = audit_dataset(dataset)
    assert found.leaks["source"] == {"sources": 1, "clips": {"train": 1, "test": 1}}
    assert {column for column, number in found.shared_keys.items() if number} == columns
    assert {*found.examples["source"][0]["by"]} == columns
    assert main(["audit", str(dataset)]) == 3


def test_contradictions_are_named(clean: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dataset = shutil.copytree(clean, tmp_path / "dataset")
    edit(dataset, "clips", "test", setting(video_id="va"))
    assert main(["audit", str(dataset), "--json"]) == 3
    conflicts = json.loads(capsys.readouterr().out)["conflicts"]
    assert [(each["column"], each["other"], each["values"]) for each in conflicts] == [
        ("video_id", "source_id", 1),
        ("video_id", "sha256", 1),
    ]
    assert conflicts[0]["examples"] == [{"video_id": "va", "source_id": ["source-a", "source-c"]}]
    main(["audit", str(dataset)])
    assert (
        "1 value of video_id with several of source_id, such as va with source-a and source-c"
        in capsys.readouterr().out
    )


@pytest.mark.parametrize("value", [None, "", "unknown", " N/A "])
def test_clips_without_a_usable_key_are_counted(clean: Path, tmp_path: Path, value: str | None) -> None:
    dataset = shutil.copytree(clean, tmp_path / "dataset")
    edit(dataset, "clips", "test", lambda rows: [row | {"source_id": value, "url": value} for row in rows])
    found = audit_dataset(dataset)
    assert found.unknown["sources"] == 2
    assert found.unknown["clips"] == {"train": 0, "test": 2}
    assert "2 clips of unknown source" in found.verdict
    assert "by video_id, sha256, times and captions" in found.verdict
    assert found.warnings == ["Nothing says what original videos the clips of the split test are of."]


def test_malformed_values_are_no_keys(clean: Path, tmp_path: Path) -> None:
    dataset = shutil.copytree(clean, tmp_path / "dataset")
    for split in ("train", "test"):
        edit(
            dataset,
            "clips",
            split,
            lambda rows: [row | {"url": "https://youtube.com/", "sha256": "0" * 64} for row in rows],
        )
    found = audit_dataset(dataset)
    assert found.ok
    assert found.unknown["malformed"] == {"url": 4, "sha256": 4}
    assert not {"url", "sha256"} & found.compared.keys()


def test_an_empty_split_is_said(clean: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dataset = shutil.copytree(clean, tmp_path / "dataset")
    edit(dataset, "clips", "test", lambda _: [])
    assert main(["audit", str(dataset)]) == 0
    text = capsys.readouterr().out
    assert "WARNING: The split test has no clips, so nothing in it was compared." in text
    assert text.rstrip().endswith("Nothing was compared: all clips are in train.")
