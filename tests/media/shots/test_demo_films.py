"""Shot detection on the drawn scenes of the demo, whose cuts are known exactly."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from vttdata.collect.demo_films.corpus import draw_scenes
from vttdata.collect.settings import SceneSettings
from vttdata.media.shots.detect import detect_shots


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scenes")
    draw_scenes(folder, SceneSettings(videos=8, width=192, height=108, spoiled=False), seed=2016)
    return folder


def test_drawn_cuts_are_found_to_the_frame_with_few_false_ones(scenes: Path) -> None:
    found = missed = false = gradual = all_gradual = 0
    for name, truth in json.loads((scenes / "truth.json").read_text()).items():
        shots = detect_shots(scenes / name).shots
        cuts = {shot.first_frame for shot in shots if shot.transition == "cut"}
        soft = [shot.first_frame for shot in shots if shot.transition not in ("start", "cut")]
        found += len(cuts & set(truth["cuts"]))
        missed += len(set(truth["cuts"]) - cuts)
        false += len(cuts - set(truth["cuts"]))
        all_gradual += len(truth["gradual"])
        gradual += sum(any(first <= frame <= last + 1 for frame in soft) for first, last in truth["gradual"])
    assert missed == 0
    assert found >= 8
    assert false <= found / 10
    assert gradual >= 0.8 * all_gradual > 0
