"""Mining of foils: captions in, pairs out, and errors where there can be none."""

from __future__ import annotations

import itertools
import random
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc

from vttdata.errors import VttdataError, VttdataWarning
from vttdata.generate import mine_foils
from vttdata.generate.blind.choices import ChoiceSet, TextPair, VideoCorpus
from vttdata.generate.blind.shortcuts import audit_shortcuts
from vttdata.generate.foils import search
from vttdata.generate.foils.documents import find_documents
from vttdata.generate.foils.edits import EditFinder
from vttdata.generate.foils.mine import LanguageTools, mine_videos
from vttdata.generate.foils.settings import FoilSettings
from vttdata.generate.foils.swaps import pair_concepts
from vttdata.generate.foils.video_texts import VideoTexts, assign_training_folds, group_texts_by_video
from vttdata.records import Caption
from vttdata.text.lm import load_scorer
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


def test_corpus_with_a_share_in_another_language_says_so() -> None:
    given = captions()
    with warnings.catch_warnings():
        warnings.simplefilter("error", VttdataWarning)
        mine_foils(given, seed=3)
    # 40 texts beside 480.
    given |= {f"deutsch{number}": ["ein Mann schneidet das Gemüse in der Küche"] for number in range(40)}
    with pytest.warns(VttdataWarning, match=r"^About 7\.7% of the captions are in other languages than English"):
        mine_foils(given, seed=3)


def test_records_and_texts_give_the_same_pairs_in_any_order() -> None:
    given = captions()
    records = [Caption(video, sen_id, text) for video, own in given.items() for sen_id, text in enumerate(own)]
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
    first = mine_videos(videos, LanguageTools.load(), settings=FoilSettings(), seed=0)
    assert len(sizes) > 4
    assert len({pair.video_id for pair in first.pairs}) == len(first.pairs) > 60
    chosen = {pair.video_id for pair in first.pairs}
    assert [pair.video_id for pair in first.pairs] == [v.video_id for v in videos if v.video_id in chosen]
    true, false = (Counter(getattr(pair.swap, side) for pair in first.pairs) for side in ("word", "foil_word"))
    for word, times in true.items():
        assert abs(times - false[word]) <= 0.25 * (times + false[word]) + 2 * len(sizes)
    second = mine_videos(videos[::-1], LanguageTools.load(), settings=FoilSettings(), seed=0)
    assert {pair.caption_id: pair.foil for pair in first.pairs} == {pair.caption_id: pair.foil for pair in second.pairs}


FARM, WILD = ["cow", "sheep", "goat", "pig"], ["lion", "tiger", "elephant", "monkey"]
WORDS = ["".join(letters) for letters in itertools.product("bdfglmnprst", "aeiou", "bdglmn")]


def topical_videos(training: int = 2400, mined: int = 300) -> list[VideoTexts]:
    """Return videos of two topics, each with animals and other words of its own that no phrase joins."""
    draw = random.Random(4)
    words = draw.sample(WORDS, 300)
    videos = []
    for number in range(mined + training):
        topic = number % 2
        animal, others = draw.choice((FARM, WILD)[topic]), draw.sample(words[topic::2], 8)
        text = f"We are told that a {animal} was seen here and that it was {', '.join(others)} and more."
        videos.append(VideoTexts(f"v{number}", (f"v{number}_0",), (text,), lm_training_only=number >= mined))
    return videos


class AllSound(dict[str, float]):
    """Verdicts by which every foil is sound, so that foils of another topic are not left out as odd."""

    def get(self, key: str, default: float | None = None) -> float:  # type: ignore[override]
        """Return the soundness of any foil."""
        return 1.0


def associate(videos: Sequence[VideoTexts], selection: Any) -> tuple[int, float]:
    """Return the number of pairs, and what `cooccurrence` reaches with texts that no choice has read."""
    settings = FoilSettings(selection, pair_share=1.0)
    mined = mine_videos(videos, LanguageTools.load(), settings=settings, seed=0, verdicts=AllSound(all=1.0))
    pairs = [TextPair(pair.caption, pair.foil, pair.video_id) for pair in mined.pairs]
    attacks = audit_shortcuts(pairs, texts=assign_training_folds(videos).attacker_texts())
    return len(pairs), next(attack.accuracy for attack in attacks if attack.name == "cooccurrence")


def test_words_of_another_topic_give_random_foils_away_and_not_balanced_ones() -> None:
    videos = topical_videos()
    assert associate(videos, "random")[1] > 0.75
    pairs, accuracy = associate(videos, "balanced")
    assert pairs > 150
    assert accuracy < 0.6


@pytest.fixture
def seen_associations(monkeypatch: pytest.MonkeyPatch) -> list[tuple[float, ...]]:
    """Associations of all options among which `balanced` chooses."""
    seen: list[tuple[float, ...]] = []
    balance = search.balance_foils
    monkeypatch.setattr(
        search,
        "balance_foils",
        lambda options, **limits: seen.extend(own.associations for own in options) or balance(options, **limits),
    )
    return seen


def test_associations_by_two_thirds_of_the_training_texts_are_combined(
    monkeypatch: pytest.MonkeyPatch, seen_associations: list[tuple[float, ...]]
) -> None:
    measured, arranged = [], []
    measure, arrange = search.measure_association, search.arrange_pairs

    def record_arranged(pairs: Sequence[TextPair]) -> Any:
        arranged.append(arrange(pairs))
        return arranged[-1]

    def record(corpus: VideoCorpus, choices: ChoiceSet) -> Any:
        associations = measure(corpus, choices)
        true = choices.starts + next(answers for known, answers in arranged if known is choices)
        measured.append((corpus.videos, associations[true] - associations[true ^ 1]))
        return associations

    monkeypatch.setattr(search, "arrange_pairs", record_arranged)
    monkeypatch.setattr(search, "measure_association", record)
    videos = topical_videos(mined=60)
    settings = FoilSettings(min_count=1)
    mine_videos(videos, LanguageTools.load(), settings=settings, seed=0, verdicts=AllSound(all=1.0))
    (first_texts, first), (second_texts, second) = measured
    (training,) = assign_training_folds(videos).training
    assert (first_texts, second_texts) == (training.scorer, training.second_scorer)
    combined = np.array(seen_associations)
    mean = (first + second) / 2
    # Noise is taken from the differences between options, not from what they have in common.
    np.testing.assert_allclose(combined.mean(axis=0), mean.mean(axis=0))
    shrunk = combined.std(axis=0) / mean.std(axis=0)
    assert ((shrunk > 0.5) & (shrunk < 1)).all()


def test_associations_that_two_thirds_do_not_agree_on_are_not_balanced(
    seen_associations: list[tuple[float, ...]],
) -> None:
    mined = mine_videos(
        topical_videos(training=60, mined=60),
        LanguageTools.load(),
        settings=FoilSettings(min_count=1),
        seed=0,
    )
    assert mined.pairs
    assert set(seen_associations) == {()}


def test_nothing_is_associated_without_texts(seen_associations: list[tuple[float, ...]]) -> None:
    lexicon = load_lexicon()
    documented = [find_documents(video, lexicon)[0] for video in topical_videos(training=0, mined=60)]
    rivals = pair_concepts(Counter(FARM + WILD), lexicon, min_count=1)
    scorer = load_scorer("ngram", [text for document in documented if document for text in document.documents[0].texts])
    finder = EditFinder(lexicon, rivals, FoilSettings(), seed=0)
    mined = search.search_foils([video for video in documented if video], finder, search.FoilModels(scorer))
    assert mined.pairs
    assert set(seen_associations) == {()}


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
    by_rule, by_tags = (
        mine_foils(captions(), settings=settings, tools=LanguageTools.load(pipeline=own))
        for own in (None, str(tmp_path))
    )
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
    light = f"{block}; import vttdata.dataset.rows, vttdata.generate as package; print('mine_foils' in package.__all__)"
    done = subprocess.run([sys.executable, "-c", light], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("True\n", "")
    mining = f"{block}; from vttdata.generate import mine_foils"
    done = subprocess.run([sys.executable, "-c", mining], capture_output=True, text=True, check=False)
    assert "pip install 'vttdata[foil]'" in done.stderr.splitlines()[-1]
