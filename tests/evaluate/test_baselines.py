"""Baselines learn from training clips only, and are found by discovery."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.leaking_dataset import TEST, captions_of
from vttdata.dataset import Metadata, write_dataset
from vttdata.errors import VttdataError
from vttdata.evaluate.baseline import Setting, load_baseline
from vttdata.evaluate.baselines import BASELINES
from vttdata.evaluate.baselines.knn_caption import choose_captions
from vttdata.evaluate.evaluation import EvaluationSettings, evaluate
from vttdata.evaluate.items import read_clips
from vttdata.records import Caption, Clip, Source

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
        load_baseline("nearest-caption").predict(setting)


def test_baseline_of_another_task_is_refused(dataset: Path) -> None:
    with pytest.raises(VttdataError, match=r"'kcca' is no baseline of captioning; choose from .*knn-caption"):
        evaluate(dataset, baseline="kcca", settings=EvaluationSettings(task="captioning"))
    with pytest.raises(VttdataError, match="'knn' is no baseline of retrieval") as refused:
        evaluate(dataset, baseline="knn", settings=EvaluationSettings(task="retrieval"))
    assert "nearest-words" in str(refused.value)
    assert "knn-caption" not in str(refused.value)


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


THINGS = ("red car", "small dog", "old piano", "tall tree", "blue boat", "loud crowd", "white horse", "night train")
PLACES = ("in a park", "on a street", "at home")


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Write a dataset in which clips of a thing and a place have like features, and the file of features."""
    folder = tmp_path_factory.mktemp("described")
    draw = np.random.default_rng(8)
    clips, captions, vectors = [], [], {}
    for number in range(240):
        thing, place = number % len(THINGS), int(draw.integers(len(PLACES)))
        split = ("train", "train", "train", "validation", "test")[number // 8 % 5]
        name = f"v{number}"
        clips.append(Clip(name, f"s{number}", 0.0, 10.0, None, None, None, split=split))
        texts = [f"a {THINGS[thing]} {PLACES[place]}", f"there is a {THINGS[thing]}", f"{THINGS[thing]} no{number}"]
        captions += [Caption(name, sen_id, text) for sen_id, text in enumerate(texts)]
        mean = np.concatenate([np.eye(len(THINGS))[thing], np.eye(len(PLACES))[place]])
        vectors[name] = mean + 0.15 * draw.normal(size=(3, len(mean)))
    sources = [Source(clip.source_id, "", "nowhere", "", 0) for clip in clips]
    metadata = Metadata("me/described", version="1.0.0", licence="cc-by-4.0")
    write_dataset(folder / "d", clips=clips, captions=captions, sources=sources, metadata=metadata, media=None)
    np.savez(
        folder / "features.npz",
        video_ids=list(vectors),
        frame_counts=[3] * len(vectors),
        frame_vectors=np.concatenate(list(vectors.values())),
    )
    return folder / "d", folder / "features.npz"


def thing_of(text: str) -> str:
    return next(thing for thing in THINGS if thing in text)


@pytest.mark.parametrize("name", ["nearest-caption", "knn-caption"])
def test_captions_are_those_of_clips_with_like_features(described: tuple[Path, Path], name: str) -> None:
    dataset, features = described
    setting = Setting(read_clips(dataset), dataset, features=features)
    captions = load_baseline(name).predict(setting)
    wanted = [thing_of(texts[0]) for texts in setting.items.references]
    right = [thing_of(caption) == thing for caption, thing in zip(captions, wanted, strict=True)]
    assert np.mean(right) > 0.9


def test_neighbours_agree_on_what_several_of_them_say(described: tuple[Path, Path]) -> None:
    dataset, features = described
    setting = Setting(read_clips(dataset), dataset, features=features)
    # The third caption of a clip has a word of its own.
    assert not any(text[-1].isdigit() for text in choose_captions(setting, setting.items.ids, setting.training, 10))


@pytest.mark.parametrize("name", ["kcca", "kcca-trigram", "nearest-words"])
def test_captions_find_clips_by_features(described: tuple[Path, Path], name: str) -> None:
    dataset, features = described
    setting = Setting(read_clips(dataset), dataset, features=features)
    scores = load_baseline(name).predict(setting)
    assert scores.shape == (48, 48)
    things = np.array([thing_of(texts[0]) for texts in setting.items.references])
    best = things[scores.argmax(axis=1)]
    assert np.mean(best == things) > 0.9


def test_settings_are_chosen_on_validation_or_on_some_training_sources(described: tuple[Path, Path]) -> None:
    dataset, features = described
    setting = Setting(read_clips(dataset), dataset, features=features)
    learned, tuning = setting.divide_training()
    assert (len(learned), len(tuning)) == (144, 48)
    alone = Setting(read_clips(dataset, split="validation"), dataset, features=features)
    learned, tuning = alone.divide_training()
    assert {clip.source_id for clip in learned}.isdisjoint(clip.source_id for clip in tuning)
    assert len(learned) + len(tuning) == 144
    assert 5 <= len(tuning) <= 25


def test_clips_without_features_are_counted(dataset: Path, described: tuple[Path, Path]) -> None:
    with pytest.raises(VttdataError, match="has no features of 6 of 6 clips that the baseline needs"):
        load_baseline("nearest-caption").predict(Setting(read_clips(dataset), dataset, features=described[1]))
