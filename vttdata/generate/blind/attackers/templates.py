"""Which options are right for questions of the same form: their words, their rank as numbers, their place."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from vttdata.generate.blind.attacker import by_features
from vttdata.generate.blind.attackers.numbers import rank_numbers
from vttdata.generate.blind.choices import ChoiceSet, check_questions
from vttdata.generate.blind.learning import cross_features

if TYPE_CHECKING:
    from vttdata.generate.blind.learning import Matrix

# Questions of one form: those with the same words, of the words that so large a share of all questions has.
_MIN_SHARE = 0.01
_FIRST_WORDS = 3


def cross_with_form(choices: ChoiceSet) -> Matrix:
    """Return pairs of a form of the question and what an option is: its text, its words, its rank, its place.

    A question has its first words as a form, and its frequent words in their order.
    """
    check_questions(choices)
    videos = Counter(word for words in choices.question_words for word in set(words))
    frequent = {word for word, count in videos.items() if count >= max(2, _MIN_SHARE * len(choices.items))}
    forms = [
        ["", "first " + " ".join(words[:_FIRST_WORDS]), " ".join(word if word in frequent else "*" for word in words)]
        for words in choices.question_words
    ]
    ranks = rank_numbers(choices)
    traits = []
    for row, (owner, place) in enumerate(zip(choices.owners.tolist(), choices.places.tolist(), strict=True)):
        item = choices.items[owner]
        names = [f"text {item.options[place].casefold().strip()}", *dict.fromkeys(choices.words[owner][place])]
        names += [f"rank {ranks[row]}"] if ranks[row] else []
        traits.append([*names, *([f"place {place}"] if item.has_places else [])])
    return cross_features(forms, traits, choices.owners)


ATTACKER = by_features(cross_with_form)
