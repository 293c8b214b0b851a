"""Pages of audits: their figures, what is said about them, and the protocol without leaks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.helpers.leaking_dataset import write_leaking_dataset
from tests.helpers.official_files import write_activitynet
from vttdata.cli.main import main
from vttdata.dataset.protocol_file import read_protocol_file


def test_leaking_dataset_gets_a_page_and_a_protocol_without_leaks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dataset = write_leaking_dataset(tmp_path / "small")
    page, clean = tmp_path / "page.md", tmp_path / "clean"
    assert main(["audit", str(dataset), "--page", str(page), "--clean", str(clean)]) == 3
    text = page.read_text()
    assert text.startswith("# Audit of me/small 2.0.1\n")
    assert f"$ vttdata audit {dataset} --page page.md\n" in text
    assert "| source in several splits | 1 source | 1 | 2 |" in text
    assert "let a model recognise what it was trained on" in text
    # t0 and t1 are of the source a, which feeds training; t3 and t4 are of one source.
    assert "| test | 6 | 4 (66.7%) |" in text
    protocol = read_protocol_file(clean / "protocol.json")
    assert dict(protocol.splits) == {"train": ["r0", "r1", "r2"], "test": ["t2", "t3", "t4", "t5"]}
    assert protocol.digest in text
    capsys.readouterr()
    assert main(["audit", str(dataset), "--config", str(clean / "protocol.json"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["ok"]


def test_page_of_a_build_has_the_findings_of_its_official_files(tmp_path: Path) -> None:
    files = write_activitynet(tmp_path / "files")
    out = tmp_path / "out"
    build = ["build", "activitynet-captions", "--quiet", "--set", f"annotations={files}", "--out", str(out)]
    assert main([*build, "--workers", "1"]) == 0
    assert main(["audit", str(out), "--page", str(tmp_path / "page.md")]) == 0
    text = (tmp_path / "page.md").read_text()
    assert "$ vttdata build activitynet-captions --out activitynet-captions\n" in text
    assert "| `end_before_start` | 1 | clips that end at their start or before it | Such a segment has no frame" in text
    assert "is the division as it is" in text


def test_page_of_foils_has_the_blind_attackers(tmp_path: Path) -> None:
    rows = "".join(f"a man eats thing {n},a man takes thing {n},v{n}\n" for n in range(20))
    (tmp_path / "pairs.csv").write_text("true,foil,video_id\n" + rows)
    assert main(["audit", str(tmp_path / "pairs.csv"), "--page", str(tmp_path / "page.md")]) == 0
    text = (tmp_path / "page.md").read_text()
    assert text.startswith("# Audit of pairs\n")
    assert "| ensemble | 1.000 (open) |" in text
    assert "the floor of the set" in text
    assert main(["audit", str(tmp_path / "pairs.csv"), "--clean", str(tmp_path / "clean")]) == 2
    assert main(["audit", str(tmp_path / "pairs.csv"), "--against", "x.csv", "--page", str(tmp_path / "p.md")]) == 2


def test_page_says_which_splits_it_is_about(tmp_path: Path) -> None:
    dataset = write_leaking_dataset(tmp_path / "small")
    assert main(["audit", str(dataset), "--split", "train", "--page", str(tmp_path / "page.md")]) == 0
    assert " --split train --page page.md\n" in (tmp_path / "page.md").read_text()
