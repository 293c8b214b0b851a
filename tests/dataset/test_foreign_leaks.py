"""Audits of datasets that vttdata did not write: each planted leak is found, and nothing where nothing leaks.

`VTTDATA_FOREIGN_DATASETS` is the number of datasets of each sort, by default a sample; 2,000 take some minutes.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import string
from pathlib import Path

import pytest

from tests.helpers.foreign_datasets import HARMLESS, LEAKS, NAMES, Foreign, add_harmless, write_foreign
from vttdata.cli.main import main
from vttdata.dataset.leak_audit import audit_foreign

DATASETS = int(os.environ.get("VTTDATA_FOREIGN_DATASETS", "30"))


def test_planted_leaks_of_every_kind_are_found_in_every_shape(tmp_path: Path) -> None:
    missed = []
    for seed in range(DATASETS):
        kind = [*LEAKS][seed % len(LEAKS)]
        needed, plant = LEAKS[kind]
        dataset = Foreign(seed)
        plant(dataset)
        path = write_foreign(dataset, tmp_path / str(seed), needed)
        if audit_foreign(path).ok:
            missed.append((seed, kind))
    assert missed == []


def test_nothing_is_reported_where_nothing_leaks(tmp_path: Path) -> None:
    reported = []
    for seed in range(DATASETS):
        kind = HARMLESS[seed % len(HARMLESS)]
        dataset = Foreign(10**6 + seed)
        seen = frozenset(key for key in NAMES if dataset.draw.random() < 0.5) | {"id", "source", "url"}
        add_harmless(dataset, kind, seen)
        audit = audit_foreign(write_foreign(dataset, tmp_path / str(seed), seen))
        if not audit.ok:
            reported.append((seed, kind, audit.verdict, audit.examples["source"][:1]))
    assert reported == []


def test_ids_that_count_the_rows_of_each_split_are_not_compared(tmp_path: Path) -> None:
    for split in ("train", "test"):
        rows = "".join(f"{number},what {split} {number} shows\n" for number in range(3))
        (tmp_path / f"{split}.csv").write_text(f"id,caption\n{rows}")
    found = audit_foreign(tmp_path)
    assert found.ok
    assert found.unknown["row_numbers"] == ["video_id"]
    assert found.unknown["clips"] == {"train": 3, "test": 3}
    assert found.verdict.startswith("No leaks found by captions; near-duplicates, 6 clips of unknown source")
    # Where one split goes on where the other ends, the numbers are ids.
    (tmp_path / "test.csv").write_text("id,caption\n2,a\n3,b\n")
    assert audit_foreign(tmp_path).leaks["source"]["clips"] == {"train": 1, "test": 1}


def test_an_empty_file_of_a_split_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "train.csv").write_text("video_id,caption\na,x\nb,y\n")
    (tmp_path / "test.csv").write_text("video_id,caption\n")
    found = audit_foreign(tmp_path)
    assert found.warnings[0] == "The split test has no clips, so nothing in it was compared."
    assert found.verdict == "Nothing was compared: all clips are in train."
    (tmp_path / "train.csv").write_text("video_id,caption\n")
    assert main(["audit", str(tmp_path)]) == 2
    assert "has no clips" in capsys.readouterr().err


def test_short_ids_of_base_62_are_told_apart_by_case(tmp_path: Path) -> None:
    letters = string.ascii_letters + string.digits
    ids = ["".join(each) for each in random.Random(3).sample([*itertools.product(letters, repeat=3)], 4000)]
    folded = [{text.lower() for text in half} for half in (ids[:2000], ids[2000:])]
    assert len(folded[0] & folded[1]) > 50
    for split, part in (("train", ids[:2000]), ("test", ids[2000:])):
        (tmp_path / f"{split}.csv").write_text("\n".join(["clip_id", *part]) + "\n")
    assert audit_foreign(tmp_path).ok
    with (tmp_path / "test.csv").open("a") as stream:
        stream.write(f" {ids[0]}.mp4\n")
    assert audit_foreign(tmp_path).leaks["source"]["clips"] == {"train": 1, "test": 1}


def test_files_of_a_folder_of_videos_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    contents = {"train/a.mp4": b"one" * 99, "test/b.mp4": b"two" * 99, "test/c.webm": b"one" * 99}
    for name, content in contents.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    assert main(["audit", str(tmp_path), "--json"]) == 3
    found = json.loads(capsys.readouterr().out)
    assert found["leaks"]["source"] == {"sources": 1, "clips": {"test": 1, "train": 1}}
    assert found["examples"]["source"][0]["by"] == ["sha256"]
    (tmp_path / "test" / "c.webm").unlink()
    assert main(["audit", str(tmp_path)]) == 0


def test_a_table_needs_a_split_and_columns_may_be_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "clips.csv"
    table.write_text("name;where;part\na;https://youtu.be/aaaaaaaaaaa;x\nb;youtube.com/v/aaaaaaaaaaa;y\n")
    named = ["--columns", "video_id=name,url=where,split=part"]
    assert main(["audit", str(table), *named]) == 3
    assert "by url" in capsys.readouterr().out
    (tmp_path / "folder").mkdir()
    table.rename(tmp_path / "folder" / "clips.csv")
    assert main(["audit", str(tmp_path / "folder"), "--columns", "video_id=name"]) == 2
    error = capsys.readouterr().err
    assert "nothing says which split a row is in; name a column with --columns split=COLUMN" in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("train", "test", "has_leak"),
    [
        # The video itself is the clip: its id, or its address, in whatever column.
        ("youtube_id\ndQw4w9WgXcQ\n", "video_id\ndQw4w9WgXcQ\n", True),
        ("video_id\ndQw4w9WgXcQ\n", "video_id\nv_dQw4w9WgXcQ\n", True),
        ("video_id\ndQw4w9WgXcQ.mp4\n", "url\nhttps://youtu.be/dQw4w9WgXcQ\n", True),
        ("video\nhttps://youtu.be/dQw4w9WgXcQ\n", "video\nhttps://www.youtube.com/watch?v=dQw4w9WgXcQ&t=3\n", True),
        ("webpage_url\nhttps://youtu.be/dQw4w9WgXcQ\n", "youtube_link\nyoutube.com/v/dQw4w9WgXcQ\n", True),
        ("video_id\n6513\n", "video_id\n6513.0\n", True),
        # A clip's name is no source's.
        ("source_id,clip_id\nvideo000001,a\n", "source_id,clip_id\nb,video000001\n", False),
        ("clip_id,copy_of\na,False\nb,False\n", "clip_id,copy_of\nc,False\n", False),
        ("clip_id,copy_of\na,0\n", "clip_id,copy_of\nb,0\n", False),
        ("clip_id,url\na,https://a.org/v.tar.gz\n", "clip_id,url\nb,https://a.org/v.tar.gz\n", False),
    ],
)
def test_what_a_value_names_counts_and_not_its_column_alone(
    tmp_path: Path, train: str, test: str, has_leak: bool
) -> None:
    for split, text in (("train", train), ("test", test)):
        (tmp_path / f"{split}.csv").write_text(text)
    assert audit_foreign(tmp_path).ok is not has_leak
