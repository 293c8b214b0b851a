"""Boosted trees on what other questions about the video ask and offer, beside what those on single questions see."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Set as AbstractSet

import numpy as np

from vttdata.generate.blind.attacker import BlindAttacker
from vttdata.generate.blind.attackers.trees import boost, describe_densely
from vttdata.generate.blind.choices import AttackerUnavailableError, ChoiceSet, check_questions
from vttdata.generate.blind.learning import Floats, rank_options

# Questions about one video that are compared with each.
_MAX_SIBLINGS = 30
_OF_OPTIONS = 6


def compare_with_siblings(choices: ChoiceSet) -> Floats:
    """Return how options, and their questions, are like other questions about the video: options x numbers.

    Of an option: the weighted share of its own words in the other questions, in their options, and in the average one
    of them; its greatest and its mean likeness to their options; and the share of them that offer it too. Words count
    by how few videos have them. Then the ranks of these; then of the question its greatest and its mean likeness to the
    others, and their number.
    """
    check_questions(choices)
    members: dict[str, list[int]] = defaultdict(list)
    for index, item in enumerate(choices.items):
        members[item.video_id].append(index)
    if max(map(len, members.values())) < 2:
        raise AttackerUnavailableError("no video has several questions")
    asked = [frozenset(words) for words in choices.question_words]
    offered = [[frozenset(words) for words in options] for options in choices.words]
    every = [asked[index].union(*offered[index]) for index in range(len(asked))]
    videos = Counter(
        word for indices in members.values() for word in frozenset().union(*(every[index] for index in indices))
    )
    weights = {word: math.log(1 + len(members) / count) for word, count in videos.items()}
    texts = [frozenset(text.casefold().strip() for text in item.options) for item in choices.items]

    def weigh(words: AbstractSet[str]) -> float:
        return math.fsum(weights[word] for word in words)

    def liken(words: AbstractSet[str], others: AbstractSet[str]) -> float:
        return len(words & others) / max(len(words | others), 1)

    likeness, questions = np.zeros((len(choices.owners), _OF_OPTIONS)), np.zeros((len(asked), 3))
    for indices in members.values():
        for index in indices:
            siblings = [other for other in indices if other != index][:_MAX_SIBLINGS]
            if not siblings:
                continue
            in_questions = frozenset().union(*(asked[other] for other in siblings))
            in_options = frozenset().union(*(words for other in siblings for words in offered[other]))
            common = offered[index][0].intersection(*offered[index][1:])
            for place, words in enumerate(offered[index]):
                own = (words - common) or words
                total = max(weigh(own), 1e-9)
                closest = [max(liken(words, others) for others in offered[other]) for other in siblings]
                text = choices.items[index].options[place].casefold().strip()
                likeness[choices.starts[index] + place] = (
                    weigh(own & in_questions) / total,
                    weigh(own & in_options) / total,
                    math.fsum(weigh(own & every[other]) for other in siblings) / total / len(siblings),
                    max(closest),
                    sum(closest) / len(closest),
                    sum(text in texts[other] for other in siblings) / len(siblings),
                )
            alike = [liken(asked[index], asked[other]) for other in siblings]
            questions[index] = max(alike), sum(alike) / len(alike), len(siblings)
    return np.hstack([likeness, rank_options(likeness, choices.starts), questions[choices.owners]])


def describe_with_siblings(choices: ChoiceSet) -> Floats:
    """Return the numbers of single questions and those beside other questions about the video: options x numbers."""
    return np.hstack([choices.features(describe_densely), compare_with_siblings(choices)])


ATTACKER = BlindAttacker(boost(describe_with_siblings), one_by_one=False)
