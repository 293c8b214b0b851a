"""Gains by condition: paired by item, over sources, and lists of items that need the video."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.drawn_questions import build_questions
from tests.helpers.hub.built import build_foils
from tests.helpers.leaking_dataset import write_leaking_dataset
from vttdata.cli.main import main
from vttdata.dataset.protocol_file import Protocol
from vttdata.errors import VttdataError
from vttdata.evaluate.columns import ScoreColumn
from vttdata.evaluate.conditions import estimate_gains, find_models, find_needing
from vttdata.evaluate.estimates import Estimator
from vttdata.evaluate.items import Items
from vttdata.evaluate.report import Estimate
from vttdata.evaluate.task import load_evaluation_task
from vttdata.evaluate.tasks.foils import read_foil_pairs
from vttdata.statistics.scores import ColumnScores

# Their datasets are built.
pytestmark = pytest.mark.not_on("win32")

NUMBER = 12
MANY = 44


def build(folder: Path, number: int) -> Path:
    """Build questions of four options, two about each video, whose answer is always the second option."""
    rows = [
        {"question_id": f"q{n:02}", "video": f"v{n // 2}.mp4", "question": f"what is in {n}?", "type": "ab"[n % 2]}
        | {"options": [f"a dog {n}", f"a cat {n}", f"a hen {n}", f"a cow {n}"], "answer_letter": "B"}
        for n in range(number)
    ]
    (folder / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return build_questions(folder)


@pytest.fixture(scope="module")
def questions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("questions"), NUMBER)


@pytest.fixture(scope="module")
def many_questions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("many"), MANY)


def write_answers(folder: Path, right: dict[str, Sequence[int | None]]) -> Path:
    """Write whether a model is right on each question in each condition; None for no answer."""
    folder.mkdir(parents=True, exist_ok=True)
    for condition, values in right.items():
        rows = [
            {"question_id": f"q{n:02}", "answer_letter": "AB"[value]}
            for n, value in enumerate(values)
            if value is not None
        ]
        (folder / f"{condition}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def evaluate(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, object]:
    assert main(["evaluate", *map(str, arguments), "--json"]) == 0
    report: dict[str, object] = json.loads(capsys.readouterr().out)
    return report


TEXT = [1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0]
FIRST = [1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0]
MIDDLE = [0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0]
ALL = [1, 1, 1, 1, 1, 1, 0, 1, 1, 0, 1, 1]
REVERSED = [1, 1, 1, 1, 0, 0, 0, 0, 1, 0, 0, 1]


def test_gains_are_differences_of_the_same_items(
    questions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    right = {"text": TEXT, "first": FIRST, "middle": MIDDLE, "all": ALL, "reversed": [None, None, *REVERSED[2:]]}
    report = evaluate(
        capsys, questions, "--conditions", write_answers(tmp_path / "m", right), "--out", tmp_path / "out"
    )
    model = report["models"]["m"]  # type: ignore[index]
    assert model["gains"]["visual"]["score"] == pytest.approx(10 / 12 - 2 / 12)
    # Both single frames are right on fewer items: three, and three.
    assert model["gains"]["temporal"]["score"] == pytest.approx(10 / 12 - 3 / 12)
    assert model["gains"]["direction"]["score"] == pytest.approx((sum(ALL[2:]) - sum(REVERSED[2:])) / 10)
    assert model["gains"]["direction"]["items"] == 10
    assert model["groups"]["type"]["a"]["visual"]["score"] == pytest.approx((sum(ALL[::2]) - sum(TEXT[::2])) / 6)
    assert set(model["gains"]) == {"visual", "temporal", "direction"}
    assert "|n:12|" in str(report["signature"])
    assert "|missing:2|" in str(report["signature"])
    findings = " ".join(report["findings"])  # type: ignore[arg-type]
    assert "m, reversed: 2 of 12 items have no prediction" in findings
    assert "not computed, for want of predictions in their conditions: order; motion" in findings


def test_gain_over_the_best_frame_has_the_least_ends_of_all_frames() -> None:
    rng = np.random.default_rng(3)
    sources = np.repeat(np.arange(7), [1, 2, 3, 4, 1, 2, 3])
    ids = [str(n) for n in range(len(sources))]
    items = Items(
        dataset="d",
        version="1",
        config="questions",
        split="test",
        ids=ids,
        sources=sources,
        source_ids=[f"s{n}" for n in range(7)],
    )
    values = {name: rng.integers(0, 2, len(ids)).astype(float) for name in ("text", "first", "random", "muted", "all")}
    columns = {name: ScoreColumn(ColumnScores.from_means(right), np.arange(len(ids))) for name, right in values.items()}

    def gains_of(*names: str) -> Mapping[str, Estimate]:
        return estimate_gains(Estimator(items, 5, 400), {name: columns[name] for name in names}).gains

    both = gains_of(*columns)
    for gain, more, less in (("visual", "all", "text"), ("sound", "all", "muted")):
        differences = values[more] - values[less]
        assert both[gain].score == pytest.approx(differences.mean())
        assert both[gain].low < differences.mean() < both[gain].high
    each = [gains_of("muted", frame)["temporal"] for frame in ("first", "random")]
    # Of two, each upper end keeps its tail of .05 / 2.
    for part in ("score", "low", "high"):
        assert getattr(both["temporal"], part) == pytest.approx(min(getattr(one, part) for one in each))


def test_the_best_frame_is_that_of_the_items_that_all_frames_have(
    questions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    middle = [None] * 6 + [1] * 6
    folder = write_answers(tmp_path / "m", {"first": FIRST, "middle": middle, "all": ALL})
    report = evaluate(capsys, questions, "--conditions", folder)
    gain = report["models"]["m"]["gains"]["temporal"]  # type: ignore[index]
    best = max(sum(FIRST[6:]), 6)
    assert (gain["score"], gain["items"]) == (pytest.approx((sum(ALL[6:]) - best) / 6), 6)
    # By all of its items, the first frame is worse by more than the middle one by its own: the least is of other items.
    folder = write_answers(tmp_path / "n", {"first": ALL[:6] + [0] * 6, "middle": [0] * 6 + [None] * 6, "all": ALL})
    report = evaluate(capsys, questions, "--conditions", folder)
    gain = report["models"]["n"]["gains"]["temporal"]  # type: ignore[index]
    assert (gain["score"], gain["items"]) == (pytest.approx(0.0), 6)


def flags(*rows: str) -> np.ndarray:
    """Return models x items from rows of 0 and 1."""
    return np.array([[each == "1" for each in row] for row in rows])


def test_items_are_listed_if_the_reverse_holds_of_one_in_twenty_at_most() -> None:
    shown, text = flags("1" * 40 + "0" * 20), flags("0" * 40 + "0" * 20)
    assert find_needing(shown, [text]).items.tolist() == [True] * 40 + [False] * 20
    # One reverse item and one for chance are 5 % of 40; two and one are more.
    text[0, 40] = True
    assert find_needing(shown, [text])[1:] == (1, 1)
    text[0, 41] = True
    found = find_needing(shown, [text])
    assert (found.items.any(), found.reverse) == (False, 2)
    # A second model, of which the reverse holds nowhere, tells them apart.
    found = find_needing(np.vstack([shown, shown]), [np.vstack([text, np.zeros_like(text)])])
    assert (found.items.sum(), found.by, found.reverse) == (40, 2, 0)


def test_reverse_of_several_conditions_is_one_of_them_alone() -> None:
    shown = flags("1" * 30 + "0" * 3)
    text, frame = flags("0" * 30 + "110"), flags("0" * 30 + "101")
    # Items 31 and 32 are solved by one of the others alone, item 30 by both, which is no reverse of either.
    assert find_needing(shown, [text, frame]).reverse == 2
    # An item that any other condition solves is not listed.
    text[0, 0] = True
    frame[0, 31:] = text[0, 31:] = False
    assert find_needing(shown, [text, frame]).items.tolist() == [False] + [True] * 29 + [False] * 3


def write_models(folder: Path, number: int = 1) -> Path:
    """Write models that answer 40 questions with the video and two of the others without it, on many questions."""
    for model in range(number):
        write_answers(
            folder / f"m{model}", {"text": [0] * MANY, "first": [0] * MANY, "all": [1] * (MANY - 4) + [0] * 4}
        )
    return folder


def test_items_are_listed_with_what_guessing_would_list(
    many_questions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = evaluate(
        capsys, many_questions, "--conditions", write_models(tmp_path / "models"), "--out", tmp_path / "out"
    )
    for title, others in (("video", 1), ("time", 2)):
        found = json.loads((tmp_path / f"out/items-needing-{title}.json").read_text())
        assert found["splits"] == {"test": [f"q{n:02}" for n in range(MANY - 4)]}
        # Of four options: right with the video by chance, and wrong in the other conditions.
        expected = MANY * 1 / 4 * (3 / 4) ** others
        assert report["by_chance"][f"items-needing-{title}"] == pytest.approx(expected)  # type: ignore[index]
    assert found["description"] == (
        "Items that at least 1 more of 1 models solve in all than in text or first; of 0 items the reverse holds, so "
        "that at most 5 % are expected to be listed falsely."
    )


def test_no_item_is_listed_where_a_model_guesses(
    questions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_answers(tmp_path / "models/a", {"text": TEXT, "all": ALL})
    write_answers(tmp_path / "models/b", {"text": MIDDLE})
    out = tmp_path / "out"
    report = evaluate(capsys, questions, "--conditions", tmp_path / "models", "--out", out)
    assert report["filters"] == {}
    assert list(out.glob("items-needing*")) == []
    findings = " ".join(report["findings"])  # type: ignore[arg-type]
    assert "items-needing-video: models without predictions in all, text do not count: b." in findings
    # Right with the video alone are nine, the first two of TEXT and ALL cancel; guessing 12 x 1/4 x 3/4.
    assert "9 of 12 items are solved by more models in all than in text, 1 the other way round, and" in findings
    # Two of forty are 5 %: one more than go the other way round.
    assert "guessing alone would give 2.2. A list of which at most 5 % are false takes 40 such items" in findings


def test_items_that_were_not_tried_are_in_no_list(
    many_questions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_answers(tmp_path / "m", {"text": [None, *[0] * (MANY - 1)], "all": [*[1] * (MANY - 1), None]})
    report = evaluate(capsys, many_questions, "--conditions", tmp_path / "m", "--out", tmp_path / "out")
    found = json.loads((tmp_path / "out/items-needing-video.json").read_text())
    assert found["splits"] == {"test": [f"q{n:02}" for n in range(1, MANY - 1)]}
    sentence = f"items-needing-video: 2 of {MANY} items, without a prediction by every model in every condition used,"
    assert any(note.startswith(sentence) for note in report["findings"])  # type: ignore[attr-defined]


def test_guessing_reaches_as_many_places_as_the_metric_counts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dataset, folder = write_leaking_dataset(tmp_path / "data"), tmp_path / "m"
    ids = load_evaluation_task("retrieval").read_items(dataset, config="clips", split="test").ids
    folder.mkdir()
    for condition, sign in (("all", 1), ("text", -1)):
        np.savez(folder / f"{condition}.npz", similarity=sign * np.eye(len(ids)), query_ids=ids, video_ids=ids)
    # So few items bear no list.
    assert 5 < len(ids) < 20
    for metric, places in (("t2v/r@1", 1), ("t2v/r@5", 5), ("t2v/mrr", 1)):
        report = evaluate(capsys, dataset, "--conditions", folder, "--metric", metric)
        expected = places * (1 - places / len(ids))
        assert f"guessing alone would give {expected:.1f}." in " ".join(report["findings"])  # type: ignore[arg-type]


def test_a_list_of_items_is_a_protocol_with_a_digest(
    many_questions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_models(tmp_path / "models")
    evaluate(capsys, many_questions, "--conditions", folder, "--out", tmp_path / "out")
    protocol = tmp_path / "out/items-needing-video.json"
    answers = folder / "m0/all.jsonl"
    page = tmp_path / "page.html"
    report = evaluate(capsys, many_questions, answers, "--config", protocol, "--unknown", "ignore", "--page", page)
    assert "right: a cat" in page.read_text()
    score = report["scores"]["accuracy"]["all"]  # type: ignore[index]
    assert (score["score"], score["items"]) == (1, MANY - 4)
    assert f"config:items-needing-video@{json.loads(protocol.read_text())['digest'][:12]}" in str(report["signature"])
    protocol.write_text(protocol.read_text().replace('"q01"', '"q43"'))
    assert main(["evaluate", str(many_questions), str(answers), "--config", str(protocol)]) == 2
    assert "digest" in capsys.readouterr().err


def test_names_of_files_are_conditions_or_logs_of_their_tasks(tmp_path: Path) -> None:
    for name in ("first.csv", "x_samples_vttdata_q_test_shuffled_frames.jsonl", "2026-11-27_q-test-all.eval"):
        (tmp_path / name).write_text("")
    assert set(find_models([tmp_path])[tmp_path.name]) == {"first", "shuffled-frames", "all"}


def test_a_model_is_called_like_its_folder_and_no_file_is_overlooked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tmp_path / "model"
    model.mkdir()
    (model / "first.csv").write_text("")
    monkeypatch.chdir(model)
    assert list(find_models([Path()])) == ["model"]
    (model / "earlier").mkdir()
    (model / "earlier" / "first.csv").write_text("")
    with pytest.raises(VttdataError, match=r"the file 'first\.csv' of none"):
        find_models([model])


@pytest.mark.parametrize(
    ("files", "arguments", "message"),
    [
        ({"first": TEXT, "last": TEXT}, (), "last.jsonl: is named after no condition"),
        ({}, (), "holds no predictions"),
        ({"first": [None] * NUMBER}, (), "first.jsonl"),
        ({"first": TEXT, "x_first": TEXT}, (), "holds predictions in 'first' too"),
        ({"first": TEXT}, ("--missing", "worst"), "--missing is not for scores by condition"),
        ({"first": TEXT}, ("--stimuli", "nowhere"), "nowhere"),
        ({"first": TEXT}, ("--metric", "nothing"), "has no score 'nothing'"),
        ({"first": TEXT}, ("--baseline", "random-caption"), "take the place of PREDICTIONS and --baseline"),
    ],
)
def test_bad_input_is_one_sentence(
    questions: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    files: dict[str, Sequence[int | None]],
    arguments: tuple[str, ...],
    message: str,
) -> None:
    folder = write_answers(tmp_path / "m", files)
    assert main(["evaluate", str(questions), "--conditions", str(folder), *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_a_page_shows_items_on_which_conditions_disagree(questions: Path, tmp_path: Path) -> None:
    folder, page = write_answers(tmp_path / "<m>", {"text": TEXT, "all": ALL}), tmp_path / "page.html"
    assert main(["evaluate", str(questions), "--conditions", str(folder), "--page", str(page)]) == 0
    text = page.read_text()
    assert "<m>" not in text
    for n, (blind, seeing) in enumerate(zip(TEXT, ALL, strict=True)):
        assert (f'<h3 dir="auto">q{n:02}</h3>' in text) == (blind != seeing)
    assert "right: a cat 4" in text
    assert len(list(itertools.chain(tmp_path.glob("*.part"), tmp_path.glob(".*part")))) == 0


def test_a_protocol_may_list_pairs(tmp_path: Path) -> None:
    folder = build_foils(tmp_path / "foils")
    every = read_foil_pairs(folder)
    chosen = [*every.ids][::2]
    protocol = Protocol("items-needing-time", {every.split: chosen[::-1]}, {"config": "foils"})
    protocol.write(tmp_path / "p.json")
    found = read_foil_pairs(folder, config=str(tmp_path / "p.json"))
    assert (found.ids, found.config) == (chosen, protocol.label)
    kept = {name: truth for name, truth in zip(every.ids, every.truths, strict=True) if name in chosen}
    assert dict(zip(found.ids, found.truths, strict=True)) == kept
    scores = tmp_path / "scores.csv"
    scores.write_text("foil_id,true_score,foil_score\n" + "".join(f"{name},2,1\n" for name in chosen))
    page = ["--page", str(tmp_path / "page.html")]
    assert main(["evaluate", str(folder), str(scores), "--config", str(tmp_path / "p.json"), *page]) == 0
    assert "a cat runs 0" in (tmp_path / "page.html").read_text()
    for splits, words in (({every.split: ["nothing"]}, "'nothing'"), ({"other": chosen}, every.split)):
        Protocol("p", splits).write(tmp_path / "p.json")
        with pytest.raises(VttdataError) as caught:
            read_foil_pairs(folder, config=str(tmp_path / "p.json"))
        assert words in str(caught.value)
