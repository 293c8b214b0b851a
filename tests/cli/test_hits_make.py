"""`vttdata hits make`, and the whole way from captions over a crowd's answers to a ranking."""

from __future__ import annotations

import csv
import json
import random
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.campaigns import human_captions, system_captions
from vttdata.annotate.da_page import page_writer
from vttdata.assess import HitPlan, make_hits, read_manifest, score_hits
from vttdata.assess.hits.write import write_hits
from vttdata.assess.simulation import Behaviour, simulate
from vttdata.cli.main import main

WORTH = {"good": 70.0, "fair": 55.0, "poor": 40.0, "human": 88.0}
CROWD: dict[str, Behaviour] = {
    **{f"keen{n}": "diligent" for n in range(10)},
    **{f"lazy{n}": "lazy" for n in range(3)},
    **{f"dice{n}": "random" for n in range(2)},
}


def write_table(path: Path, rows: list[dict[str, Any]]) -> str:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return str(path)


def inputs(folder: Path, videos: int = 120) -> list[str]:
    systems = system_captions(["good", "fair", "poor"], videos)
    files = [
        write_table(folder / f"{name}.csv", [{"video_id": v, "caption": text} for v, text in own.items()])
        for name, own in systems.items()
    ]
    human = [{"video_id": own.video_id, "caption": own.caption, "sen_id": own.sen_id} for own in human_captions(videos)]
    return [*files, "--captions", write_table(folder / "human.csv", human)]


def crowd_export(crowd_csv: Path, manifest: Path, out: Path, worth: Mapping[str, float]) -> Path:
    """What Mechanical Turk gives back: each worker's row repeats the task's own cells and adds the answer."""
    shown = {}
    with crowd_csv.open(newline="", encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            shown[row["hit"]] = {f"Input.{name}": cell for name, cell in row.items()}
    answers: dict[tuple[str, str], list[str]] = {}
    for own in simulate(read_manifest(manifest), worth, CROWD, hits_per_worker=2).judgments:
        part = f"{own.position}_{own.item}_{own.score:.0f}"
        answers.setdefault((own.hit, own.worker), []).append(part)
    rows = [
        {
            "HITId": f"3{number:X}",
            "WorkerId": worker,
            "AssignmentStatus": "Submitted",
            "WorkTimeInSeconds": 900,
            **shown[hit],
            "Answer.scores": "|".join(random.Random(number).sample(parts, len(parts))),
            "Approve": "",
        }
        for number, ((hit, worker), parts) in enumerate(answers.items())
    ]
    return Path(write_table(out, rows))


def check_ranking(results: Path, manifest: Path, systems: list[str]) -> None:
    summary = score_hits([results], manifest)
    assert not summary.findings
    assert [own.system for own in summary.systems] == systems
    verdicts = {own.worker: own.verdict for own in summary.workers}
    assert {worker for worker, verdict in verdicts.items() if verdict == "reliable"} >= {f"keen{n}" for n in range(10)}
    passed = [worker for worker, verdict in verdicts.items() if verdict == "reliable" and not worker.startswith("keen")]
    assert len(passed) <= 1  # one in twenty who does not look passes a test at 0.05
    assert all(own.degraded.pairs == own.repeat.pairs == 20 for own in summary.workers)


def test_campaign_leads_from_captions_to_a_ranking(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "campaign"
    command = ["hits", "make", *inputs(tmp_path), "--out", str(out), "--assessments", "2", "--seed", "4"]
    assert main([*command, "--videos", "https://example.org/{video_id}.mp4"]) == 0
    printed = capsys.readouterr().out
    assert "11 HITs of 100 items (70 system, 10 human, 10 degraded, 10 repeat), 3 systems, 120 videos" in printed
    assert "at least 41 places" in printed
    assert "50 captions that are assessed once more" in printed
    export = crowd_export(out / "crowd.csv", out / "manifest.csv", tmp_path / "batch.csv", WORTH)
    check_ranking(export, out / "manifest.csv", ["human", "good", "fair", "poor"])
    scored = ["hits", "score", str(export), "--manifest", str(out / "manifest.csv"), "--out", str(tmp_path / "scores")]
    assert main(scored) == 0
    with (tmp_path / "scores" / "systems.csv").open() as stream:
        assert [row["system"] for row in csv.DictReader(stream)] == ["human", "good", "fair", "poor"]


def test_library_writes_what_the_command_writes(tmp_path: Path) -> None:
    assert main(["hits", "make", *inputs(tmp_path), "--out", str(tmp_path / "one"), "--seed", "2"]) == 0
    plan: HitPlan = make_hits(system_captions(["good", "fair", "poor"], 120), human_captions(120), seed=2)
    videos = {f"v{n}": f"../videos/v{n}.mp4" for n in range(120)}
    write_hits(plan, tmp_path / "two", videos, page_writer(videos))
    first, second = (
        {path.relative_to(tmp_path / name): path.read_bytes() for path in (tmp_path / name).rglob("*.*")}
        for name in ("one", "two")
    )
    assert first == second


def test_answers_to_another_campaign_and_edited_ids_are_reported(tmp_path: Path) -> None:
    files = inputs(tmp_path)
    for seed in ("1", "2"):
        assert main(["hits", "make", *files, "--out", str(tmp_path / seed), "--seed", seed]) == 0
    one, two = (tmp_path / seed / "manifest.csv" for seed in ("1", "2"))
    export = crowd_export(tmp_path / "1" / "crowd.csv", one, tmp_path / "batch.csv", WORTH)
    item = next(iter(next(iter(read_manifest(one).values()))))
    export.write_text(export.read_text().replace(f"_{item}_", "_bcdfghjklmnp_"))
    assert set(score_hits([export], one).findings) == {"unknown_item", "missing_answer"}
    scored = ["hits", "score", str(export), "--manifest", str(two), "--out", str(tmp_path / "scores")]
    assert main(scored) == 2


def test_videos_without_a_file_and_doubled_rows_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "films").mkdir()
    for n in range(1, 120):
        (tmp_path / "films" / f"v{n}.mp4").touch()
    files = inputs(tmp_path)
    with (tmp_path / "good.csv").open("a") as stream:
        stream.write((tmp_path / "good.csv").read_text().splitlines()[1] + "\n")
    out = ["--videos", str(tmp_path / "films"), "--out", str(tmp_path / "out")]
    assert main(["hits", "make", *files, *out]) == 0
    printed = capsys.readouterr().out
    assert "1 rows that say what another row says; left out (such as 'good/v0')" in printed
    assert "1 videos that are not in the folder; left out (such as 'v0')" in printed
    lines = [json.loads(line) for line in (tmp_path / "out" / "hits.jsonl").read_text().splitlines()]
    shown = {item["video"] for line in lines for item in line["items"]}
    assert shown == {f"../../films/v{n}.mp4" for n in range(1, 120)}


def test_single_system_is_assessed_with_a_note(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = inputs(tmp_path)
    assert main(["hits", "make", files[0], *files[3:], "--out", str(tmp_path / "out")]) == 0
    assert "only one system, 'good': it can be compared with human captions alone" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--items", "50"], "A HIT would have 5 pairs to judge its worker by, and min_pairs is 10"),
        (["--items", "50", "--composition", "system=70"], "--composition has 70 items, and --items is 50"),
        (["--composition", "human=10,degraded=10"], None),
        (["--composition", "human=100,degraded=10"], "A HIT needs a caption of a system"),
        (["--composition", "system=7,bad=3"], "is not like system=70"),
        (["--composition", "system=7,system=3"], "is not like system=70"),
        (["--assessments", "0"], "--assessments and --min-distance are at least 1"),
        (["--min-distance", "51"], "the most that 100 items allow is 50"),
        (
            ["--composition", "system=500,human=10,degraded=10"],
            "360 different captions by 3 systems of 120 videos, and one HIT needs 500",
        ),
        (["--videos", "nowhere"], "neither a folder of videos nor an address"),
        (["--captions", "nowhere.csv"], "nowhere.csv: cannot be read"),
        (["--seed", "x"], "'x' is not a non-negative integer"),
    ],
)
def test_invalid_input_is_refused_in_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], told: str | None
) -> None:
    command = ["hits", "make", *inputs(tmp_path), "--out", str(tmp_path / "out"), *options]
    code = main(command)
    error = capsys.readouterr().err
    assert code == (2 if told else 0)
    assert (told or "") in error
    assert error.count("\n") == (1 if told else 0)


def test_real_captions_become_hits(shared: Path, tmp_path: Path) -> None:
    """Systems whose captions are those of persons: of the same clip, and of the next one."""
    with zipfile.ZipFile(shared / "data" / "msrvtt" / "test_videodatainfo.json.zip") as archive:
        name = next(name for name in archive.namelist() if Path(name).name == "test_videodatainfo.json")
        official = json.loads(archive.read(name))
    source_of = {video["video_id"]: video["url"] for video in official["videos"]}
    own: dict[str, list[str]] = {}
    for sentence in sorted(official["sentences"], key=lambda row: row["sen_id"]):
        own.setdefault(sentence["video_id"], []).append(sentence["caption"])
    videos = sorted(own)[:300]
    human = [{"video_id": v, "caption": t, "source_id": source_of[v]} for v in videos for t in own[v][:5]]
    right = [{"image_id": v, "caption": own[v][10]} for v in videos]
    wrong = [{"image_id": v, "caption": own[videos[n - 1]][11]} for n, v in enumerate(videos)]
    (tmp_path / "right.json").write_text(json.dumps(right))
    (tmp_path / "wrong.json").write_text(json.dumps(wrong))
    command = ["hits", "make", str(tmp_path / "right.json"), str(tmp_path / "wrong.json")]
    command += ["--captions", write_table(tmp_path / "human.csv", human), "--out", str(tmp_path / "out")]
    assert main(command) == 0
    with (tmp_path / "out" / "manifest.csv").open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 900
    for row in rows:
        if row["kind"] == "degraded":
            assert source_of[row["donor_video_id"]] != source_of[row["video_id"]]
    manifest = tmp_path / "out" / "manifest.csv"
    export = crowd_export(
        tmp_path / "out" / "crowd.csv", manifest, tmp_path / "b.csv", {"right": 75.0, "wrong": 25.0, "human": 90.0}
    )
    check_ranking(export, manifest, ["human", "right", "wrong"])
