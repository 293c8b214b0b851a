"""The built-in observers: what they see of pictures, and that what they learn is of other sources."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.helpers.drawn_questions import build_questions
from tests.helpers.needs import library
from vttdata.cli.main import main
from vttdata.conditions import Stimulus
from vttdata.dataset.parquet import write_rows
from vttdata.evaluate.observers import SEEING, assign_folds, describe_stimulus
from vttdata.records import arrow_schema, to_row

# Their datasets are built.
pytestmark = pytest.mark.not_on("win32")

COLOURS = {"red": (200, 30, 30), "green": (30, 200, 30), "blue": (30, 30, 200), "grey": (90, 90, 90)}


def picture_stimulus(folder: Path, name: str, condition: str, pictures: list[np.ndarray]) -> Stimulus:  # type: ignore[type-arg]
    """Write pictures as a stimulus."""
    files = [f"{condition}/{name}/{place:04d}.png" for place in range(len(pictures))]
    for file, picture in zip(files, pictures, strict=True):
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(picture).save(folder / file)
    count = len(pictures)
    return Stimulus(
        name, condition, tuple(files), ("0" * 64,) * count, 1, name, 9, (0,) * count, (0.0,) * count, None, None
    )


def write_stimuli(folder: Path, stimuli: list[Stimulus]) -> None:
    conditions = {each.condition: {} for each in stimuli}
    (folder / "stimuli.json").write_text(json.dumps({"status": "complete", "conditions": conditions}))
    write_rows(folder / "stimuli.parquet", arrow_schema(Stimulus), map(to_row, stimuli), 64)


def test_colours_are_learned_from_other_sources(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    library("scipy")
    names, rows, stimuli = list(COLOURS), [], []
    shown = tmp_path / "shown"
    for number in range(40):
        answer = number * 7 % 4
        order = [(number + shift) % 4 for shift in range(4)]
        row = {"question_id": f"q{number}", "video": f"v{number}.mp4", "question": "which colour?"}
        rows.append(row | {"options": [names[k] for k in order], "answer_index": order.index(answer)})
        picture = np.full((24, 32, 3), COLOURS[names[answer]], np.uint8)
        stimuli.append(picture_stimulus(shown, f"v{number}", "text", []))
        stimuli.append(picture_stimulus(shown, f"v{number}", "first", [picture]))
    write_stimuli(shown, stimuli)
    (tmp_path / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    build = build_questions(tmp_path)
    capsys.readouterr()
    page = tmp_path / "page.html"
    assert main(["evaluate", str(build), "--stimuli", str(shown), "--page", str(page), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    scores = report["models"][SEEING]["scores"]
    assert scores["first"]["score"] == 1.0
    assert scores["text"]["score"] < 0.5
    assert "blind-ensemble" not in report["models"]
    assert any("takes 100 questions about 5 videos" in finding for finding in report["findings"])
    shown_items = page.read_text().split('<h3 dir="auto">')[1:]
    assert len(shown_items) == 16
    for item in shown_items:
        assert item.count("data:image/webp;base64,") == 1
        assert "0 of 9" in item


def test_motion_has_the_sign_of_its_direction(tmp_path: Path) -> None:
    def bar(place: int, *, upright: bool) -> np.ndarray:  # type: ignore[type-arg]
        picture = np.zeros((32, 32, 3), np.uint8)
        picture[:, place : place + 6] = 255
        return picture if upright else picture.transpose(1, 0, 2)

    for upright in (True, False):
        there = [bar(place, upright=upright) for place in range(2, 22, 2)]
        right, left = (
            describe_stimulus(tmp_path, picture_stimulus(tmp_path, f"{upright}{name}", "frames", pictures))[-2:]
            for name, pictures in (("there", there), ("back", there[::-1]))
        )
        along, across = (0, 1) if upright else (1, 0)
        assert right[along] > 0 > left[along]
        assert abs(right[across]) < right[along] / 10


def test_folds_depend_on_ids_alone_and_are_of_equal_size() -> None:
    names = [f"s{number}" for number in range(23)]
    folds = dict(zip(names, assign_folds(names), strict=True))
    assert dict(zip(names[::-1], assign_folds(names[::-1]), strict=True)) == folds
    sizes = np.bincount(list(folds.values()))
    assert sorted(sizes) == [4, 4, 5, 5, 5]
