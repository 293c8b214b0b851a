"""Mining of foils: captions in, pairs out, and errors where there can be none."""

from __future__ import annotations

import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc

from vttdata.errors import VttdataError
from vttdata.generate import mine_foils
from vttdata.generate.foils import search
from vttdata.generate.foils.mine import mine_videos
from vttdata.generate.foils.search import FoilSettings
from vttdata.generate.foils.video_texts import group_texts_by_video
from vttdata.records import Caption
from vttdata.text.nouns.lexicon import load_lexicon

ANIMALS = ["dog", "cat", "horse", "cow", "sheep", "goat"]
FRAMES = ["a {} runs in the yard", "the {} looks at the camera", "a man watches a {}", "the {} sleeps near the house"]


def captions(videos: int = 160) -> dict[str, list[str]]:
    """Captions about one animal a video."""
    draw = random.Random(1)
    chosen = {f"video{number}": draw.choice(ANIMALS) for number in range(videos)}
    return {video: [frame.format(animal) for frame in draw.sample(FRAMES, 3)] for video, animal in chosen.items()}


def test_caption_and_foil_differ_in_one_span() -> None:
    given = captions()
    mined = mine_foils(given, seed=3)
    assert len(mined.pairs) > 40
    for pair in mined.pairs:
        assert pair.caption in given[pair.video_id]
        start, end = pair.swap.start, pair.swap.end
        assert pair.foil == pair.caption[:start] + pair.swap.replacement + pair.caption[end:]
        assert pair.foil not in given[pair.video_id]


def test_records_and_texts_give_the_same_pairs_in_any_order() -> None:
    given = captions()
    records = [Caption(video, place, text) for video, own in given.items() for place, text in enumerate(own)]
    random.Random(2).shuffle(records)
    settings = FoilSettings("random")
    by_text, by_record = (mine_foils(own, settings=settings, seed=5).pairs for own in (given, records))
    assert {(own.caption_id, own.foil) for own in by_text} == {(own.caption_id, own.foil) for own in by_record}


def test_train_shares_no_pair_of_concepts_with_another_split() -> None:
    given = captions(300)
    splits = {video: "train" if number % 2 else "test" for number, video in enumerate(given)}
    pairs = mine_foils(given, splits=splits).pairs
    swapped = {
        split: {frozenset((own.swap.concept, own.swap.foil_concept)) for own in pairs if own.split == split}
        for split in ("train", "test")
    }
    assert swapped["train"]
    assert swapped["test"]
    assert not swapped["train"] & swapped["test"]


def test_several_choices_are_balanced_together_and_do_not_depend_on_the_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(search, "_VIDEOS_PER_BLOCK", 20)
    monkeypatch.setattr(search, "_OPTIONS_PER_CHOICE", 150)
    sizes: list[int] = []
    balance = search.balance_foils
    monkeypatch.setattr(
        search, "balance_foils", lambda options, **limits: sizes.append(len(options)) or balance(options, **limits)
    )
    videos = group_texts_by_video(captions(240))
    first = mine_videos(videos, load_lexicon(), settings=FoilSettings(), seed=0)
    assert len(sizes) > 4
    assert len({pair.video_id for pair in first.pairs}) == len(first.pairs) > 60
    chosen = {pair.video_id for pair in first.pairs}
    assert [pair.video_id for pair in first.pairs] == [v.video_id for v in videos if v.video_id in chosen]
    true, false = (Counter(getattr(pair.swap, side) for pair in first.pairs) for side in ("word", "foil_word"))
    for word, times in true.items():
        assert abs(times - false[word]) <= 0.25 * (times + false[word]) + 2 * len(sizes)
    second = mine_videos(videos[::-1], load_lexicon(), settings=FoilSettings(), seed=0)
    assert {pair.caption_id: pair.foil for pair in first.pairs} == {pair.caption_id: pair.foil for pair in second.pairs}


def test_caption_of_one_word_gets_no_foil_and_still_says_what_is_present() -> None:
    given = captions()
    free = {pair.video_id for pair in mine_foils(given).pairs if pair.swap.foil_concept == "cat"}
    assert free
    mined = mine_foils(given | {video_id: [*given[video_id], "Cat!"] for video_id in free})
    assert {(f"{video_id}_3", "empty") for video_id in free} <= {own[:2] for own in mined.rejected}
    assert mined.pairs
    assert not free & {pair.video_id for pair in mined.pairs if pair.swap.foil_concept == "cat"}


def test_progress_sees_every_video_once_in_each_step() -> None:
    seen: dict[str, list[str]] = {}

    def watch(videos: Sequence[Any], step: str) -> Iterable[Any]:
        for video in videos:
            seen.setdefault(step, []).append(video.video_id)
            yield video

    given = captions()
    assert mine_foils(given, watch=watch).pairs == mine_foils(given).pairs
    assert [sorted(own) for own in seen.values()] == [sorted(given)] * 2


@Language.component("two animals")
def _two_animals(doc: Doc) -> Doc:
    for token in doc:
        token.pos_, token.dep_, token.head = "NOUN" if token.text in ANIMALS[:2] else "VERB", "dep", doc[-1]
    return doc


def test_trained_pipeline_finds_the_nouns_that_are_swapped(tmp_path: Path) -> None:
    pipeline = spacy.blank("en")
    pipeline.add_pipe("two animals")
    pipeline.to_disk(tmp_path)
    settings = FoilSettings("random")
    by_rule, by_tags = (mine_foils(captions(), settings=settings, pipeline=own) for own in (None, str(tmp_path)))
    assert {own.swap.concept for own in by_rule.pairs} == set(ANIMALS)
    assert {own.swap.concept for own in by_tags.pairs} == set(ANIMALS[:2])


def test_repeated_text_counts_once() -> None:
    (video,) = group_texts_by_video({"v": ["a dog runs", " a dog runs ", "a dog sits"]})
    assert (video.texts, video.ids) == (("a dog runs", "a dog sits"), ("v_0", "v_1"))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "no captions"),
        ([], "no captions"),
        ({"v": "a dog runs"}, "list of texts"),
        ({"v": ["a dog", 3]}, "list of texts"),
        ([Caption("v", 1, "a dog"), Caption("v", 1, "a cat")], "sen_id 1"),
        ({"v1": ["a dog runs"], "v2": ["a cat runs"]}, "too few videos"),
        ({f"v{n}": ["ein Hund bellt laut"] for n in range(40)}, "captions are German; the lexicon"),
        # Italian has words of the lexicon, such as camera, pizza and piano.
        ({f"v{n}": ["un uomo suona il piano in una stanza", "pizza"] for n in range(2)}, "captions are Italian"),
        ({f"v{n}": ["the dog runs fast"] for n in range(40)}, "nothing to swap"),
    ],
)
def test_captions_without_foils_are_refused(given: Any, words: str) -> None:
    with pytest.raises(VttdataError, match=words):
        mine_foils(given)


def test_loading_a_dataset_needs_no_library_of_foils() -> None:
    block = "import sys; sys.modules.update(dict.fromkeys(['pydantic', 'scipy', 'spacy', 'sklearn']))"
    told = f"{block}; import vttdata.dataset.columns, vttdata.generate as room; print('mine_foils' in room.__all__)"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("True\n", "")
    asked = f"{block}; from vttdata.generate import mine_foils"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=False)
    assert "pip install 'vttdata[foil]'" in done.stderr.splitlines()[-1]
