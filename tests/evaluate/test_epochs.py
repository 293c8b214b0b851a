"""Logs of inspect_ai in which items were answered several times, or not all of them."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from vttdata.dataset import Metadata, OfficialLayout, write_dataset
from vttdata.dataset.questions import QuestionSet
from vttdata.errors import VttdataError
from vttdata.evaluate.evaluation import EvaluationSettings, evaluate
from vttdata.records import Clip, Source, VideoQuestion

NAMES = ("a", "b", "c", "d")
# By hand: one, two and three of four are right, so the mean is 1/2 and the variance 1/16.
EPOCHS = (("A", "B", "B", "B"), ("A", "A", "B", "B"), ("A", "A", "A", "B"))


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """Return the folder of four questions whose first option is right, each about a source of its own."""
    asked = [VideoQuestion(name, name, "multiple_choice", f"{name}?", ("x", "y"), ("A", "B"), 0) for name in NAMES]
    write_dataset(
        tmp_path / "dataset",
        clips=[Clip(name, name, 0, 0, None, None, None, split="test") for name in NAMES],
        captions=[],
        sources=[Source(name, "", "nowhere", "", 0) for name in NAMES],
        metadata=Metadata("me/asked", version="1.0.0", licence="cc-by-4.0"),
        media=None,
        official=OfficialLayout(questions=QuestionSet(asked)),
    )
    return tmp_path / "dataset"


def samples(epochs: tuple[tuple[str, ...], ...]) -> list[dict[str, object]]:
    return [
        {"id": name, "epoch": epoch, "scores": {"s": {"metadata": {"question_id": name, "free_text": answer}}}}
        for epoch, answers in enumerate(epochs, 1)
        for name, answer in zip(NAMES, answers, strict=False)
    ]


def write_log(path: Path, status: str, epochs: tuple[tuple[str, ...], ...]) -> Path:
    path.write_text(json.dumps({"version": 2, "status": status, "samples": samples(epochs)}))
    return path


def test_score_is_the_mean_over_epochs_with_its_variance(dataset: Path, tmp_path: Path) -> None:
    report = evaluate(
        dataset, write_log(tmp_path / "log.json", "success", EPOCHS), settings=EvaluationSettings(draws=50)
    )
    assert report.scores["accuracy"].all.score == pytest.approx(1 / 2)
    assert report.columns["accuracy"].scores.items == pytest.approx([1, 2 / 3, 1 / 3, 0])
    assert report.findings[0] == next(finding for finding in report.findings if "means over 3 epochs" in finding)
    assert "accuracy 0.0625," in report.findings[0]


def test_every_epoch_must_be_complete(dataset: Path, tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.json", "success", (EPOCHS[0], EPOCHS[1][:3]))
    with pytest.raises(VttdataError, match=r"epoch 2.*1 of 4 items have no answer"):
        evaluate(dataset, log)


def test_incomplete_run_names_the_command_that_goes_on(dataset: Path, tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.json", "error", (EPOCHS[0][:3],))
    with pytest.raises(VttdataError, match=r"1 of 4 items .*'inspect eval-retry .*log.json' goes on"):
        evaluate(dataset, log)
    report = evaluate(dataset, log, settings=EvaluationSettings(missing="worst", draws=10))
    assert report.scores["accuracy"].all.score == 1 / 4


def test_killed_run_has_no_header(dataset: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "log.eval", "w") as archive:
        archive.writestr("_journal/start.json", "{}")
        for sample in samples((EPOCHS[0][:3],)):
            archive.writestr(f"samples/{sample['id']}_epoch_1.json", json.dumps(sample))
        archive.writestr("samples/d_epoch_1.json", json.dumps({"id": "d", "epoch": 1, "error": {"message": "x"}}))
    with pytest.raises(VttdataError, match=r"'inspect eval-retry .*log.eval' goes on"):
        evaluate(dataset, tmp_path / "log.eval")
