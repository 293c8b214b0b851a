"""`vttdata people score` on made-up and real results without a campaign."""

from __future__ import annotations

import csv
import random
import re
from pathlib import Path

import pytest

from vttdata.cli.main import main

SYSTEMS = {"good": 75, "fair": 55, "poor": 35}


def campaign(folder: Path, workers: dict[str, str]) -> list[str]:
    """A HIT, answered by workers who are diligent, random or always give 50."""
    items = [("system", name, f"v{n}") for name in SYSTEMS for n in range(20)]
    items += [(kind, "person", f"v{n}") for kind in ("human", "degraded") for n in range(10)]
    with (folder / "hits.csv").open("w", newline="") as stream:
        rows = [("1", f"i{n}", video, system, kind) for n, (kind, system, video) in enumerate(items)]
        csv.writer(stream).writerows([("hit", "item", "video_id", "system", "kind"), *rows])
    with (folder / "page.csv").open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(("hit", "worker", "item", "score", "seconds"))
        for worker, manner in workers.items():
            luck = random.Random(worker)
            for n, (kind, system, _) in enumerate(items):
                truth = {"human": 90, "degraded": 40}.get(kind) or SYSTEMS[system]
                given = {"diligent": truth + luck.randint(-9, 9), "random": luck.randint(0, 100), "same": 50}[manner]
                writer.writerow(("1", worker, f"i{n}", given, 7))
    return [
        "people",
        "score",
        str(folder / "page.csv"),
        "--manifest",
        str(folder / "hits.csv"),
        "--out",
        str(folder / "o"),
    ]


def table(file: Path) -> list[dict[str, str]]:
    with file.open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_results_become_workers_systems_and_significance(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = campaign(tmp_path, {"a": "diligent", "b": "diligent", "c": "random", "d": "same"})
    assert main(command) == 0
    out = tmp_path / "o"
    verdicts = {row["worker"]: row["verdict"] for row in table(out / "workers.csv")}
    assert (verdicts["a"], verdicts["b"], verdicts["c"], verdicts["d"]) == (
        "reliable",
        "reliable",
        "unreliable",
        "constant",
    )
    systems = table(out / "systems.csv")
    assert [row["system"] for row in systems] == ["person", "good", "fair", "poor"]
    assert [row["cluster"] for row in systems] == ["1", "2", "3", "4"]
    assert [row["assessments"] for row in systems] == ["20", "40", "40", "40"]
    assert len(table(out / "captions.csv")) == 70
    assert (out / "significance.svg").read_text().startswith("<svg")
    assert table(out / "findings.csv") == []
    printed = capsys.readouterr().out
    assert "- constant: 1" in printed
    first, *_ = (out / "report.md").read_text().splitlines()
    assert first == "## Workers"
    assert not re.search(r"[|#\\]", printed)
    start = printed.splitlines().index("Systems")
    columns, best, *_ = printed.splitlines()[start + 2 :]
    assert columns.split()[:3] == ["system", "z", "z_lower"]
    assert best.split()[0] == "person"
    assert len(columns) == len(best)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    assert main(command) == 0
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_all_workers_can_be_kept_and_constant_ones_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*campaign(tmp_path, {"a": "diligent", "d": "same"}), "--keep-all"]) == 0
    assert "Not standardised, since all their scores are the same: d." in capsys.readouterr().out


def test_real_published_results_are_scored_as_published(shared: Path, tmp_path: Path) -> None:
    folder = shared / "data" / "direct-assessment" / "wmt22-lv-en"
    moments = ["--moments", str(folder / "ad-lven-trk-mean-sd.txt")]
    command = ["people", "score", str(folder / "ad-lven-good-stnd-redup.csv"), *moments, "--keep-all"]
    assert main([*command, "--out", str(tmp_path)]) == 0
    published = [line.split() for line in (folder / "ad-sys-ranking-lv-en-z.csv").read_text().splitlines()]
    rows = table(tmp_path / "systems.csv")
    assert [(row["system"], f"{float(row['z']):.3f}") for row in rows] == [(line[4], line[1]) for line in published]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--min-pairs", "11"], "No worker is reliable (too_few_pairs 1), so there is nothing to score"),
        (["--min-pairs", "0"], "--min-pairs"),
        (["--manifest", "nowhere.csv"], "nowhere.csv: cannot be read"),
        (["--moments", "nowhere.txt"], "nowhere.txt: cannot be read"),
    ],
)
def test_invalid_input_is_refused_in_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str], words: str
) -> None:
    assert main([*campaign(tmp_path, {"a": "diligent"}), *more]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1


def test_file_as_output_folder_is_refused_in_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "o").write_text("x")
    assert main(campaign(tmp_path, {"a": "diligent"})) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_invalid_significance_level_is_bad_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*campaign(tmp_path, {"a": "diligent"}), "--alpha", "5"]) == 2
    assert "--alpha" in capsys.readouterr().err
