"""`vttdata metric judge`: verdicts, controls, corrected means, and bad input."""

from __future__ import annotations

import csv
import json
import math
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.evaluate.test_judgments import save
from tests.helpers.leaking_dataset import write_leaking_dataset
from vttdata.cli.main import main
from vttdata.evaluate.meta.judging import JudgeAgreement
from vttdata.people.task import ratings_csv
from vttdata.statistics.agreement import krippendorff_alpha

Run = Callable[..., Any]
VIDEOS, RATED = 200, 60
WORTH = {"best": 1.0, "middle": 0.5, "worst": 0.0}
JUDGE = ("judge-7b", "judge-7b-20260131", "sha256:0123456789abcdef", "2026-02-01")
HEAD = "system item score judge revision prompt_digest date repeat position caption"


class Study:
    """Three systems of which people rated a part, and a judge who rated all and favours the worst one."""

    def __init__(self, folder: Path) -> None:
        draws = random.Random(4)
        self.folder = folder
        self.truth: dict[str, list[float]] = {}
        self.verdicts: list[list[Any]] = []
        ratings = []
        for system, worth in WORTH.items():
            for video in range(VIDEOS):
                quality = worth + draws.gauss(0, 1)
                self.truth.setdefault(system, []).append(quality)
                caption = f"{system} says a thing about video {video}"
                if video < RATED:
                    ratings.append([f"v{video}", system, quality, caption])
                score = 50 + 10 * (quality + draws.gauss(0, 0.7)) + 20 * (system == "worst")
                self.verdicts.append([system, f"v{video}", score, *JUDGE, 1, 1, caption])
        self.people = save(folder / "people.csv", "video_id system score candidate", ratings)

    def table(self, rows: Sequence[Sequence[object]] | None = None) -> Path:
        return save(self.folder / "verdicts.csv", HEAD, self.verdicts if rows is None else rows)


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return Study(tmp_path)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Provide a function that runs the command and returns its JSON."""

    def run_json(*arguments: object) -> Any:
        assert main(["metric", "judge", *map(str, arguments), "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return run_json


@pytest.fixture
def refusal(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Provide a function that runs the command and returns the sentence with which it is refused."""

    def run_bad(*arguments: object) -> str:
        assert main(["metric", "judge", *map(str, arguments)]) == 2
        printed = capsys.readouterr()
        assert printed.out == ""
        assert len(printed.err.splitlines()) == 1
        return printed.err

    return run_bad


def test_judge_that_favours_a_system_ranks_wrongly_and_is_corrected(study: Study, run: Run) -> None:
    report = run(study.people, "--verdicts", study.table(), "--target", "items", "--out", study.folder / "out")
    (judged,) = report["sets"]
    systems = judged["systems"]
    assert list(systems) == ["best", "middle", "worst"]
    by_judge = sorted(systems, key=lambda name: -systems[name]["mean"]["judge"])
    assert by_judge[0] == "worst"
    for name, result in systems.items():
        mean = result["mean"]
        rated = study.truth[name][:RATED]
        assert (mean["items"], mean["rated"], result["agreement"]["captions"]) == (VIDEOS, RATED, RATED)
        assert mean["people"]["value"] == pytest.approx(sum(rated) / RATED)
        whole = sum(study.truth[name]) / VIDEOS
        assert mean["corrected"]["value"] == pytest.approx(whole, abs=0.25)
        # The judge's r is 1 / sqrt(1.49) = .82, which leaves a third of the variance.
        assert mean["share"] == pytest.approx(1 - 1 / 1.49, abs=0.2)
        assert result["agreement"]["pearson"] == pytest.approx(0.82, abs=0.1)
    assert systems["best"]["places"] == [1, 1]
    pair = next(one for one in judged["differences"] if (one["first"], one["second"]) == ("best", "worst"))
    assert pair["corrected"]["low"] > 0
    assert pair["corrected"]["error"] < pair["people"]["error"]
    assert json.loads((study.folder / "out" / "judge.json").read_text()) == report
    assert "| best | 1 | 200 | 60 |" in (study.folder / "out" / "judge.md").read_text()


def test_judge_that_knows_what_people_rated_is_found(study: Study, run: Run) -> None:
    honest = run(study.people, "--verdicts", study.table())
    assert honest["sets"][0].get("notes", []) == []
    # The judge's scale is ten times people's.
    knowing = [
        [*row[:2], row[2] + 15 * (row[0] == "worst" and int(row[1][1:]) >= RATED), *row[3:]] for row in study.verdicts
    ]
    report = run(study.people, "--verdicts", study.table(knowing))
    (judged,) = report["sets"]
    (note,) = judged["notes"]
    assert "otherwise than the rest" in note
    assert "worst -1" in note
    assert "best" not in note
    assert "Take verdicts that were fixed before people rated." in note
    shift = judged["systems"]["worst"]["shift"]
    scores = [row[2] for row in knowing if row[0] == "worst"]
    rest = len(scores) - RATED
    assert shift["value"] == pytest.approx(sum(scores[:RATED]) / RATED - sum(scores[RATED:]) / rest)
    assert shift["p"] < 1e-8
    # Verdicts that are not the same have another digest in the signature.
    digests = {one["signatures"]["judge-7b judge-7b-20260131"].rpartition(":")[2] for one in (honest, report)}
    assert len(digests) == 2


def test_judge_is_described_by_runs_places_and_prompt(study: Study, run: Run) -> None:
    again = [[*row[:2], row[2] + (1 if n % 2 else 0), *row[3:7], 2, 2, row[9]] for n, row in enumerate(study.verdicts)]
    report = run(study.people, "--verdicts", study.table([*study.verdicts, *again]))
    (checks,) = report["judges"].values()
    assert list(report["judges"]) == ["judge-7b judge-7b-20260131"]
    assert (checks["prompt"], checks["dates"], checks["verdicts"]) == (JUDGE[2], ["2026-02-01", "2026-02-01"], 1200)
    assert checks["retest"]["captions"] == checks["shift"]["captions"] == 600
    assert checks["retest"]["equal"] == 0.5
    assert checks["shift"]["value"] == pytest.approx(0.5)
    # 300 differences of 0 and 300 of 1: a standard deviation of .5004.
    assert checks["shift"]["error"] == pytest.approx(0.5004 / math.sqrt(600), rel=1e-3)


def test_text_says_what_is_not_known(study: Study, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [row for row in study.verdicts if row[0] != "worst" or int(row[1][1:]) < 5 or int(row[1][1:]) >= RATED]
    stranger = ["stranger", "v1", 3, *JUDGE, 1, 1, "x"]
    assert main(["metric", "judge", str(study.people), "--verdicts", str(study.table([*rows, stranger]))]) == 0
    text = capsys.readouterr().out
    assert "No caption was judged again" in text
    assert "No controls were judged" in text
    assert "Rated captions without a score by the judge, left out: 55." in text
    assert "1 of 3 systems with fewer than 20 rated captions (first 'worst' with 5)" in text
    assert "Systems that people did not rate, left out: 1 (first 'stranger')." in text


def test_metric_is_a_judge(study: Study, run: Run) -> None:
    references = save(
        study.folder / "references.csv",
        "video_id caption",
        [[f"v{video}", f"best says a thing about video {video}"] for video in range(VIDEOS)],
    )
    candidates = save(
        study.folder / "candidates.csv", "system video_id caption", [[*row[:2], row[9]] for row in study.verdicts]
    )
    arguments = (study.people, "--candidates", candidates, "--references", references)
    report = run(*arguments, "--metric", "rouge-l", "--metric", "chrf")
    assert [judged["judge"] for judged in report["sets"]] == ["rouge-l", "chrf", "rouge-l and chrf"]
    assert list(report["signatures"]) == ["rouge-l", "chrf"]
    # All captions of a system share as many words with their references, so that nothing is corrected.
    best = report["sets"][0]["systems"]["best"]["mean"]
    assert (best["judge"], best["power"], best["items"]) == (1, [0], VIDEOS)
    assert best["corrected"]["value"] == best["people"]["value"]


def test_controls_are_judged_without_people(tmp_path: Path, run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    dataset = write_leaking_dataset(tmp_path / "captions")
    folder = tmp_path / "controls"
    arguments = ["metric", "judge", str(dataset), "--make-controls", str(folder), "--split", "train"]
    assert main(arguments) == 0
    assert "controls-key.csv for you alone" in capsys.readouterr().out
    first = (folder / "controls.csv").read_bytes()
    assert main(arguments) == 0
    assert (folder / "controls.csv").read_bytes() == first
    capsys.readouterr()
    with (folder / "controls.csv").open(newline="", encoding="utf-8") as stream:
        controls = list(csv.DictReader(stream))
    with (folder / "controls-key.csv").open(newline="", encoding="utf-8") as stream:
        key = list(csv.DictReader(stream))
    assert list(controls[0]) == ["item", "video_id", "caption"]
    texts = {row["item"]: row["caption"] for row in controls}
    assert len(texts) == len(controls)
    empty = {row["worse"] for row in key if row["test"] == "empty"}
    assert empty == {item for item, text in texts.items() if not text}
    # This judge counts letters, so that it likes doubled captions and dislikes empty ones.
    rows = [["", item, len(text), *JUDGE, 1, "", text] for item, text in texts.items()]
    report = run(folder, "--verdicts", save(tmp_path / "verdicts.csv", HEAD, rows))
    (checks,) = report["judges"].values()
    controls_of = checks["controls"]
    assert controls_of["empty"]["above"]["score"] == 1
    assert controls_of["doubled"]["below"] == 1
    assert controls_of["cut in half"]["above"]["score"] == 1
    for test, result in controls_of.items():
        pairs = [(len(texts[row["true"]]), len(texts[row["worse"]])) for row in key if row["test"] == test]
        assert result["above"]["items"] == len(pairs)
        assert result["above"]["score"] == pytest.approx(sum(a > b for a, b in pairs) / len(pairs))
        assert result["ties"] == pytest.approx(sum(a == b for a, b in pairs) / len(pairs))


@pytest.mark.parametrize("revision", ["latest", "gpt-judge", "judge-7b@main", "judge-latest-20260131", "v2", "preview"])
def test_floating_names_are_refused(study: Study, refusal: Callable[..., str], revision: str) -> None:
    rows = [[*row[:4], revision, *row[5:]] for row in study.verdicts]
    assert "does not fix a model" in refusal(study.people, "--verdicts", study.table(rows))


@pytest.mark.parametrize("revision", ["2026-01-31", "judge-20260131", "1.4.0", "9f3c2ab", "judge@0123456789abcdef"])
def test_fixed_names_are_taken(study: Study, run: Run, revision: str) -> None:
    rows = [[*row[:4], revision, *row[5:]] for row in study.verdicts]
    assert list(run(study.people, "--verdicts", study.table(rows))["judges"]) == [f"judge-7b {revision}"]


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        (5, "fedcba9876543210", "has two prompts, sha256:012345678 and fedcba9876543210"),
        (5, "a prompt in words", "the prompt's digest is 'a prompt in words'"),
        (2, "nan", "'score' is 'nan', which is not a finite number"),
        (6, "yesterday", "the date is 'yesterday', not like 2026-01-31"),
        (3, "", "'judge' is empty"),
        (9, "another caption", "is 'another caption', and people rated 'best says a thing about video 3'"),
    ],
)
def test_bad_verdicts_are_refused(
    study: Study, refusal: Callable[..., str], column: int, value: str, message: str
) -> None:
    rows = [list(row) for row in study.verdicts]
    rows[3][column] = value
    assert message in refusal(study.people, "--verdicts", study.table(rows))


def test_bad_use_is_refused(study: Study, refusal: Callable[..., str], tmp_path: Path) -> None:
    double = study.table([*study.verdicts, study.verdicts[0]])
    assert "'v0' has a verdict of the same run on line 2" in refusal(study.people, "--verdicts", double)
    strangers = study.table([[row[0], f"x{row[1]}", *row[2:]] for row in study.verdicts])
    assert "is about a caption that people rated in people" in refusal(study.people, "--verdicts", strangers)
    assert "--verdicts" in refusal(study.people)
    anonymous = save(tmp_path / "anonymous.csv", "video_id score", [["v1", 3], ["v2", 4]])
    assert "captions have no systems" in refusal(anonymous, "--verdicts", study.table())
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("x")
    out = ("--out", tmp_path / "mine")
    assert "holds 'thesis.txt'" in refusal(study.people, "--verdicts", study.table(), *out)


def test_alpha_of_standardised_scores_is_krippendorffs() -> None:
    draws = random.Random(3)
    judge = [draws.gauss(0, 1) for _ in range(40)]
    people = [value + draws.gauss(0, 1) for value in judge]
    agreement = JudgeAgreement.of(*(np.array(side) for side in (judge, people)))

    def standardise(side: list[float]) -> list[float]:
        mean = sum(side) / len(side)
        sd = math.sqrt(sum((value - mean) ** 2 for value in side) / len(side))
        return [(value - mean) / sd for value in side]

    ratings = {
        str(n): {"judge": a, "people": b}
        for n, (a, b) in enumerate(zip(standardise(judge), standardise(people), strict=True))
    }
    assert agreement.alpha == pytest.approx(krippendorff_alpha(ratings, "interval"))


def test_rounds_are_assigned_until_the_order_is_decided(
    tmp_path: Path, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of four systems two are close: they get most captions; the others get an even share, with known probability."""
    draws = random.Random(11)
    worth = {"a": 0.0, "b": 1.5, "c": 1.75, "d": 3.5}
    quality = {
        (system, f"v{video}"): value + draws.gauss(0, 1) for system, value in worth.items() for video in range(900)
    }
    text_of = {(system, video): f"=says {system} of {video}" for system, video in quality}
    verdicts = [
        [system, video, value + draws.gauss(0, 1), *JUDGE, 1, 1, text_of[system, video]]
        for (system, video), value in quality.items()
    ]
    table = save(tmp_path / "verdicts.csv", HEAD, verdicts)
    assert (
        main(["metric", "judge", "--verdicts", str(table), "--assign", str(tmp_path / "round1.csv"), "--number", "400"])
        == 0
    )
    assert "captions of round 1" in capsys.readouterr().out
    rounds: list[Path] = []
    shares: list[dict[str, int]] = []
    while (assigned := tmp_path / f"round{len(rounds) + 1}.csv").exists():
        with assigned.open(newline="", encoding="utf-8") as stream:
            rows = list(csv.DictReader(stream))
        counts = {system: sum(row["system"] == system for row in rows) for system in worth}
        shares.append(counts)
        for row in rows:
            # Cells that a spreadsheet would run as formulas are guarded.
            assert row["caption"] == "'" + text_of[row["system"], row["video_id"]]
            assert row["round"] == str(len(rounds) + 1)
            assert float(row["probability"]) == pytest.approx(counts[row["system"]] / 900, abs=1e-6)
        videos = {system: {row["video_id"] for row in rows if row["system"] == system} for system in worth}
        few, many = sorted(videos.values(), key=len)[::3]
        assert few <= many
        ratings = [
            [
                row["video_id"],
                row["system"],
                quality[row["system"], row["video_id"]],
                text_of[row["system"], row["video_id"]],
            ]
            for row in rows
        ]
        rounds.append(save(tmp_path / f"people{len(rounds) + 1}.csv", "video_id system score candidate", ratings))
        following = tmp_path / f"round{len(rounds) + 1}.csv"
        report = run(*rounds, "--verdicts", table, "--assign", following, "--number", 400, "--target", "items")
    (judged,) = report["sets"]
    assert "is decided after" in judged["notes"][-1]
    assert list(judged["systems"]) == ["d", "c", "b", "a"]
    assert [result["places"] for result in judged["systems"].values()] == [[1, 1], [2, 2], [3, 3], [4, 4]]
    assert len(rounds) > 1
    assert shares[0] == dict.fromkeys(worth, 100)
    for counts in shares[1:]:
        assert sum(counts.values()) == 400
        assert counts["a"] == counts["d"] == 10
        assert counts["b"] > 100 < counts["c"]
    for system, result in judged["systems"].items():
        mean = result["mean"]
        assert mean["rated"] == sum(counts[system] for counts in shares)
        whole = sum(value for (name, _), value in quality.items() if name == system) / 900
        assert mean["corrected"]["value"] == pytest.approx(whole, abs=4 * mean["corrected"]["error"])


def test_decided_orders_stay_decided_where_ratings_name_annotators(
    tmp_path: Path, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    """The third system is clearly below the two best ones, about which later rounds ask most."""
    draws = random.Random(0)
    worth = {"p": 20, "q": 20, "b": 58, "c": 68, "d": 69}
    quality = {
        (system, f"v{video}"): mean + draws.gauss(0, 8) for system, mean in worth.items() for video in range(300)
    }
    verdicts = [
        [system, video, value / 20 + draws.gauss(0, 0.8), *JUDGE, 1, 1, f"{video} by {system}"]
        for (system, video), value in quality.items()
    ]
    table = save(tmp_path / "verdicts.csv", HEAD, verdicts)
    mean = {name: sum(value for (system, _), value in quality.items() if system == name) / 300 for name in worth}
    # Standard deviation of the scores of two annotators who add 2 each way, of equally many captions of each system.
    unit = math.sqrt(8**2 + 2**2 + float(np.var(list(mean.values()))))
    rounds: list[Path] = []
    for number in range(4):
        assigned = tmp_path / f"round{number + 1}.csv"
        if not number:
            assert (
                main(["metric", "judge", "--verdicts", str(table), "--assign", str(assigned), "--number", "150"]) == 0
            )
            capsys.readouterr()
        with assigned.open(newline="", encoding="utf-8") as stream:
            rows = [
                {
                    **row,
                    "candidate": row["caption"],
                    "score": quality[row["system"], row["video_id"]] + draws.gauss(0, 2),
                    "annotator": f"w{place % 2}",
                }
                for place, row in enumerate(csv.DictReader(stream))
            ]
        # What `vttdata people score` writes of a campaign that rates on a scale.
        folder = tmp_path / f"scores{number + 1}"
        folder.mkdir()
        (folder / "ratings.csv").write_text(ratings_csv(rows), encoding="utf-8")
        rounds.append(folder)
        following = tmp_path / f"round{number + 2}.csv"
        (judged,) = run(*rounds, "--verdicts", table, "--assign", following, "--number", 200, "--target", "items")[
            "sets"
        ]
        assert judged["human"] == "z"
        assert [result["places"] for result in judged["systems"].values()] == [[1, 2], [1, 2], [3, 3], [4, 5], [4, 5]]
        for pair in judged["differences"]:
            expected = (mean[pair["first"]] - mean[pair["second"]]) / unit
            # Units are estimated, too.
            error = 4 * pair["corrected"]["error"] + 0.05 * expected
            assert pair["corrected"]["value"] == pytest.approx(expected, abs=error)
    assert sum("standardised by annotator over all rounds" in note for note in judged["notes"]) == 1
    assert sum(row["system"] in ("c", "d") for row in rows) > sum(row["system"] == "b" for row in rows) * 5


def test_texts_of_verdicts_are_those_that_people_rate_next(study: Study, run: Run) -> None:
    """Folders of a campaign with sliders have means without texts, standardised by themselves."""
    folders = []
    with study.people.open(newline="", encoding="utf-8") as stream:
        ratings = [row for row in csv.DictReader(stream) if int(row["video_id"][1:]) < 24]
    for number in range(2):
        folders.append(study.folder / f"scores{number + 1}")
        folders[-1].mkdir()
        means = [
            [row["video_id"], row["system"], float(row["score"]), float(row["score"]) / 9, 2]
            for row in ratings
            if int(row["video_id"][1:]) % 2 == number
        ]
        save(folders[-1] / "captions.csv", "video_id system raw z assessments", means)
    following = study.folder / "round3.csv"
    (judged,) = run(*folders, "--verdicts", study.table(), "--assign", following, "--number", 30)["sets"]
    assert judged["human"] == "raw"
    assert any("Raw scores count" in note for note in judged["notes"])
    with following.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 30
    for row in rows:
        assert row["caption"] == f"{row['system']} says a thing about video {row['video_id'][1:]}"


def test_assignments_never_replace_another_file(study: Study, run: Run, refusal: Callable[..., str]) -> None:
    table, file = study.table(), study.folder / "next.csv"
    with study.people.open(newline="", encoding="utf-8") as stream:
        head, *ratings = csv.reader(stream)
    # Ratings of twenty videos do not decide the order.
    few = save(study.folder / "few.csv", " ".join(head), [row for row in ratings if int(row[0][1:]) < 20])
    run(few, "--verdicts", table, "--assign", file, "--number", 30)
    first = file.read_bytes()
    run(few, "--verdicts", table, "--assign", file, "--number", 30)
    assert file.read_bytes() == first
    assert "name another file" in refusal(few, "--verdicts", table, "--assign", file, "--number", 31)
    assert file.read_bytes() == first


def test_a_round_has_a_caption_of_every_system_for_one_judge(study: Study, refusal: Callable[..., str]) -> None:
    file = study.folder / "next.csv"
    assert "each of 3 systems needs 2 captions" in refusal("--verdicts", study.table(), "--assign", file, "--number", 2)
    others = [[*row[:3], "other-judge", "2026-01-31", *row[5:]] for row in study.verdicts]
    table = study.table([*study.verdicts, *others])
    assert "has 2 judges" in refusal(study.people, "--verdicts", table, "--assign", file)
    table = study.table([row for row in study.verdicts if row[0] != "middle"])
    assert "no score of a rated caption of 'middle'" in refusal(study.people, "--verdicts", table, "--assign", file)
    assert not file.exists()


def test_first_round_needs_captions_and_a_file(study: Study, refusal: Callable[..., str]) -> None:
    assert "--assign" in refusal("--verdicts", study.table())
    assert "--candidates or --verdicts" in refusal("--assign", study.folder / "first.csv")
    assert not (study.folder / "first.csv").exists()
