"""Baselines learn from training clips only, and are found by discovery."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.leaking_dataset import TEST, captions_of
from vttdata.errors import VttdataError
from vttdata.evaluate.baseline import Setting, load_baseline
from vttdata.evaluate.baselines import BASELINES
from vttdata.evaluate.baselines.kcca import whiten
from vttdata.evaluate.evaluation import EvaluationSettings, evaluate
from vttdata.evaluate.items import read_clips

# r0 shares its source with test clips, so nothing is learned from it.
LEARNED = {*captions_of("r1"), *captions_of("r2")}


@pytest.fixture
def setting(dataset: Path) -> Setting:
    return Setting(read_clips(dataset), dataset, seed=3)


def test_random_captions_are_of_training_clips_of_other_sources(setting: Setting) -> None:
    captions = load_baseline("random-caption").predict(setting)
    assert len(captions) == len(TEST)
    assert set(captions) <= LEARNED
    assert captions == load_baseline("random-caption").predict(setting)


def test_category_caption_is_the_most_frequent_one(setting: Setting) -> None:
    captions = load_baseline("category-caption").predict(setting)
    # Both training clips are of the category music; sports falls back on all clips.
    assert captions == ["a man is talking"] * len(TEST)


def test_random_ranking_scores_like_guessing(dataset: Path) -> None:
    report = evaluate(
        dataset, baseline="random-ranking", metrics=["t2v/mnr"], settings=EvaluationSettings(draws=50, seed=1)
    )
    assert report.task == "retrieval"
    assert 1 < report.scores["t2v/mnr"].all.score < 6


def test_colours_are_needed_from_a_build(setting: Setting) -> None:
    with pytest.raises(VttdataError, match="this dataset is in none"):
        load_baseline("nearest-colours").predict(setting)


def test_baseline_of_another_task_is_refused(dataset: Path) -> None:
    with pytest.raises(VttdataError, match="'kcca' is for retrieval, not for captioning"):
        evaluate(dataset, baseline="kcca", settings=EvaluationSettings(task="captioning"))


def test_whitened_axes_project_training_items_on_their_coordinates() -> None:
    features = np.random.default_rng(2).normal(size=(20, 4))
    kernel = features @ features.T
    coordinates, axes = whiten(kernel)
    assert coordinates.shape[1] == 4
    assert np.allclose(kernel @ axes, coordinates)


def test_users_baseline_is_found(monkeypatch: pytest.MonkeyPatch, dataset: Path, tmp_path: Path) -> None:
    folder = tmp_path / "plugins" / "baselines"
    folder.mkdir(parents=True)
    (folder / "always_no.py").write_text(
        '"""The word no."""\nfrom vttdata.evaluate.baseline import Baseline\n'
        'BASELINE = Baseline("captioning", lambda setting: ["no"] * len(setting.items.ids))\n'
    )
    (folder / "broken.py").write_text("BASELINE = None\n")
    monkeypatch.setenv("VTTDATA_PLUGINS", str(folder.parent))
    assert BASELINES.descriptions()["always-no"] == "The word no"
    report = evaluate(dataset, baseline="always-no", metrics=["rouge-l"], settings=EvaluationSettings(draws=10))
    assert "All 6 captions are the same: 'no'." in report.findings
    with pytest.raises(VttdataError, match=r"broken\.py:1: a baseline must define BASELINE"):
        load_baseline("broken")
    with pytest.raises(VttdataError, match="Unknown baseline 'nothing'; choose from"):
        load_baseline("nothing")


@pytest.mark.parametrize("name", ["random-caption", "category-caption"])
def test_training_clips_of_the_items_sources_alone_teach_nothing(dataset: Path, name: str) -> None:
    items = read_clips(dataset)
    every_source = replace(items, source_ids=["a", "b", "c"])
    with pytest.raises(VttdataError, match="this baseline cannot learn"):
        load_baseline(name).predict(Setting(every_source, dataset))
