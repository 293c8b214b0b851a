"""Multiple-choice questions from foils: what each of them must satisfy, and what is balanced over all."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.helpers.words import LEXICON, RIVALS, video
from vttdata.cli.main import main
from vttdata.errors import VttdataError
from vttdata.generate import mine_foils
from vttdata.generate.foils import search
from vttdata.generate.foils.documents import Document, FoilPair, VideoDocuments
from vttdata.generate.foils.edits import EditFinder, group_by_position
from vttdata.generate.foils.questions import arrange_questions, balance_questions
from vttdata.generate.foils.search import Adversary
from vttdata.generate.foils.selection import Option
from vttdata.generate.foils.settings import FoilSettings
from vttdata.generate.foils.swaps import Swap, summarize_mentions
from vttdata.text.nouns.lexicon import Lexicon, Noun, load_lexicon
from vttdata.text.nouns.mentions import Mention

ANIMALS = ["dog", "cat", "horse", "cow", "sheep", "goat", "pig", "lion"]
FRAMES = ["a {} runs in the yard", "the {} looks at the camera", "a man watches a {}", "the {} sleeps near the house"]


def write_captions(path: Path, videos: int = 60) -> Path:
    """Captions about one animal a video, and one video of which too many animals are named for three foils."""
    draw = random.Random(1)
    lines = ["video_id,caption"]
    for number in range(videos):
        animal = draw.choice(ANIMALS)
        lines += [f"video{number},{frame.format(animal)}" for frame in draw.sample(FRAMES, 3)]
    lines += [f"zoo,the {animal} looks at the camera" for animal in ANIMALS[:6]]
    path.write_text("\n".join(lines) + "\n")
    return path


def pairs_of(caption_id: str, split: str | None = None) -> list[FoilPair]:
    text = "a dog runs"
    swaps = (Swap(2, 5, name, "dog", name, "animal", "dog", name, 0) for name in ("cat", "cow", "pig"))
    return [FoilPair("v" + caption_id, caption_id, 0, text, s.apply(text), s, 1.0, 1.0, split) for s in swaps]


@pytest.fixture
def first_solutions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the first choice that the solver finds; a better one takes it several times as long."""
    monkeypatch.setattr("vttdata.generate.foils.questions._MAX_NODES", 0)


@pytest.mark.usefixtures("first_solutions")
def test_questions_of_captions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = write_captions(tmp_path / "captions.csv")
    arguments = ["foil", str(table), "--seed", "3", "--options", "4", "--imbalance", "0.2"]
    arguments += ["--max-unsound-probability", "1", "--out", str(tmp_path / "out")]
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    questions = pd.read_parquet(tmp_path / "out" / "questions").to_dict("records")
    assert len(questions) > 20
    assert f"questions: {len(questions)}\n" in printed

    lexicon = load_lexicon()
    captions = pd.read_csv(table).groupby("video_id", sort=False)["caption"].apply(list)
    settings = FoilSettings(options=4, imbalance=0.2, max_unsound_probability=1)
    mined = mine_foils(captions.to_dict(), settings=settings, seed=3)
    again = [(arranged.choice.options, arranged.choice.answer) for arranged in arrange_questions(mined.pairs, seed=3)]
    assert again == [(tuple(row["options"]), row["answer"]) for row in questions]
    assert all(row["answer_letter"] == "ABCD"[row["answer"]] for row in questions)
    for row in questions:
        texts = captions[row["video_id"]]
        true = [index for index, option in enumerate(row["options"]) if option in texts]
        assert true == [row["answer"]]
        words = [option.split() for option in row["options"]]
        changed = [column for column in zip(*words, strict=True) if len(set(column)) > 1]
        assert len(changed) == 1
        assert len(set(changed[0])) == 4
        assert {lexicon.noun(word)[0].supercategory for word in changed[0]} == {row["type"]}
        foils = [word for word in changed[0] if word != changed[0][row["answer"]]]
        assert not any(word in " ".join(texts).split() for word in foils)
    assert len({row["video_id"] for row in questions}) == len(questions)
    positions = Counter(row["answer"] for row in questions)
    assert max(positions.values()) - min(positions[index] for index in range(4)) <= 1

    assert "zoo" not in {row["video_id"] for row in questions}
    assert "possible foils left out: foil_too_few: " in printed
    pairs = pd.read_parquet(tmp_path / "out" / "foils")
    assert sorted(pairs["caption_id"]) == sorted(3 * [row["question_id"] for row in questions])
    card = (tmp_path / "out" / "README.md").read_text()
    assert "## Multiple-choice questions" in card

    assert main(["audit", str(tmp_path / "out"), "--json"]) == 0
    attacked = json.loads(capsys.readouterr().out)["questions"]["multiple_choice"]
    assert (attacked["questions"], attacked["attacks"]) == (len(questions), [])
    assert f"No blind attacker tried these {len(questions):,} questions" in card


def test_positions_are_balanced_in_each_split_and_in_all() -> None:
    names = [(f"{split}{number}", split) for split in ("train", "test", "validation") for number in range(7)]
    pairs = [pair for name, split in names for pair in pairs_of(name, split)]
    questions = arrange_questions(pairs, seed=1)
    assert [question.caption_id for question in questions] == [name for name, _ in names]
    assert all(question.choice.options[question.choice.answer] == "a dog runs" for question in questions)
    for split in ("train", "test", "validation", None):
        answers = [question.choice.answer for question in questions if split in (question.split, None)]
        counts = [answers.count(position) for position in range(4)]
        assert max(counts) - min(counts) <= 1
    assert arrange_questions(pairs, seed=2) != questions == arrange_questions(pairs, seed=1)


def test_a_word_is_the_answer_as_often_as_by_chance() -> None:
    # 90 units say man; 10 each say one of three others, so that man can be a foil 30 times and the answer some 10.
    names = ["man", "woman", "boy", "girl"]
    truths = ["man"] * 90 + [name for name in names[1:] for _ in range(10)]
    options = [
        Option(f"u{number}", f"{word}\0{foil}", word, foil, 0.0)
        for number, word in enumerate(truths)
        for foil in names
        if foil != word
    ]
    places = [option.unit for option in options]
    chosen = balance_questions(options, places, foils=3, seed=0, imbalance=0.0)
    words = Counter(options[question[0]].word for question in chosen)
    assert len(chosen) >= 30
    for question in chosen:
        assert {options[index].foil_word for index in question} == {*names} - {options[question[0]].word}
    assert words["man"] <= 30 / 3 + 1 + 3 / 3
    order = list(range(len(options)))
    random.Random(5).shuffle(order)
    shuffled = balance_questions(
        [options[index] for index in order], [places[index] for index in order], foils=3, seed=0, imbalance=0.0
    )
    assert sorted(sorted(order[index] for index in question) for question in shuffled) == sorted(map(sorted, chosen))


def test_words_are_the_answer_as_often_beside_each_other_word() -> None:
    # Beside a cow, a dog is hardly ever the answer, but without one it is often enough.
    draw = random.Random(3)
    others = ["cat", "pig", "hen"]
    options = []
    for unit in range(920):
        first, second = ("dog", "cow") if unit % 2 else ("cow", "dog")
        words = draw.sample(others, 3)
        if unit < 20:
            words = [first, second, *words[:2]]
        elif unit % 3:
            words = [first, *words] if draw.random() < 0.4 else [words[0], first, *words[1:]]
        else:
            words = [words[0], first, second, words[1]]
        options += [Option(f"u{unit}", foil, words[0], foil, 0.0) for foil in words[1:]]
    chosen = balance_questions(options, [option.unit for option in options], foils=3, seed=0, imbalance=0.0)
    assert len(chosen) > 300
    both = Counter(
        options[question[0]].word in ("dog", "cow")
        for question in chosen
        if {"dog", "cow"} <= {options[question[0]].word, *(options[index].foil_word for index in question)}
    )
    assert both[False] <= both[True] + 4


def test_answers_vary_as_if_they_were_drawn() -> None:
    # Of words that are the answer exactly as often, who knows most answers knows which word is due.
    names = ["man", "woman", "boy", "girl"]
    options = [
        Option(f"u{number}", foil, names[number % 4], foil, 0.0)
        for number in range(400)
        for foil in names
        if foil != names[number % 4]
    ]
    chi_square = 0.0
    for seed in range(6):
        chosen = balance_questions(options, [option.unit for option in options], foils=3, seed=seed, imbalance=0.0)
        counts = Counter(options[question[0]].word for question in chosen)
        expected = len(chosen) / 4
        assert expected > 60
        chi_square += sum((counts[name] - expected) ** 2 for name in names) / expected
    # 18 degrees of freedom; where sums are kept at 0, it is below 1.
    assert 5 < chi_square < 40


def test_words_that_are_the_answer_beside_each_other_are_drawn_together() -> None:
    names = [f"animal{number}" for number in range(8)]
    options = [
        Option(f"u{number}", foil, names[number % 8], foil, 0.0)
        for number in range(320)
        for foil in names
        if foil != names[number % 8]
    ]
    chosen = balance_questions(options, [option.unit for option in options], foils=3, seed=0, imbalance=0.05)
    sets = {
        frozenset([options[question[0]].word, *(options[index].foil_word for index in question)]) for question in chosen
    }
    assert len(chosen) > 100
    # There are 70 sets of four words, and each is drawn by all places of its words or by hardly any.
    assert len(sets) <= 20


@pytest.mark.long
def test_answer_has_each_rank_of_length_as_often() -> None:
    # The answer is the third of four in length three times out of four.
    draw = random.Random(2)
    pool = ["".join(draw.choices("abcdefgh", k=length)) for length in range(2, 14)]
    options = []
    for unit in range(1200):
        words = sorted(draw.sample(pool, 4), key=len)
        answer = words.pop(2 if draw.random() < 0.75 else draw.randrange(4))
        options += [Option(f"u{unit}", foil, answer, foil, 0.0) for foil in words]
    chosen = balance_questions(options, [option.unit for option in options], foils=3, seed=0, imbalance=0.05)
    thirds = [
        sum(len(options[index].foil_word) < len(options[index].word) for index in question) == 2
        and all(len(options[index].foil_word) != len(options[index].word) for index in question)
        for question in chosen
    ]
    assert len(chosen) > 100
    # .39 where only the first and the last rank are balanced
    assert sum(thirds) < 0.35 * len(chosen)


@pytest.mark.usefixtures("first_solutions")
def test_words_are_shared_by_the_questions_of_splits() -> None:
    draw = random.Random(4)
    captions, splits = {}, {}
    for number in range(120):
        animal = draw.choice(ANIMALS)
        captions[f"v{number}"] = [frame.format(animal) for frame in draw.sample(FRAMES, 2)]
        splits[f"v{number}"] = ("train", "test")[number % 2]
    settings = FoilSettings(options=4, imbalance=0.2, max_unsound_probability=1)
    pairs = mine_foils(captions, settings=settings, splits=splits).pairs
    words = {
        split: {frozenset((pair.swap.concept, pair.swap.foil_concept)) for pair in pairs if pair.split == split}
        for split in ("train", "test")
    }
    assert len(words["train"] & words["test"]) > 10


def test_places_with_too_few_foils_are_left_out_and_counted() -> None:
    dropped: Counter[str] = Counter()
    finder = EditFinder(LEXICON, RIVALS, FoilSettings(options=4), seed=0)
    edits = finder.list_edits(video("v", "a dog runs"), dropped)
    assert edits == []
    assert dropped["too_few"] == 2  # a cat and an ox
    edits = finder.list_edits(video("v", "a woman runs"), dropped)
    concepts = [swap.foil_concept for edit in edits for _, swap in edit.swaps]
    assert len(concepts) == len(set(concepts)) >= 3
    assert len({edit.position for edit in edits}) == 1


def test_foils_of_a_place_exclude_each_other() -> None:
    # A man excludes a girl and a woman, who do not exclude each other.
    names = ["man", "woman", "girl", "dog", "cat", "cow", "pig"]
    nouns = {name: Noun(name, "thing", plural=f"{name}s") for name in names}
    lexicon = Lexicon("test-2", list(nouns.values()))
    related = {"woman", "girl"}
    rivals = {
        name: tuple(nouns[other] for other in names if other != name and not {name, other} <= related) for name in names
    }
    document = Document(("c",), ("a man runs",), ((Mention(2, 5, "man", False),),))
    given = VideoDocuments("v", (document,), summarize_mentions([("a man runs", document.mentions[0])], lexicon, ()))
    finder = EditFinder(lexicon, rivals, FoilSettings(options=4), seed=0)
    edits = finder.list_edits(given, Counter())
    concepts = {edit.swaps[0][1].foil_concept for edit in edits}
    assert len(concepts) == 5
    assert not {"woman", "girl"} <= concepts
    # A man excludes a dog, but a dog does not exclude a man.
    edits = group_by_position(edits, 3, finder.exclusive - {("man", "dog")}, {})
    assert {edit.swaps[0][1].foil_concept for edit in edits} == concepts - {"dog"}


def test_concepts_as_frequent_as_the_true_one_are_preferred() -> None:
    counts = {"man": 100, "a": 1, "b": 10, "c": 40, "d": 60, "e": 90, "f": 100, "g": 110, "h": 120, "i": 300, "j": 9000}
    nouns = {name: Noun(name, "thing", plural=f"{name}s") for name in counts}
    lexicon = Lexicon("test-3", list(nouns.values()))
    rivals = {name: tuple(nouns[other] for other in counts if other != name) for name in counts}
    document = Document(("c",), ("a man runs",), ((Mention(2, 5, "man", False),),))
    given = VideoDocuments("v", (document,), summarize_mentions([("a man runs", document.mentions[0])], lexicon, ()))
    edits = EditFinder(lexicon, rivals, FoilSettings(options=4), 0, counts).list_edits(given, Counter())
    assert {edit.swaps[0][1].foil_concept for edit in edits} == {*"cdefgh"}


@pytest.mark.parametrize(("options", "min_pairs"), [(2, 500), (4, 100)])
def test_questions_learn_from_fewer_pairs(options: int, min_pairs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = set()

    class Watched(Adversary):
        def __init__(self, *arguments: Any, min_pairs: int) -> None:
            seen.add(min_pairs)
            super().__init__(*arguments, min_pairs=min_pairs)

    monkeypatch.setattr(search, "Adversary", Watched)
    captions = {f"v{number}": [FRAMES[number % 4].format(ANIMALS[number % 8])] for number in range(120)}
    mine_foils(captions, settings=FoilSettings(options=options, imbalance=0.2, max_unsound_probability=1))
    assert seen == {min_pairs}


def test_questions_need_the_balanced_selection() -> None:
    given = {f"v{number}": ["a dog runs in the yard"] for number in range(50)}
    with pytest.raises(VttdataError, match="Questions with 4 options need the selection 'balanced', not 'paper'"):
        mine_foils(given, settings=FoilSettings(selection="paper", options=4))
