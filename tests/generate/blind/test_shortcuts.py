"""Blind attackers find planted shortcuts, and no others."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from vttdata.errors import VttdataError
from vttdata.files.results import format_plain_table
from vttdata.generate.blind.attacker import by_features, load_attackers
from vttdata.generate.blind.attackers.cooccurrence import measure_association
from vttdata.generate.blind.choices import Choice, ChoiceSet, Examples, TextPair, VideoCorpus, arrange_pairs
from vttdata.generate.blind.shortcuts import Attack, attack_section, attack_sentences, audit_shortcuts
from vttdata.generate.blind.trial import answer_choices, cross_fit, stack_guesses, try_attackers

THINGS = ["dog", "cat", "ball", "table", "river", "guitar", "horse", "truck", "chair", "bottle"]
FRAMES = [
    "A man sees the {} there.",
    "We look at the {} for long.",
    "The {} is near the wall.",
    "This {} moves slowly.",
]
KITCHEN = ["pan", "knife", "oven", "plate", "onion", "pot"]
MISTAKES = random.Random(9)
SPORT = ["ball", "goal", "racket", "field", "helmet", "net"]


def even(number: int, seed: int = 0) -> list[TextPair]:
    """Return pairs whose true word is a fair draw."""
    draw = random.Random(f"{number} {seed}")
    pairs = []
    for video in range(number):
        true, foil = draw.sample(THINGS, 2)
        frame = draw.choice(FRAMES)
        pairs.append(TextPair(frame.format(true), frame.format(foil), f"v{video}"))
    return pairs


def change_foils(change: Callable[[str], str], number: int = 300) -> list[TextPair]:
    """Return fair pairs whose foils are changed."""
    return [TextPair(pair.true, change(pair.foil), pair.video_id) for pair in even(number)]


def choose_foils(is_true: Callable[[str, str], bool], words: Sequence[str] = THINGS) -> list[TextPair]:
    """Return pairs in which a rule says which of two words is the true one, if it says so of one of them only."""
    draw = random.Random(5)
    pairs = []
    while len(pairs) < 300:
        true, foil = draw.sample(words, 2)
        frame = draw.choice(FRAMES)
        if is_true(true, foil) and not is_true(foil, true):
            pairs.append(TextPair(frame.format(true), frame.format(foil), f"v{len(pairs)}"))
    return pairs


def odd_topics() -> list[TextPair]:
    """Return pairs in which every word is as often true as false, and the false one is of another topic."""
    draw = random.Random(6)
    pairs = []
    for video in range(400):
        here, elsewhere = (KITCHEN, SPORT) if video % 2 else (SPORT, KITCHEN)
        true, *rest = draw.sample(here, 4)
        text = f"Somebody who is seen with a {{}} has the {rest[0]} and later on the {rest[1]} and the {rest[2]}."
        pairs.append(TextPair(text.format(true), text.format(draw.choice(elsewhere)), f"v{video}"))
    return pairs


def wrong_articles() -> list[TextPair]:
    """Return pairs in which each word has the right article where it is true."""
    draw = random.Random(8)
    pairs = []
    for video in range(300):
        true, foil = draw.sample(["apple", "egg", "orange", "animal", *THINGS], 2)
        right, wrong = ("an" if word[0] in "aeiou" else "a" for word in (true, foil))
        pairs.append(
            TextPair(f"We see {right} {true}.", f"We see {'a' if wrong == 'an' else 'an'} {foil}.", f"v{video}")
        )
    return pairs


def misspell(text: str) -> str:
    """Return a text with a letter of its last word changed into two others, never the same way again."""
    index = len(text) - 2 - MISTAKES.randrange(3)
    return text[:index] + "".join(MISTAKES.choices("bcdfghjklmnpqrtvwxz", k=2)) + text[index + 1 :]


def attacks(pairs: list[TextPair], **options: object) -> dict[str, Attack]:
    return {attack.name: attack for attack in audit_shortcuts(pairs, **options)}  # type: ignore[arg-type]


def test_fair_set_is_open_to_no_attacker() -> None:
    found = attacks(even(1500))
    assert not [attack.name for attack in found.values() if attack.open]


@pytest.mark.long
def test_ensemble_guesses_where_labels_are_drawn() -> None:
    """Nothing of the videos that are tried goes into what is learned, so drawn labels give one half on average."""
    draw = random.Random(2)
    topics = odd_topics()[:200]
    accuracies = []
    for _ in range(8):
        pairs = [
            TextPair(*draw.sample((pair.true, pair.foil), 2), pair.video_id)  # type: ignore[call-arg]
            for pair in topics
        ]
        accuracies.append(audit_shortcuts(pairs)[0].accuracy)
    assert abs(np.mean(accuracies) - 0.5) < 0.035


def test_ensemble_comes_first_and_then_the_highest_accuracy() -> None:
    ensemble, *others = [attack for attack in audit_shortcuts(even(300)) if not attack.unavailable]
    assert ensemble.name == "ensemble"
    accuracies = [attack.accuracy for attack in others]
    assert accuracies == sorted(accuracies, reverse=True)


PEOPLE = ["man", "boy", "father", "king", "woman", "girl", "mother", "queen"]
FREQUENCIES = {word: 2**rank for rank, word in enumerate(THINGS)}
PLANTED = {
    "lower-cased first letter": (change_foils(lambda text: text[:1].lower() + text[1:]), "surface"),
    "missing full stop": (change_foils(lambda text: text.rstrip(".")), "surface"),
    "doubled space": (change_foils(lambda text: text.replace(" ", "  ", 1)), "surface"),
    "space before the full stop": (change_foils(lambda text: text.replace(".", " .")), "surface"),
    "wrong article": (wrong_articles(), "surface"),
    "repeated words": (change_foils(lambda text: f"{text} there there"), "length"),
    "spelling error": (change_foils(misspell), "surface"),
    "same spelling error": (change_foils(lambda text: text.replace(" ", " teh ", 1)), "linear-classifier"),
    "always the longer": (choose_foils(lambda true, foil: len(true) > len(foil)), "length"),
    "always the rarer": (choose_foils(lambda true, foil: FREQUENCIES[true] < FREQUENCIES[foil]), "rarity"),
    "always male": (
        choose_foils(lambda true, foil: PEOPLE.index(true) < 4 <= PEOPLE.index(foil), PEOPLE),
        "word-prior",
    ),
    "words of another topic": (odd_topics(), "cooccurrence"),
}


@pytest.mark.parametrize("leak", PLANTED)
@pytest.mark.sampled(4)
def test_planted_leak_is_found(leak: str) -> None:
    pairs, attacker = PLANTED[leak]
    texts = {0: [[f"Here is the {word}."] for word, count in FREQUENCIES.items() for _ in range(count)]}
    found = attacks(pairs, texts=texts) if leak == "always the rarer" else attacks(pairs)
    assert found[attacker].accuracy > 0.9
    assert found["ensemble"].accuracy > 0.9
    assert found["ensemble"].open


def test_texts_of_one_video_are_read_together() -> None:
    """Words that never share a caption but share videos are associated."""
    draw = random.Random(7)
    texts = [
        [f"There is a {word}." for word in draw.sample(topic, 4)] for topic in (KITCHEN, SPORT) for _ in range(100)
    ]
    assert association_accuracy(texts) > 0.9
    assert association_accuracy([[text] for video in texts for text in video]) < association_accuracy(texts)


def association_accuracy(texts: list[list[str]]) -> float:
    """Return how often words of another topic are told by the texts alone."""
    choices, answers = arrange_pairs(odd_topics()[:80])
    attacker = by_features(lambda choices: measure_association(VideoCorpus(texts), choices))
    scores = try_attackers({"association": attacker}, choices, answers).scores["association"]
    return float(answer_choices(scores, choices.starts, answers).mean())


def test_word_that_is_always_false_is_found_by_its_prior() -> None:
    pairs = [TextPair("the dog runs", f"the {THINGS[1 + video % 3]} runs", f"v{video}") for video in range(200)]
    found = attacks(pairs)
    assert found["word-prior"].accuracy == found["linear-classifier"].accuracy == 1.0


def test_attackers_do_not_learn_from_the_video_they_are_tried_on() -> None:
    pairs = [TextPair(f"word{video} x", f"other{video} x", f"v{video}") for video in range(200) for _ in range(3)]
    assert attacks(pairs)["word-prior"].result.ties == len(pairs)


def test_language_models_are_trained_on_given_texts() -> None:
    pairs = even(200)
    taught = attacks(pairs, texts={0: [[pair.true] for pair in pairs for _ in range(3)]})
    assert taught["ngram-models"].accuracy > attacks(pairs)["ngram-models"].accuracy
    assert taught["ngram-models"].learned_from.endswith("their true texts, texts of 600 other videos")


def test_encoder_is_tried_where_there_is_one() -> None:
    def encode(texts: Sequence[str]) -> np.ndarray:
        """Return vectors that tell animals from other things."""
        animals = {"dog", "cat", "horse"}
        noise = np.random.default_rng(len(texts)).normal(size=(len(texts), 8))
        sides = [float(bool(animals & set(text.lower().rstrip(".").split()))) for text in texts]
        return np.hstack([noise, 5 * np.array(sides)[:, np.newaxis]])

    pairs = choose_foils(lambda true, _: true in {"dog", "cat", "horse"})
    without, found = attacks(pairs), attacks(pairs, encoder=encode)
    assert without["sentence-embeddings"].unavailable == "no sentence encoder is given"
    assert "unavailable" in without["sentence-embeddings"].as_json()
    assert found["sentence-embeddings"].accuracy > 0.9
    section = attack_section(list(without.values()), narrow=True)
    assert any("sentence-embeddings" in sentence for sentence in section.sentences)
    assert section.table is not None
    assert max(map(len, format_plain_table(section.table).splitlines())) <= 100


def test_attackers_of_a_users_folder_are_tried(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "blind"  # type: ignore[operator]
    folder.mkdir()
    (folder / "alphabet.py").write_text(
        '"""Which text comes first in the alphabet."""\n'
        "import numpy as np\n"
        "from vttdata.generate.blind.attacker import by_features\n"
        "def compare(choices):\n"
        "    return np.array([[text == min(item.options)] for item in choices.items for text in item.options], float)\n"
        "ATTACKER = by_features(compare)\n"
    )
    monkeypatch.setenv("VTTDATA_PLUGINS", str(tmp_path))
    assert "alphabet" in load_attackers()
    assert attacks(choose_foils(lambda true, foil: true < foil))["alphabet"].accuracy == 1.0


def test_interval_draws_videos() -> None:
    """Pairs of one video stand or fall together, so that ten of each say no more than one."""
    single = [
        pair if number % 2 else TextPair(pair.true, pair.foil.rstrip("."), pair.video_id)
        for number, pair in enumerate(even(200))
    ]
    tenfold = [pair for pair in single for _ in range(10)]
    for pairs in (single, tenfold):
        low, high = attacks(pairs)["surface"].interval
        assert 0.05 < high - low < 0.2


def drawn_examples(number: int, seed: int) -> Examples:
    """Return choices between two texts, of folds in turn, whose answers are fair draws."""
    answers = np.random.default_rng(seed).integers(0, 2, number)
    return Examples(
        ChoiceSet([Choice(("a", "b"), f"v{index}") for index in range(number)]), answers, np.arange(number) % 5
    )


def test_examples_of_folds_are_taken_once_in_whatever_order_they_are_named() -> None:
    examples = drawn_examples(20, 2)
    kept = examples.keep([3, 1])
    assert kept.choices.indices.tolist() == [1, 3, 6, 8, 11, 13, 16, 18]
    assert examples.keep([1, 3, 7]) is kept
    assert kept.keep([3, 4]) is examples.keep([3])
    assert examples.keep([3]).choices.rows.tolist() == [6, 7, 16, 17, 26, 27, 36, 37]


def test_ensemble_is_worse_than_no_member_by_much() -> None:
    """A good attacker among others that guess is not drowned by them."""
    examples = drawn_examples(2000, 3)
    generator = np.random.default_rng(3)
    signal = np.zeros(4000)
    signal[examples.right] = np.where(generator.random(2000) < 0.62, 1.0, -1.0) * generator.random(2000)
    guesses = np.array([np.tile(row, (5, 1)) for row in (signal, *generator.normal(size=(10, 4000)))])
    ensemble = stack_guesses(guesses, examples)
    alone, together = (
        answer_choices(scores, examples.choices.starts, examples.answers).mean() for scores in (signal, ensemble)
    )
    assert together > alone - 0.005


def test_what_is_learned_for_a_fold_has_seen_neither_its_answers_nor_those_that_it_scores() -> None:
    """Answers of a fold have no influence on its row, nor on scores of its own options in any row."""
    examples = drawn_examples(100, 1)
    features = np.random.default_rng(1).normal(size=(200, 3))
    attacker = by_features(lambda _: features)
    before = cross_fit(attacker, examples)
    turned = Examples(
        examples.choices, np.where(examples.folds == 2, 1 - examples.answers, examples.answers), examples.folds
    )
    after = cross_fit(attacker, turned)
    of_option = examples.folds[examples.choices.owners]
    np.testing.assert_array_equal(before[2], after[2])
    np.testing.assert_array_equal(before[:, of_option == 2], after[:, of_option == 2])
    assert not np.allclose(before[1, of_option == 0], after[1, of_option == 0])


@pytest.mark.parametrize(
    ("pairs", "words"),
    [
        ([], "no pairs"),
        ([TextPair("a", "b", "v"), TextPair("c", "d", "v")], "one video"),
        ([TextPair("a", "b", "v"), TextPair("same", "same", "w")], "one text twice: 'same'"),
        (
            [TextPair("狗在院子里跑", "猫在院子里跑", "v"), TextPair("有人看球", "有人看书", "w")],
            "The texts are Chinese, whose script has no spaces between words",
        ),
        ([TextPair("หมาวิ่ง", "แมววิ่ง", "v"), TextPair("คนเดิน", "คนนั่ง", "w")], "Thai"),
    ],
)
def test_pairs_that_cannot_be_audited_are_refused(pairs: list[TextPair], words: str) -> None:
    with pytest.raises(VttdataError, match=words):
        audit_shortcuts(pairs)


@pytest.mark.parametrize(
    ("pairs", "accuracy"),
    [
        ([TextPair("a dog runs.", "a dog runs", f"v{video}") for video in range(50)], 1.0),
        ([TextPair("a dog sees a cat", "a cat sees a dog", f"v{video}") for video in range(50)], 1.0),
        ([TextPair("...", "!!!", f"v{video}") for video in range(50)], 1.0),
        ([TextPair("a dog", "", f"v{video}") for video in range(50)], 1.0),
        ([TextPair("a dog", "a cat", "v"), TextPair("a cow", "a pig", "w")], 0.5),
        ([TextPair("a dog", "a cat", "v"), TextPair("...", "!", "w"), TextPair("a cow", "a pig", "x")], 0.5),
    ],
)
def test_pairs_without_swapped_or_shared_words_are_attacked(pairs: list[TextPair], accuracy: float) -> None:
    assert attacks(pairs)["ensemble"].accuracy == accuracy


def test_other_scripts_with_spaces_are_attacked() -> None:
    pairs = [TextPair(f"собака бежит {video}", f"кошка бежит {video}", f"v{video}") for video in range(100)]
    assert attacks(pairs)["ensemble"].accuracy == 1.0


def test_few_pairs_give_no_verdict() -> None:
    few, many, leaky = (audit_shortcuts(pairs)[0] for pairs in (even(60), even(900), PLANTED["missing full stop"][0]))
    assert (few.verdict, many.verdict, leaky.verdict) == ("too few pairs", "withstood", "open")
    assert "cannot tell whether it is open" in attack_sentences([few])


def test_texts_of_other_videos_are_read_beside_those_of_the_set() -> None:
    """VideoCorpus that say nothing take nothing away from what the set itself teaches."""
    misleading = attacks(odd_topics(), texts={0: [["nothing of the kind"]] * 9})
    assert misleading["cooccurrence"].accuracy > 0.9
    assert (
        misleading["cooccurrence"].learned_from == "pairs of other videos and their true texts, texts of 9 other videos"
    )


def test_characters_that_words_share_are_learned() -> None:
    """No word of a text is in another pair; endings are."""
    draw = random.Random(12)
    stems = ["".join(draw.choices("bdfgklmnprst", k=5)) for _ in range(600)]
    pairs = [
        TextPair(f"a {first}ing thing", f"a {second}ous thing", f"v{number}")
        for number, (first, second) in enumerate(zip(stems[::2], stems[1::2], strict=True))
    ]
    found = attacks(pairs)
    assert found["character-ngrams"].accuracy == 1.0
    assert found["word-prior"].accuracy == 0.5
