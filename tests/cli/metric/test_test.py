"""`vttdata metric test` on judgments of every kind, on altered captions, and on bad input."""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from tests.builders.test_trecvid_vtt import VIDEOS, write_single
from tests.evaluate.test_judgments import save
from tests.helpers.hub.built import build_foils
from tests.helpers.leaking_dataset import write_leaking_dataset
from vttdata.cli.main import main
from vttdata.evaluate.meta.comparison import ComparisonSettings, evaluate_metrics, rank_metrics
from vttdata.evaluate.meta.metric_report import SetReport
from vttdata.evaluate.tasks.foils import read_foil_pairs

Run = Callable[..., Any]
WORDS = [f"word{number}" for number in range(20)]
ITEMS = 250
QUICK = ("--draws", "50")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Provide a function that runs the command and returns its JSON."""

    def run_json(*arguments: object) -> Any:
        assert main(["metric", "test", *map(str, arguments), *QUICK, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return run_json


@pytest.fixture
def refusal(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Provide a function that runs the command and returns the sentence with which it is refused."""

    def run_bad(*arguments: object) -> str:
        assert main(["metric", "test", *map(str, arguments), *QUICK]) == 2
        printed = capsys.readouterr()
        assert printed.out == ""
        assert len(printed.err.splitlines()) == 1
        return printed.err

    return run_bad


class Campaign:
    """Judgments, candidates and references in three tables; a caption that shares words with its reference is good."""

    def __init__(self, folder: Path, shift: int = 0) -> None:
        draws = random.Random(0)
        texts = [draws.sample(WORDS, 6) for _ in range(ITEMS)]
        judgments, captions = [], []
        for number, system in enumerate("ABC"):
            for item in range(ITEMS):
                shared = draws.randint(0, 6)
                caption = " ".join([*texts[item][:shared], *(f"{system}{item}x" for _ in range(6 - shared))])
                captions.append([item + 1, system, caption])
                judgments.append([item + 1 + shift, system, 10 * shared + draws.gauss(number, 4)])
        self.scores = save(folder / "judged.csv", "video_id system score", judgments)
        self.candidates = save(folder / "candidates.csv", "video_id system caption", captions)
        references = [[item + 1, " ".join(words)] for item, words in enumerate(texts)]
        self.references = save(folder / "references.csv", "video_id caption", references)
        self.arguments = [self.scores, "--candidates", self.candidates, "--references", self.references]


@pytest.fixture(scope="module")
def trecvid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trecvid")
    write_single(folder / "files", "2016")
    assert (
        main(
            [
                "build",
                "trecvid-vtt",
                "--quiet",
                "--set",
                f"annotations={folder / 'files'}",
                "--out",
                str(folder / "out"),
            ]
        )
        == 0
    )
    return folder / "out"


@pytest.mark.not_on("win32")
def test_judgments_of_a_dataset_are_compared_at_every_level(trecvid: Path, run: Run) -> None:
    report = run(trecvid, "--metric", "bleu1", "--metric", "cider-d")
    (found,) = report["sets"]
    assert (found["name"], found["captions"], found["systems"]) == ("trecvid-vtt 2016-single", 2 * VIDEOS, 2)
    assert found["headline"] == {"human": "z", "level": "caption", "coefficient": "pearson"}
    assert set(found["metrics"]) == {"bleu1", "cider-d"}
    levels = found["metrics"]["bleu1"]["human"]["z"]
    assert set(levels) == {"caption", "within-video", "within-system", "system"}
    assert levels["caption"]["pearson"]["score"] > 0.9
    assert levels["caption"]["kendall_b"]["low"] < levels["caption"]["kendall_b"]["score"]
    assert levels["within-video"]["accuracy"]["items"] == VIDEOS
    # Only captions at the right distance agree with people.
    offsets = {int(offset): r for offset, r in found["offsets"]["bleu1"].items()}
    assert sorted(offsets) == list(range(-6, 7))
    assert offsets.pop(0) > 0.9
    assert max(map(abs, offsets.values())) < 0.25
    assert report["signatures"]["bleu"].startswith("bleu|tok:")


@pytest.mark.not_on("win32")
def test_lines_for_a_paper_have_the_headline_and_what_was_drawn(
    trecvid: Path, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    command = [trecvid, "--metric", "bleu1", "--metric", "cider-d"]
    (found,) = run(*command)["sets"]
    assert main(["metric", "test", *map(str, command), *QUICK]) == 0
    captured = capsys.readouterr()
    text = captured.out.partition("For the paper\n")[2]
    assert text.startswith("95 % intervals are of 50 draws of whole videos (seed 0). Systems and people's scores are ")
    figures = {name: found["metrics"][name]["human"]["z"]["caption"]["pearson"] for name in ("bleu1", "cider-d")}
    best, other = sorted(figures, key=lambda name: -figures[name]["score"])
    shown = [
        f"{n} {figures[n]['score']:.3f} ({figures[n]['low']:.3f} to {figures[n]['high']:.3f})" for n in (best, other)
    ]
    line = (
        f"- trecvid-vtt 2016-single, r with z, over all captions (n = {2 * VIDEOS:,}): {shown[0]}, {shown[1]}; {best} "
        f"above {other}: p "
    )
    assert line in text
    # What takes no ten seconds shows no progress off a terminal.
    assert captured.err == ""


@pytest.mark.not_on("win32")
def test_the_manual_s_program_writes_scores_of_all_judged_captions(
    trecvid: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    manual = Path("docs/metrics.md").resolve().read_text(encoding="utf-8")
    (program,) = (block for block in re.findall(r"```python\n(.*?)```", manual, re.DOTALL) if "my_metric" in block)
    monkeypatch.chdir(tmp_path)
    common = lambda caption, references: len({*caption.split()} & {*" ".join(references).split()})  # noqa: E731
    exec(program.replace("vttdata/trecvid-vtt", str(trecvid)), {"my_metric": common})
    (found,) = run(trecvid, "--scores", "ours.csv")["sets"]
    assert found["captions"] == found["metrics"]["ours"]["human"]["z"]["caption"]["pearson"]["items"] == 2 * VIDEOS
    assert found["metrics"]["ours"]["human"]["z"]["caption"]["pearson"]["score"] > 0.9


def test_every_step_is_counted(tmp_path: Path) -> None:
    counted: list[int] = []

    class Steps:
        def advance(self) -> None:
            counted[1:] = [sum(counted[1:]) + 1]

    @contextlib.contextmanager
    def progress(total: int) -> Iterator[Steps]:
        counted.append(total)
        yield Steps()

    campaign = Campaign(tmp_path)
    settings = ComparisonSettings(draws=5, progress=progress)
    tables = {"candidates": campaign.candidates, "references": campaign.references}
    evaluate_metrics(campaign.scores, ["bleu1", "rouge-l"], **tables, settings=settings)
    # Two metrics, and the agreement of both with people.
    assert counted == [3, 3]


@pytest.mark.not_on("win32")
def test_out_folder_has_the_same_bytes_in_every_run(trecvid: Path, tmp_path: Path, run: Run) -> None:
    for name in ("first", "second"):
        run(trecvid, "--metric", "bleu1", "--out", tmp_path / name)
    for name in ("metrics.json", "metrics.md", "metrics.svg"):
        assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "second" / name).read_bytes()
    assert "| bleu1 |" in (tmp_path / "first" / "metrics.md").read_text()
    picture = (tmp_path / "first" / "metrics.svg").read_text()
    assert picture.startswith("<svg")
    assert ">bleu1<" in picture


def test_tables_give_what_scipy_computes(tmp_path: Path, run: Run) -> None:
    campaign = Campaign(tmp_path)
    rows = list(csv.DictReader(campaign.scores.open()))
    noisy = [
        [row["video_id"], row["system"], float(row["score"]) + 30 * random.Random(n).random()]
        for n, row in enumerate(rows)
    ]
    ours = save(tmp_path / "ours.csv", "video_id system score", noisy)
    (found,) = run(*campaign.arguments, "--scores", ours, "--metric", "bleu1", "--leave-out", "C")["sets"]
    people = [float(row["score"]) for row in rows if row["system"] != "C"]
    scores = [score for _, system, score in noisy if system != "C"]
    caption = found["metrics"]["ours"]["human"]["raw"]["caption"]
    assert caption["pearson"]["score"] == pytest.approx(stats.pearsonr(scores, people).statistic, abs=1e-12)
    assert caption["kendall_c"]["score"] == pytest.approx(
        stats.kendalltau(scores, people, variant="c").statistic, abs=1e-12
    )
    assert found["williams"]["caption"]["bleu1"]["ours"] < 1e-3
    assert "ours" in found["metrics"]
    assert found["headline"]["coefficient"] == "kendall_b"


@pytest.mark.parametrize("shift", [-1, 2])
def test_ids_that_are_off_are_told_and_moved(tmp_path: Path, run: Run, refusal: Callable[..., str], shift: int) -> None:
    campaign = Campaign(tmp_path, shift)
    message = refusal(*campaign.arguments, "--metric", "bleu1")
    assert f"ids of judgments are off by {shift:+d}" in message
    assert f"--offset {-shift}" in message
    (found,) = run(*campaign.arguments, "--metric", "bleu1", "--offset", -shift)["sets"]
    assert found["captions"] == 3 * ITEMS
    assert found["metrics"]["bleu1"]["human"]["raw"]["caption"]["pearson"]["score"] > 0.9


def test_missing_videos_are_counted(tmp_path: Path, run: Run, refusal: Callable[..., str]) -> None:
    campaign = Campaign(tmp_path)
    with campaign.scores.open("a") as stream:
        stream.write("999,A,3\n998,A,3\n")
    assert (
        "2 of 752 judgments are about captions that the candidates do not have (first that of '999' by 'A')"
        in refusal(*campaign.arguments, "--metric", "bleu1")
    )
    ours = save(tmp_path / "ours.csv", "video_id system score", [[item, "A", item % 7] for item in range(1, 11)])
    (found,) = run(campaign.scores, "--scores", ours)["sets"]
    assert "ours has no score of 742 of 752 judged captions: it is tested on the other 10." in found["notes"]


def test_metrics_are_compared_on_the_captions_that_all_have_scored(
    tmp_path: Path, run: Run, refusal: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    campaign = Campaign(tmp_path)
    rows = list(csv.DictReader(campaign.scores.open()))
    noise = random.Random(2)
    full = {(row["video_id"], row["system"]): float(row["score"]) + noise.gauss(0, 30) for row in rows}
    part = {key: noise.random() for key in full if key[1] == "B" and int(key[0]) <= 100}
    files = [
        save(tmp_path / f"{name}.csv", "video_id system score", [[*key, score] for key, score in scores.items()])
        for name, scores in (("full", full), ("part", part))
    ]
    command = [campaign.scores, "--scores", files[0], "--scores", files[1]]
    (found,) = run(*command)["sets"]
    people = [float(row["score"]) for row in rows if (row["video_id"], row["system"]) in part]
    for name, scores in (("full", full), ("part", part)):
        figure = found["metrics"][name]["human"]["raw"]["caption"]["kendall_b"]
        assert figure["items"] == found["captions"] == 100
        expected = stats.kendalltau([scores[key] for key in part], people).statistic
        assert figure["score"] == pytest.approx(expected, abs=1e-12)
    assert (
        "part has no score of 650 of 750 judged captions: all metrics are compared on the other 100." in found["notes"]
    )
    assert main(["metric", "test", *map(str, command), *QUICK]) == 0
    assert "- judged, tau-b with raw, over all captions (n = 100): full 0." in capsys.readouterr().out
    rest = [[item, system, 10 * number] for number, (item, system) in enumerate(full) if system == "C"]
    other = save(tmp_path / "rest.csv", "video_id system score", rest)
    assert "no judged caption has scores of all of part, rest" in refusal(
        campaign.scores, "--scores", files[1], "--scores", other
    )


def test_columns_may_have_other_names(tmp_path: Path, run: Run, refusal: Callable[..., str]) -> None:
    judged = save(tmp_path / "judged.csv", "clip who rating", [[f"v{n}", "a", n] for n in range(6)])
    ours = save(tmp_path / "ours.csv", "clip who value", [[f"v{n}", "a", n * n] for n in range(6)])
    usual = save(tmp_path / "usual.csv", "video_id system score", [[f"v{n}", "a", -n] for n in range(6)])
    ids = ("--columns", "video_id=clip", "--columns", "system=who")
    (found,) = run(
        save(tmp_path / "people.csv", "clip who score", [[f"v{n}", "a", n] for n in range(6)]), "--scores", usual, *ids
    )["sets"]
    assert found["metrics"]["usual"]["human"]["raw"]["caption"]["kendall_b"]["score"] == -1
    (found,) = run(judged, "--scores", usual, "--columns", "score=rating", *ids)["sets"]
    assert found["captions"] == 6
    assert "name the right ones with --columns score=COLUMN" in refusal(judged, "--scores", ours, *ids)
    assert "--columns scor=...: there is no such column; choose from" in refusal(
        judged, "--scores", ours, "--columns", "scor=value"
    )


def test_scores_that_are_lower_where_captions_are_better_are_noted(tmp_path: Path, run: Run) -> None:
    campaign = Campaign(tmp_path)
    rows = [[row["video_id"], row["system"], row["score"]] for row in csv.DictReader(campaign.scores.open())]
    distance = [[*row[:2], 100 - float(row[2])] for row in rows]
    (found,) = run(campaign.scores, "--scores", save(tmp_path / "d.csv", "video_id system score", distance))["sets"]
    assert any(
        note.startswith("d is the higher the worse people find a caption (tau-b with raw, over all captions: -1.000")
        and "negate its scores" in note
        for note in found["notes"]
    )
    (found,) = run(campaign.scores, "--scores", save(tmp_path / "s.csv", "video_id system score", rows))["sets"]
    assert not any("negate" in note for note in found["notes"])


def test_ties_of_a_metric_are_shown_beside_its_accuracy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    judged = save(
        tmp_path / "judged.csv",
        "video_id system score",
        [[f"v{n}", s, n + 3 * k] for n in range(4) for k, s in enumerate("ab")],
    )
    # Of four pairs within a video, the metric ties one and orders three as people do, who tie none.
    rows = [[f"v{n}", s, 0 if n == 0 else k] for n in range(4) for k, s in enumerate("ab")]
    tied = save(tmp_path / "tied.csv", "video_id system score", rows)
    assert main(["metric", "test", str(judged), "--scores", str(tied), *QUICK]) == 0
    text = capsys.readouterr().out
    header, row = (line.split() for line in text.splitlines() if line.startswith(("metric  ", "tied  ")))
    assert (row[-1], header[-1]) == ("0.250", "ties")
    assert "0.750" in row
    # No threshold above 0 makes anything better, so that there is one accuracy.
    assert "calibrated" not in header


def test_scores_that_are_about_no_judged_caption_are_counted(
    tmp_path: Path, run: Run, refusal: Callable[..., str]
) -> None:
    campaign = Campaign(tmp_path)
    known = [[f"{item}.MP4", "A", item % 7] for item in range(1, 11)]
    ours = save(tmp_path / "ours.csv", "video_id system score", [*known, ["3", "S9", 1], ["999", "A", 2]])
    (found,) = run(campaign.scores, "--scores", ours)["sets"]
    assert found["captions"] == 10
    assert "ours: scores about no judged caption, left out: 2 (first '999' by 'A')." in found["notes"]
    # Each score is about a caption of one of the sets.
    half = save(tmp_path / "half.csv", "video_id system score", [[item, "A", item % 5] for item in range(1, 9)])
    other = save(tmp_path / "other.csv", "video_id system score", [[item, "A", item % 7] for item in (9, 10)])
    both = run(half, other, "--scores", save(tmp_path / "known.csv", "video_id system score", known))["sets"]
    assert not any("no judged caption" in note for found in both for note in found["notes"])
    assert "'score' is empty" in refusal(
        campaign.scores, "--scores", save(tmp_path / "empty.csv", "video_id system score", [["1", "A", ""]])
    )


def test_bad_input_is_one_sentence(tmp_path: Path, refusal: Callable[..., str]) -> None:
    rows = [["v1", "a", 5], ["v2", "a", 5]]
    constant = save(tmp_path / "constant.csv", "video_id system score", rows)
    other = save(tmp_path / "other.csv", "video_id system score", [["v1", "a", 5], ["v2", "a", 6]])
    strange = save(tmp_path / "strange.csv", "video_id system score", [["w", "a", 5]])
    assert "people's scores do not vary (judged captions: 2)" in refusal(constant, "--scores", other)
    assert "the texts of 2 captions are not known" in refusal(other, "--metric", "bleu1")
    assert "No score of 'strange' is about a judged caption; the first one is about 'v1' by 'a'." in refusal(
        other, "--scores", strange
    )
    assert "no judgment is about a caption among the candidates" in refusal(
        other,
        "--candidates",
        save(tmp_path / "c.csv", "video_id system caption", [["w", "a", "text"]]),
        "--metric",
        "bleu1",
    )
    assert "there is no system 'b'" in refusal(other, "--scores", other, "--leave-out", "b")
    duplicate_name = save(tmp_path / "bleu1.csv", "video_id system score", rows)
    assert "has the name of the metric 'bleu1'" in refusal(other, "--scores", duplicate_name, "--metric", "bleu1")
    assert "Unknown metric 'blue'" in refusal(other, "--metric", "blue")
    assert "Two sets of judgments are called 'other'" in refusal(other, other, "--scores", other)
    assert "holds 'other.csv' and is not replaced" not in refusal(other, "--scores", tmp_path / "absent.csv")
    assert "is not replaced by a comparison of metrics" in refusal(other, "--scores", other, "--out", tmp_path)


def test_constant_metric_one_system_and_one_annotator_are_noted(tmp_path: Path, run: Run) -> None:
    rows = [[f"v{item}", "a", item, "ann"] for item in range(5)]
    judged = save(tmp_path / "judged.csv", "video_id system score annotator", rows)
    flat = save(tmp_path / "flat.csv", "video_id system score", [[f"v{item}", "a", 1] for item in range(5)])
    (found,) = run(judged, "--scores", flat)["sets"]
    notes = " ".join(found["notes"])
    assert "flat gives every caption the same score" in notes
    assert "are all by one system" in notes
    assert "by one annotator, 'ann'" in notes
    assert found["metrics"]["flat"]["human"]["z"]["caption"]["pearson"]["score"] is None


def test_true_captions_are_compared_with_altered_ones(tmp_path: Path, run: Run) -> None:
    report = run(write_leaking_dataset(tmp_path / "small"), "--metric", "bleu1")
    (found,) = report["stress"]
    tests = found["metrics"]["bleu1"]
    assert set(tests) == {"degraded", "of another video", "doubled", "cut in half"}
    for result in tests.values():
        assert result["all"]["above"]["score"] + result["all"]["ties"] + result["all"]["below"] == pytest.approx(1)
    # Doubling halves the precision of words, whatever they are.
    assert tests["doubled"]["all"]["above"]["score"] == 1
    assert (
        sum(part["above"]["items"] for part in tests["degraded"]["parts"].values())
        == tests["degraded"]["all"]["above"]["items"]
    )


def test_foils_are_counted_by_supercategory_as_evaluate_does(
    tmp_path: Path, run: Run, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    foils = build_foils(tmp_path / "foils")
    assert main(["metric", "test", str(foils)]) == 2
    assert "no pair of 'foils' has references" in capsys.readouterr().err
    pairs = read_foil_pairs(foils)
    # Every other pair has a reference that favours its true text.
    references = [[[truth[0] if row % 2 else "a dog"]] for row, truth in enumerate(pairs.truths)]
    pairs = dataclasses.replace(pairs, references=references)
    for module in ("tasks.foils", "meta.stress"):
        monkeypatch.setattr(f"vttdata.evaluate.{module}.read_foil_pairs", lambda *_, **__: pairs)
    assert main(["evaluate", str(foils), "--baseline", "bleu", "--json"]) == 0
    expected = json.loads(capsys.readouterr().out)
    result = run(foils, "--metric", "bleu1")["stress"][0]["metrics"]["bleu1"]["foil"]
    assert result["all"]["above"]["score"] == expected["scores"]["bleu1/accuracy"]["all"]["score"]
    assert {group: part["above"]["items"] for group, part in result["parts"].items()} == Counter(pairs.categories)


def test_fewer_references_agree_less(tmp_path: Path, run: Run) -> None:
    draws = random.Random(1)
    lines = []
    for item in range(60):
        words = draws.sample(WORDS, 9)
        shared = draws.randint(0, 6)
        candidate = " ".join([*draws.sample(words, shared), *(f"x{k}" for k in range(6 - shared))])
        references = [" ".join(words[start::3]) for start in range(3)]
        lines.append(
            json.dumps({"item": f"v{item}", "candidate": candidate, "score": shared, "references": references})
        )
    (tmp_path / "judged.jsonl").write_text("\n".join(lines))
    (found,) = run(tmp_path / "judged.jsonl", "--metric", "bleu1", "--curve")["sets"]
    curve = found["references"]["bleu1"]
    assert list(curve) == ["1", "2", "3"]
    assert curve["1"] < curve["2"] < curve["3"]
    assert curve["3"] == pytest.approx(found["metrics"]["bleu1"]["human"]["raw"]["caption"]["kendall_b"]["score"])


def test_metric_for_bad_captions_loses_agreement_while_quality_drifts(
    tmp_path: Path, run: Run, refusal: Callable[..., str]
) -> None:
    draws = random.Random(3)
    grades = [draws.randint(3, 15) / 3 for _ in range(1500)]
    judged = save(tmp_path / "judged.csv", "video_id system score", [[f"v{n}", "a", g] for n, g in enumerate(grades)])
    # Below 3 it is a copy of people's scores, above it is noise.
    blunt = [[f"v{n}", "a", g if g < 3 else 3 + draws.random()] for n, g in enumerate(grades)]
    scores = save(tmp_path / "blunt.csv", "video_id system score", blunt)
    (found,) = run(judged, "--scores", scores, "--drift", "1-5")["sets"]
    taus = [found["drift"]["blunt"][number]["score"] for number in "12345"]
    assert taus == sorted(taus, reverse=True)
    assert taus[0] > taus[-1] + 0.1
    assert "people's scores are 1 to 5, which a scale of 0 to 4 does not hold" in refusal(
        judged, "--scores", scores, "--drift", "0-4"
    )
    assert "is not a scale such as 1-5" in refusal(judged, "--scores", scores, "--drift", "5-1")


def test_borda_counts_places_over_sets() -> None:
    def report(**scores: float) -> SetReport:
        from vttdata.evaluate.meta.agreement import PeopleAgreement
        from vttdata.evaluate.meta.judgments import RAW_HEADLINE
        from vttdata.evaluate.report import Estimate

        agreements = {
            name: PeopleAgreement({"raw": {"caption": {"kendall_b": Estimate(score, 0, 0, 9)}}})
            for name, score in scores.items()
        }
        return SetReport("s", 9, 9, 0, 9, RAW_HEADLINE, agreements)

    sets = [report(a=0.9, b=0.5, c=0.5, d=0.1), report(a=0.2, b=0.3, c=0.1), report(a=0.3, b=0.2, c=0.1)]
    # Of a, b and c: 3, 2, 3 points; 1.5, 3, 2; 1.5, 1, 1.
    assert rank_metrics(sets) == [("a", 8, 1), ("b", 6.5, 2), ("c", 3.5, 3)]
