"""Gains by condition: paired by item, over sources, and lists of items that need the video."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
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
from vttdata.evaluate.conditions import estimate_gains, find_models
from vttdata.evaluate.estimates import Estimator
from vttdata.evaluate.items import Items, read_foil_pairs
from vttdata.evaluate.task import load_evaluation_task
from vttdata.statistics.bootstrap import draw_sources
from vttdata.statistics.scores import ColumnScores

# Their datasets are built.
pytestmark = pytest.mark.not_on("win32")

NUMBER = 12


@pytest.fixture(scope="module")
def questions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build of twelve questions of four options about six videos, whose answer is always the second option."""
    folder = tmp_path_factory.mktemp("questions")
    rows = [
        {"question_id": f"q{n:02}", "video": f"v{n // 2}.mp4", "question": f"what is in {n}?", "type": "ab"[n % 2]}
        | {"options": [f"a dog {n}", f"a cat {n}", f"a hen {n}", f"a cow {n}"], "answer_letter": "B"}
        for n in range(NUMBER)
    ]
    (folder / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return build_questions(folder)


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


def test_intervals_are_percentiles_over_sources_and_the_best_frame_has_the_least_ends() -> None:
    rng = np.random.default_rng(3)
    sources = np.repeat(np.arange(7), [1, 2, 3, 4, 1, 2, 3])
    ids = [str(n) for n in range(len(sources))]
    items = Items("d", "1", "questions", "test", ids, sources, [f"s{n}" for n in range(7)], [None] * len(ids), ())
    values = {name: rng.integers(0, 2, len(ids)).astype(float) for name in ("text", "first", "random", "muted", "all")}
    columns = {name: ScoreColumn(ColumnScores.from_means(right), np.arange(len(ids))) for name, right in values.items()}
    gains = estimate_gains(Estimator(items, 5, 400), columns).gains
    weights = np.concatenate(list(draw_sources(7, seed=5, draws=400)))[:, sources]

    def expected(more: str, less: str) -> list[float]:
        differences = values[more] - values[less]
        draws = (weights * differences).sum(axis=1) / weights.sum(axis=1)
        return [differences.mean(), *np.quantile(draws, (0.025, 0.975))]

    for gain, more, less in (("visual", "all", "text"), ("sound", "all", "muted")):
        found = gains[gain]
        assert [found.score, found.low, found.high] == pytest.approx(expected(more, less))
    least = np.min([expected("muted", frame) for frame in ("first", "random")], axis=0)
    found = gains["temporal"]
    assert [found.score, found.low, found.high] == pytest.approx(least.tolist())


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


def test_items_that_models_answer_without_the_video_are_left_out(
    questions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_answers(tmp_path / "models/a", {"text": TEXT, "first": FIRST, "all": ALL})
    write_answers(tmp_path / "models/b", {"text": MIDDLE, "middle": MIDDLE, "all": ALL})
    for needed, video in ((1, [4, 5, 7, 8, 9, 10, 11]), (2, range(NUMBER))):
        out = tmp_path / f"out{needed}"
        report = evaluate(capsys, questions, "--conditions", tmp_path / "models", "--solved-by", needed, "--out", out)
        found = json.loads((out / "items-needing-video.json").read_text())
        assert found["splits"] == {"test": [f"q{n:02}" for n in video]}
        # Guessing among four options is right once in four: of two models that try once each, at least so many.
        chance = {1: 1 - (3 / 4) ** 2, 2: 1 / 16}[needed]
        assert report["by_chance"]["items-needing-video"] == pytest.approx(NUMBER * chance)  # type: ignore[index]
    time = json.loads((tmp_path / "out2/items-needing-time.json").read_text())["splits"]["test"]
    assert time == [f"q{n:02}" for n in range(NUMBER) if not (FIRST[n] and MIDDLE[n])]
    # Each model tries twice: once the text, once a frame.
    once = 1 - (3 / 4) ** 2
    assert report["by_chance"]["items-needing-time"] == pytest.approx(NUMBER * once**2)  # type: ignore[index]


def test_items_that_were_not_tried_are_in_no_list(
    questions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_answers(tmp_path / "models/a", {"text": [1, 0, 0, 0, *[None] * 8], "first": FIRST, "all": ALL})
    write_answers(tmp_path / "models/b", {"text": [1, 0, 0, *[None] * 9], "all": ALL})
    out = tmp_path / "out"
    report = evaluate(capsys, questions, "--conditions", tmp_path / "models", "--solved-by", 1, "--out", out)
    video = json.loads((out / "items-needing-video.json").read_text())
    assert video["splits"] == {"test": ["q01", "q02"]}
    assert video["description"] == "Items on which fewer than 1 of 2 models are right by text."
    # Three items were tried by both models, which guess among four options.
    assert report["by_chance"]["items-needing-video"] == pytest.approx(3 * (1 - (3 / 4) ** 2))  # type: ignore[index]
    time = json.loads((out / "items-needing-time.json").read_text())
    assert time["splits"] == {"test": ["q02"]}
    assert time["description"] == "Items on which fewer than 1 of 2 models are right by text or first."
    assert report["by_chance"]["items-needing-time"] == pytest.approx(3 * (1 - (3 / 4) ** 3))  # type: ignore[index]
    for title in ("video", "time"):
        sentence = f"items-needing-{title}: 9 of 12 items, without a prediction by every model in every condition used,"
        assert any(note.startswith(sentence) for note in report["findings"])  # type: ignore[attr-defined]


def test_guessing_reaches_as_many_places_as_the_metric_counts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dataset, folder = write_leaking_dataset(tmp_path / "data"), tmp_path / "m"
    ids = load_evaluation_task("retrieval").read_items(dataset, config="clips", split="test").ids
    folder.mkdir()
    # Whoever ranks the right video last solves nothing.
    np.savez(folder / "text.npz", similarity=-np.eye(len(ids)), query_ids=ids, video_ids=ids)
    for metric, places in (("t2v/r@1", 1), ("t2v/r@5", 5), ("t2v/mrr", 1)):
        report = evaluate(capsys, dataset, "--conditions", folder, "--metric", metric)
        assert len(ids) > 5
        assert report["by_chance"]["items-needing-video"] == pytest.approx(places)  # type: ignore[index]


def test_a_list_of_items_is_a_protocol_with_a_digest(
    questions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_answers(tmp_path / "m", {"text": TEXT, "all": ALL})
    evaluate(capsys, questions, "--conditions", folder, "--out", tmp_path / "out")
    protocol = tmp_path / "out/items-needing-video.json"
    report = evaluate(capsys, questions, folder / "all.jsonl", "--config", protocol, "--unknown", "ignore")
    kept = [n for n in range(NUMBER) if not TEXT[n]]
    score = report["scores"]["accuracy"]["all"]  # type: ignore[index]
    assert (score["score"], score["items"]) == (pytest.approx(np.mean([ALL[n] for n in kept])), len(kept))
    assert f"config:items-needing-video@{json.loads(protocol.read_text())['digest'][:12]}" in str(report["signature"])
    protocol.write_text(protocol.read_text().replace('"q01"', '"q00"'))
    assert main(["evaluate", str(questions), str(folder / "all.jsonl"), "--config", str(protocol)]) == 2
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
        ({"first": TEXT}, ("--solved-by", "2"), "--solved-by is 2, but there are 1 models"),
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
    for splits, words in (({every.split: ["nothing"]}, "'nothing'"), ({"other": chosen}, every.split)):
        Protocol("p", splits).write(tmp_path / "p.json")
        with pytest.raises(VttdataError) as caught:
            read_foil_pairs(folder, config=str(tmp_path / "p.json"))
        assert words in str(caught.value)
