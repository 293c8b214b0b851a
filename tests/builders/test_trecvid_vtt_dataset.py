"""The dataset of TRECVID's judgments through the command line."""

from __future__ import annotations

from pathlib import Path

import datasets
import pandas as pd
import pytest

from tests.builders.test_trecvid_vtt import VIDEOS, write_single
from vttdata.cli.main import main
from vttdata.recipe.packaged import load_builder
from vttdata.records import CaptionScore


def build(out: Path, annotations: Path, *more: str) -> int:
    settings = [part for text in (f"annotations={annotations}", *more) for part in ("--set", text)]
    return main(["build", "trecvid-vtt", "--quiet", "--workers", "1", "--out", str(out), *settings])


def load(out: Path, name: str) -> datasets.DatasetDict:
    return datasets.load_dataset(str(out / "dataset"), name, cache_dir=str(out / "cache"))


def test_judgments_are_rows_with_references_and_years_are_splits(tmp_path: Path) -> None:
    for year in ("2016", "2017"):
        write_single(tmp_path / "files", year, rows_per_line=3, hit=True)
    assert build(tmp_path / "out", tmp_path / "files") == 0
    rows = load(tmp_path / "out", "judgments")
    assert rows.num_rows == {"year2016": 6 * VIDEOS, "year2017": 6 * VIDEOS}
    first = rows["year2016"][0]
    assert (first["video_id"], first["system"], first["human"], first["year"]) == ("vtt2016_1", "A", False, 2016)
    assert (first["annotators"], first["hit"], first["assessments"]) == ("single", "0", 17)
    assert "A0" in first["caption"].split()
    assert len(first["references"]) == 1
    assert first["caption"] not in first["references"]
    held_out = load(tmp_path / "out", "judgments-without-2016")
    assert set(held_out["train"]["year"]) == {2017}
    assert held_out["test"][:] == rows["year2016"][:]
    assert load(tmp_path / "out", "captions")["year2016"][0]["annotator"] == "A"
    # The official files do not say which part of a source a clip is.
    clip = load(tmp_path / "out", "clips")["year2016"][0]
    assert [clip[name] for name in ("start", "end", "duration")] == [None, None, None]
    assert "| hours | - | - | - |" in (tmp_path / "out" / "dataset" / "README.md").read_text()
    scans = pd.read_parquet(tmp_path / "out" / "stages" / "alignment" / "kept.parquet")
    best = scans.loc[scans.groupby("campaign")["correlation"].idxmax()]
    assert list(best["offset"]) == [-1, -1]
    card = (tmp_path / "out" / "dataset" / "README.md").read_text()
    assert "| `video_of_several_years` |" in card
    assert "- `judgments-without-2016`: one row per judged caption" in card


def test_unmatchable_ids_leave_no_dataset(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_single(tmp_path / "files", number=lambda line: (line * 37) % VIDEOS + 1, rows_per_line=3, hit=True)
    assert build(tmp_path / "out", tmp_path / "files") == 2
    assert "do judgments fit the captions" in capsys.readouterr().err
    assert not (tmp_path / "out" / "dataset").exists()


def test_card_compares_the_judgments_with_the_papers(tmp_path: Path) -> None:
    write_single(tmp_path / "files", "2016", rows_per_line=3, hit=True)
    assert build(tmp_path / "out", tmp_path / "files", "paper.single_judgments.says=7") == 0
    card = (tmp_path / "out" / "dataset" / "README.md").read_text()
    assert f"| single judgments | 7 | {6 * VIDEOS:,} |" in card
    assert "| multiple judgments | 7,705 | 0 |" in card


def test_all_years_of_the_release_are_counted() -> None:
    def scores(campaign: str, system: str, *raw: float) -> list[CaptionScore]:
        return [CaptionScore("vtt2016_1", system, value, 0.0, 1, campaign) for value in raw]

    counted = load_builder("trecvid_vtt").count_judgments(
        scores("2016-single", "HUMAN-b", 80, 90)
        + scores("2016-single", "LOW", 40, 50)
        + scores("2016-single", "HIGH", 60)
        + scores("2020-single", "LOW", 0)
        + scores("2020-multiple", "LOW", 0, 0)
    )
    assert counted == {
        "single_judgments": 6,
        "multiple_judgments": 2,
        "human_b_2016": 85,
        "lowest_system_2016": 45,
    }
