"""Degraded captions as a dataset and through ``vttdata degrade``."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import datasets
import pandas as pd
import pytest

from tests.helpers.official_files import train_val, write_unpacked
from vttdata.cli.main import main
from vttdata.dataset import compute_statistics

TEXTS = [
    "a man is running in a park",
    "a dog is barking in a garden",
    "a woman is singing in a red car",
    "the girl is cooking soup in a kitchen",
    "one boy is playing chess at school",
]
ROWS = [{"video_id": f"v{n}", "caption": text, "source_id": f"s{n // 2}"} for n, text in enumerate(TEXTS)]


def build(out: Path, files: Path, *settings: str) -> None:
    parts = [part for setting in settings for part in ("--set", setting)]
    command = ["build", "msrvtt-degraded", "--quiet", "--out", str(out), "--set", f"annotations={files}"]
    assert main([*command, *parts]) == 0


def write_csv(path: Path, rows: list[dict[str, Any]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(dict.fromkeys(key for row in rows for key in row)))
        writer.writeheader()
        writer.writerows(rows)
    return path


def degrade(given: Path | str, out: Path, *options: str) -> pd.DataFrame:
    assert main(["degrade", str(given), "--out", str(out), *options]) == 0
    return pd.read_parquet(out / "degraded.parquet")


def test_a_built_dataset_has_a_row_for_every_caption_and_counts_its_flags(tmp_path: Path) -> None:
    first = train_val()
    first["sentences"][0]["caption"] = "so short"
    first["sentences"][1]["caption"] = " "
    files = write_unpacked(tmp_path / "files", first)
    build(tmp_path / "out", files)
    rows = datasets.load_dataset(str(tmp_path / "out" / "dataset"), "degraded", cache_dir=str(tmp_path / "cache"))
    assert rows.num_rows == {"train": 20, "validation": 4, "test": 10}
    source_of = {f"video{n}": f"abc-_{n // 2:06d}" for n in range(17)}
    seconds = [(split, row) for split, own in rows.items() for row in own]
    assert [row["sen_id"] for _, row in seconds] == list(range(34))
    for split, row in seconds:
        assert row["source_id"] == source_of[row["video_id"]]
        if row["flag"] is None:
            donor = int(row["donor_video_id"].removeprefix("video"))
            assert source_of[row["donor_video_id"]] != row["source_id"]
            assert split == ("train" if donor < 10 else "validation" if donor < 12 else "test")
            assert row["caption"] != row["original"]
    # both clips of the validation split are of one source, so nobody can give them words
    flags = {"validation": {"too_short": 1, "empty": 1, "no_donor": 2, "degraded": 0}, "train": {"degraded": 20}}
    facts = compute_statistics(tmp_path / "out" / "dataset").configs["degraded"]
    for split, numbers in flags.items():
        assert facts[split] | numbers == facts[split]
    card = (tmp_path / "out" / "dataset" / "README.md").read_text()
    assert "`too_short`: it has one or two words" in card
    assert "| configuration | split | clips | sources | sentences | degraded |" in card


def test_the_command_gives_what_the_build_gives(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    build(tmp_path / "out", write_unpacked(tmp_path / "files"))
    capsys.readouterr()
    table = degrade(tmp_path / "out", tmp_path / "mine", "--seed", "2018")
    files = sorted((tmp_path / "out" / "dataset" / "degraded").iterdir(), key=lambda path: "test" in path.name)
    built = pd.concat([pd.read_parquet(path) for path in files]).sort_values("sen_id", ignore_index=True)
    pd.testing.assert_frame_equal(table, built[table.columns])
    assert capsys.readouterr().out.startswith("30 degraded, 4 no_donor: ")


def test_a_table_in_any_order_and_format_gives_the_same_bytes(tmp_path: Path) -> None:
    degrade(write_csv(tmp_path / "a.csv", ROWS), tmp_path / "a", "--seed", "5")
    lines = "".join(json.dumps(row) + "\n" for row in reversed(ROWS))
    (tmp_path / "b.jsonl").write_text(lines)
    table = degrade(tmp_path / "b.jsonl", tmp_path / "b", "--seed", "5")
    for name in ("degraded.parquet", "rejected.parquet"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    source_of = {row["video_id"]: row["source_id"] for row in ROWS}
    assert table["flag"].isna().all()
    assert all(source_of[a] != source_of[b] for a, b in zip(table["video_id"], table["donor_video_id"], strict=True))


def test_captions_that_cannot_be_degraded_are_counted_in_their_own_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    odd = ["", "a man is running in a park", "=1+1", "<b>x</b>", "ein Mädchen läuft 跑", "w " * 3000, "half \ud800"]
    rows = [*ROWS, *({"video_id": "v0", "caption": text, "source_id": "s0"} for text in odd)]
    (tmp_path / "odd.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    table = degrade(tmp_path / "odd.jsonl", tmp_path / "out")
    assert table["flag"].value_counts().to_dict() == {"too_short": 3, "no_donor": 1}
    rejected = pd.read_parquet(tmp_path / "out" / "rejected.parquet")
    assert sorted(rejected["reason"]) == ["duplicate", "empty"]
    output = capsys.readouterr().out
    assert "6 degraded, 1 no_donor, 3 too_short: " in output
    assert "1 duplicate, 1 empty: " in output
    assert "läuft" in table.loc[table["original"].str.contains("Mädchen"), "original"].item()


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([{**ROWS[0]}, {**ROWS[1], "source_id": "s0"}], "all 2 captions are about one source"),
        ([{**ROWS[0], "source_id": "s9"}, {**ROWS[0], "caption": "another one"}], "clip 'v0' has two sources"),
        ([{"video_id": "v", "caption": " "}], "has no caption to degrade"),
        ([{"video_id": "", "caption": "x", "source_id": "s"}], "the video is not named"),
        ([{"video_id": "v", "text": "x"}], "there is no column 'caption'"),
        ([], "has no caption to degrade"),
    ],
)
def test_unusable_table_is_refused_in_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], rows: list[dict[str, Any]], words: str
) -> None:
    file = write_csv(tmp_path / "t.csv", rows)
    assert main(["degrade", str(file), "--out", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("given", ["nowhere.csv", "nowhere", "--seed=-1 x", "--variant=mine x"])
def test_invalid_option_is_refused_in_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["degrade", "--out", "out", *given.split()]) == 2
    assert capsys.readouterr().err.count("\n") == 1
