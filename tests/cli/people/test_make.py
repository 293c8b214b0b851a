"""HITs of `vttdata people make`, and the whole way from captions over a crowd's answers to a ranking."""

from __future__ import annotations

import contextlib
import csv
import json
import random
import shutil
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.campaigns import human_captions, system_captions
from tests.helpers.hidden_libraries import run_without
from vttdata.cli.main import main
from vttdata.missing_modules import LIBRARIES
from vttdata.people import HitPlan, make_hits, read_manifest, score_hits
from vttdata.people.campaign import read_campaign
from vttdata.people.hits.write import write_hits
from vttdata.people.scoring.simulation import Behaviour, simulate
from vttdata.people.store import Store
from vttdata.people.task import Material

MAKE = ["people", "make", "rate-slider", "--videos", "https://example.org/{video_id}.mp4"]
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


def rating(folder: Path, *settings: str, out: str = "campaign", given: list[str] | None = None) -> Path:
    """Make a campaign of Direct Assessment and export it for a platform; return the folder of the export."""
    command = [*MAKE, *(inputs(folder) if given is None else given), "--out", str(folder / out)]
    assert main([*command, *settings]) == 0
    assert main(["people", "export", str(folder / out), "--format", "csv", "--out", str(folder / f"{out}-hits")]) == 0
    return folder / f"{out}-hits"


def systems(file: Path) -> list[str]:
    with file.open() as stream:
        return [row["system"] for row in csv.DictReader(stream)]


def check_equal_tables(one: Path, two: Path) -> None:
    """Compare tables whose workers have other names, so that sums over them differ in their last digits."""
    for name in ("systems.csv", "significance.csv", "captions.csv"):
        first, second = (sorted(csv.reader((folder / name).read_text().splitlines())) for folder in (one, two))
        for cells, others in zip(first, second, strict=True):
            for cell, other in zip(cells, others, strict=True):
                assert cell == other or float(cell) == pytest.approx(float(other)), (name, cells)


@pytest.fixture(scope="module")
def rated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a campaign, its export in `campaign-hits`, and what a crowd answers in `batch.csv`."""
    folder = tmp_path_factory.mktemp("rated")
    hits = rating(folder)
    crowd_export(hits / "crowd.csv", hits / "manifest.csv", folder / "batch.csv", WORTH)
    return folder


def test_campaign_leads_from_captions_to_a_ranking(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hits = rating(tmp_path, "--set", "assessments=2", "--seed", "4")
    printed = capsys.readouterr()
    assert "11 units of 100 items" in printed.out
    assert "50 captions that are assessed once more" in printed.err
    export = crowd_export(hits / "crowd.csv", hits / "manifest.csv", tmp_path / "batch.csv", WORTH)
    check_ranking(export, hits / "manifest.csv", ["human", "good", "fair", "poor"])
    campaign = read_campaign(tmp_path / "campaign")
    assert main(["people", "score", str(campaign.folder), str(export), "--out", str(tmp_path / "scores")]) == 0
    alone = ["people", "score", str(export), "--manifest", str(hits / "manifest.csv"), "--out", str(tmp_path / "alone")]
    assert main(alone) == 0
    assert systems(tmp_path / "scores" / "systems.csv") == ["human", "good", "fair", "poor"]
    check_equal_tables(tmp_path / "scores", tmp_path / "alone")
    # Answers of files change nothing in the campaign.
    with contextlib.closing(Store(campaign)) as store:
        assert store.answers() == []
    with (tmp_path / "scores" / "results.csv").open() as stream:
        names = {row["annotator"] for row in csv.DictReader(stream)}
    assert {campaign.hash_worker(f"keen{n}") for n in range(10)} <= names
    assert not names & set(CROWD)


def test_files_of_others_are_not_replaced(rated: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    export, campaign = Path(shutil.copy(rated / "batch.csv", tmp_path)), str(rated / "campaign")
    commands = [
        ("captions.csv", ["people", "score", campaign, str(export)]),
        ("manifest.csv", ["people", "export", campaign, "--format", "csv"]),
        ("notes.csv", ["people", "export", campaign, "--format", "pages"]),
        ("tasks.json", ["people", "export", campaign, "--format", "label-studio"]),
        ("answers.jsonl", ["people", "export", campaign, "--format", "answers"]),
    ]
    for number, (name, command) in enumerate(commands):
        out = tmp_path / f"out{number}"
        out.mkdir()
        (out / name).write_text("mine\n")
        capsys.readouterr()
        assert main([*command, "--out", str(out)]) == 2
        error = capsys.readouterr().err
        assert (error.count("\n"), f"holds a {name} that is not of this version" in error) == (1, True)
        assert [path.name for path in out.iterdir()] == [name]
        assert (out / name).read_text() == "mine\n"
        (out / name).unlink()
        assert [main([*command, "--out", str(out)]) for _ in range(2)] == [0, 0]
    # New answers have come.
    with export.open() as stream:
        lines = stream.readlines()
    export.write_text("".join(lines[:-5]))
    assert main([*commands[0][1], "--out", str(tmp_path / "out0")]) == 0


def test_unknown_times_of_answers_stay_unknown(rated: Path, tmp_path: Path) -> None:
    campaign = read_campaign(rated / "campaign")
    (unit, *_) = campaign.units.values()
    answers = [
        {"hit": unit.unit, "worker": worker, "item": item.item, "score": number % 100, "seconds": seconds}
        for worker, times in {"timed": ["4", "6", ""], "untimed": ["", "", ""]}.items()
        for number, (item, seconds) in enumerate(zip(unit.items, [*times, *[""] * len(unit.items)], strict=False))
    ]
    file = write_table(tmp_path / "answers.csv", answers)
    assert main(["people", "score", str(campaign.folder), file, "--keep-all", "--out", str(tmp_path / "scores")]) == 0
    tables = {}
    for name in ("workers", "reliability", "results"):
        with (tmp_path / "scores" / f"{name}.csv").open() as stream:
            tables[name] = list(csv.DictReader(stream))
    # The mean and the median of 4 and 6 s; of the other worker no time is known.
    assert sorted(row["median_seconds"] for row in tables["workers"]) == ["", "5.0"]
    assert sorted(row["seconds_per_item"] for row in tables["reliability"]) == ["", "5.0"]
    assert not any("fast" in row["flags"] for row in tables["reliability"])
    assert not any("rushing" in row["flags"] for row in tables["workers"])
    times = [row["seconds"] for row in tables["results"]]
    assert (times.count("4.0"), times.count("6.0"), times.count("")) == (1, 1, len(answers) - 2)


def test_conditions_of_a_campaign_can_be_replaced_when_it_is_scored(
    rated: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    campaign, hits, export = (rated / name for name in ("campaign", "campaign-hits", "batch.csv"))
    given = [str(export), "--test", "wilcoxon", "--convention", "ranked", "--min-pairs", "15", "--seed", "3"]
    assert main(["people", "score", str(campaign), *given, "--out", str(tmp_path / "scores")]) == 0
    alone = ["people", "score", *given, "--manifest", str(hits / "manifest.csv"), "--out", str(tmp_path / "alone")]
    assert main(alone) == 0
    check_equal_tables(tmp_path / "scores", tmp_path / "alone")
    capsys.readouterr()
    for option in ("--manifest", "--moments"):
        command = ["people", "score", str(campaign), option, str(export), "--out", str(tmp_path / "o")]
        assert main(command) == 2
        assert option in capsys.readouterr().err
    assert main(["people", "score", str(hits), str(export), "--out", str(tmp_path / "o")]) == 2
    error = capsys.readouterr().err
    assert str(hits / "manifest.csv") in error
    assert error.count("\n") == 1


def test_library_writes_what_the_command_writes(tmp_path: Path) -> None:
    hits = rating(tmp_path, "--seed", "2")
    secret = read_campaign(tmp_path / "campaign").secret
    seed = Material([], lambda wanted: {}, seed=2, secret=secret).draw_in_secret("hits").randrange(2**63)
    plan: HitPlan = make_hits(system_captions(["good", "fair", "poor"], 120), human_captions(120), seed=seed)
    write_hits(plan, tmp_path / "two", {f"v{n}": f"https://example.org/v{n}.mp4" for n in range(120)})
    first, second = ({path.name: path.read_bytes() for path in folder.iterdir()} for folder in (hits, tmp_path / "two"))
    assert first == second
    assert "manifest.csv" in first


def test_answers_to_another_campaign_and_edited_ids_are_reported(tmp_path: Path) -> None:
    files = inputs(tmp_path)
    one = rating(tmp_path, "--seed", "1", out="1", given=files) / "manifest.csv"
    rating(tmp_path, "--seed", "2", out="2", given=files)
    export = crowd_export(one.with_name("crowd.csv"), one, tmp_path / "batch.csv", WORTH)
    item = next(iter(next(iter(read_manifest(one).values()))))
    export.write_text(export.read_text().replace(f"_{item}_", "_bcdfghjklmnp_"))
    assert set(score_hits([export], one).findings) == {"unknown_item", "missing_answer"}
    scored = ["people", "score", str(tmp_path / "1"), str(export), "--out", str(tmp_path / "scores")]
    assert main(scored) == 0
    with (tmp_path / "scores" / "findings.csv").open() as stream:
        assert {row["finding"] for row in csv.DictReader(stream)} == {"unknown_item", "missing_answer"}
    scored[2] = str(tmp_path / "2")
    assert main(scored) == 2


def test_doubled_rows_and_a_single_system_are_noted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = inputs(tmp_path)
    with (tmp_path / "good.csv").open("a") as stream:
        stream.write((tmp_path / "good.csv").read_text().splitlines()[1] + "\n")
    hits = rating(tmp_path, given=[files[0], *files[3:]])
    assert "1 rows that say what another row says; left out (such as 'good/v0')" in capsys.readouterr().err
    with (hits / "notes.csv").open() as stream:
        notes = {row["note"]: (row["count"], row["such as"]) for row in csv.DictReader(stream)}
    assert notes["repeated_row"] == ("1", "good/v0")
    assert notes["single_system"] == ("1", "good")


def test_base_install_makes_exports_and_reads_hits(tmp_path: Path) -> None:
    without = {*LIBRARIES, "markupsafe"}
    out = str(tmp_path / "campaign")
    command = [*MAKE, *inputs(tmp_path), "--set", "assessments=2", "--out", out]
    export = ["people", "export", out, "--format", "pages", "--out", str(tmp_path / "hits")]
    score = ["people", "score", out, str(tmp_path / "batch.csv"), "--out", str(tmp_path / "scores")]
    code = f"from vttdata.cli.main import main\nfor command in {[command, export]!r}:\n    assert main(command) == 0\n"
    done = run_without(without, code)
    assert done.returncode == 0, done.stderr
    hits = tmp_path / "hits"
    assert len(list((hits / "pages").iterdir())) == 11
    crowd_export(hits / "crowd.csv", hits / "manifest.csv", tmp_path / "batch.csv", WORTH)
    code = f"from vttdata.cli.main import main\nimport sys\nsys.exit(main({score!r}))\n"
    done = run_without(without - {"scipy"}, code)
    assert done.returncode == 0, done.stderr
    assert systems(tmp_path / "scores" / "systems.csv") == ["human", "good", "fair", "poor"]
    assert "report.html is left out" in done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--set", "system=35", "--set", "human=5", "--set", "degraded=5", "--set", "repeat=5"],
            "A HIT would have 5 pairs to judge its worker by",
        ),
        (["--set", "system=0"], "--set system: found 0; it should be greater than or equal to 1"),
        (["--set", "system=many"], '--set system: found "many"; it should be an integer'),
        (["--set", "alpha=1"], "--set alpha: found 1; it should be less than 1"),
        (["--set", "test=z"], "--set test: found"),
        (["--set", "min_distance=51"], "the most that 100 items allow is 50"),
        (["--set", "question=[a]"], "it should be a text"),
        (["--set", "wrods=3"], "settings are"),
        (["--set", "system=500"], "360 different captions by 3 systems of 120 videos, and one HIT needs 500"),
        (["--videos", "nowhere"], "nowhere: neither a folder of videos nor a URL"),
        (["--videos", "../{video_id}.mp4"], "an address of videos is an http(s) URL with {video_id} in it"),
        (["--captions", "nowhere.csv"], "nowhere.csv: cannot be read"),
        (["--seed", "x"], "'x' is not a non-negative integer"),
    ],
)
def test_invalid_option_is_refused_in_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    assert main([*MAKE, *inputs(tmp_path), "--out", str(tmp_path / "out"), *options]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()


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
    given = [str(tmp_path / "right.json"), str(tmp_path / "wrong.json")]
    hits = rating(tmp_path, given=[*given, "--captions", write_table(tmp_path / "human.csv", human)])
    with (hits / "manifest.csv").open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 900
    for row in rows:
        if row["kind"] == "degraded":
            assert source_of[row["donor_video_id"]] != source_of[row["video_id"]]
    manifest = hits / "manifest.csv"
    export = crowd_export(
        hits / "crowd.csv", manifest, tmp_path / "b.csv", {"right": 75.0, "wrong": 25.0, "human": 90.0}
    )
    check_ranking(export, manifest, ["human", "right", "wrong"])
