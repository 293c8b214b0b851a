"""Blind attackers on sets in which nothing gives an answer away, and on labels that they must not see."""

from __future__ import annotations

import random

import numpy as np
import pytest

from vttdata.generate.blind.attacker import by_features, load_attackers
from vttdata.generate.blind.choices import AttackerUnavailableError, Choice, ChoiceSet, Examples, TextPair
from vttdata.generate.blind.learning import Floats, Integers
from vttdata.generate.blind.questions import MultipleChoice, audit_questions
from vttdata.generate.blind.shortcuts import audit_shortcuts
from vttdata.generate.blind.trial import ENSEMBLE, answer_choices, cross_fit, try_attackers

WORDS = [f"{a}{b}" for a in ("ba", "ke", "mo", "ti", "su") for b in ("lan", "rod", "fis", "gum", "net", "pal")]
SETS = 4


def draw_choices(seed: int, number: int = 120) -> ChoiceSet:
    """Return questions of a few forms about 30 videos, with options of words and numbers, and some groups of two."""
    draw = random.Random(seed)
    items = []
    for index in range(number):
        asked = draw.choice(("how many", "who is the", "what is there with", "does it show"))
        options = [" ".join(draw.sample(WORDS, draw.randint(1, 4))) for _ in range(4)]
        if asked == "how many":
            options = [str(value) for value in draw.sample(range(40), 4)]
        group = f"g{index // 2}" if index % 4 < 2 else None
        items.append(Choice(tuple(options), f"v{index // 4}", f"{asked} {draw.choice(WORDS)}?", group))
    return ChoiceSet(items)


def draw_answers(choices: ChoiceSet, seed: int) -> Integers:
    """Return answers: fair draws, or, of every other seed, a key with each place equally often in random order."""
    draw = np.random.default_rng(seed)
    if seed % 2:
        return draw.permutation(np.arange(len(choices.items)) % 4)
    return draw.integers(0, 4, len(choices.items))


@pytest.mark.parametrize("name", sorted(load_attackers()))
def test_no_attacker_sees_an_answer_of_what_it_tries(name: str) -> None:
    """Other answers of a fifth of the videos change nothing of what is said of this fifth."""
    choices = draw_choices(0)
    answers = draw_answers(choices, 0)
    other = (answers + 1) % 4
    folds: Integers = np.array([int(item.video_id[1:]) % 5 for item in choices.items])
    try:
        before = cross_fit(load_attackers()[name], Examples(choices, answers, folds))
        after = cross_fit(load_attackers()[name], Examples(choices, np.where(folds == 3, other, answers), folds))
    except AttackerUnavailableError as error:
        pytest.skip(str(error))
    tried = folds[choices.owners] == 3
    np.testing.assert_array_equal(before[3], after[3])
    np.testing.assert_array_equal(before[:, tried], after[:, tried])
    assert not np.array_equal(before, after) or not before.any()


def test_random_keys_are_answered_as_by_guessing() -> None:
    """By no attacker above or below guessing on average, covered by its interval, and never called open."""
    differences: dict[str, list[float]] = {}
    covered, opened = [], []
    for seed in range(3 * SETS):
        choices = draw_choices(seed)
        questions = [
            MultipleChoice(item.question, item.options, answer, item.video_id, item.group)
            for item, answer in zip(choices.items, draw_answers(choices, seed).tolist(), strict=True)
        ]
        for attack in audit_questions(questions):
            differences.setdefault(attack.name, []).append(attack.accuracy - 0.25)
            low, high = attack.interval
            if low < high:
                covered.append(low <= 0.25 <= high)
            else:
                # One that tells no options apart guesses, and has no interval.
                assert low == attack.guessing == pytest.approx(attack.accuracy)
            opened.append(attack.open)
            if attack.groups is not None and attack.name == ENSEMBLE:
                differences.setdefault("groups", []).append(attack.groups.accuracy - attack.groups.guessing)
    # Standard error of the mean of all sets, if every question were answered.
    error = np.sqrt(0.25 * 0.75 / (120 * 3 * SETS))
    for name, values in differences.items():
        assert abs(np.mean(values)) < 3 * error, name
    # Of 40 such sets the ensemble's interval holds it in .95.
    assert len(covered) > 3 * SETS
    assert np.mean(covered) > 0.85
    assert not any(opened)


def test_foils_with_sides_at_random_are_told_as_by_guessing() -> None:
    differences, opened = [], []
    for seed in range(SETS):
        draw = random.Random(seed)
        pairs = []
        for index in range(200):
            words = draw.sample(WORDS, 4)
            pairs.append(
                TextPair(f"a {words[0]} near a {words[1]}", f"a {words[2]} near a {words[3]}", f"v{index // 2}")
            )
        ensemble = audit_shortcuts(pairs)[0]
        differences.append(ensemble.accuracy - 0.5)
        opened.append(ensemble.open)
    assert abs(np.mean(differences)) < 3 * np.sqrt(0.25 / (200 * SETS))
    assert not any(opened)


def test_key_that_is_balanced_exactly_is_not_answered_below_guessing() -> None:
    """What is rare among the answers of the other videos is what is still due; it is not learned upside down."""
    choices = ChoiceSet([Choice(("yes", "no"), f"v{index}", "is it?") for index in range(300)])
    reached = []
    for seed in range(10):
        answers = np.random.default_rng(seed).permutation(np.arange(300) % 2)
        scores = try_attackers({"place": load_attackers()["place"]}, choices, answers).scores["place"]
        reached.append(answer_choices(scores, choices.starts, answers).mean())
    assert np.mean(reached) > 0.49


def test_a_leak_of_answers_is_seen_by_these_tests() -> None:
    """An attacker that has the key from elsewhere answers what nobody can."""
    choices = draw_choices(1)
    answers = draw_answers(choices, 0)
    by_text = {item.options: answer for item, answer in zip(choices.items, answers.tolist(), strict=True)}

    def look_up(choices: ChoiceSet) -> Floats:
        return np.array([[by_text[item.options] == place] for item in choices.items for place in range(4)], float)

    scores = try_attackers({"leak": by_features(look_up)}, choices, answers).scores["leak"]
    assert answer_choices(scores, choices.starts, answers).mean() == 1
