"""Boosted trees on what other questions about the video ask and offer, beside what those on single questions see."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

from vttdata.generate.blind.attacker import BlindAttacker
from vttdata.generate.blind.attackers.trees import boost, describe_densely, drop_repeated
from vttdata.generate.blind.choices import AttackerUnavailableError, ChoiceSet, check_questions
from vttdata.generate.blind.learning import Floats, rank_options
from vttdata.generate.blind.siblings import list_siblings

_OF_OPTIONS = 6


def compare_with_siblings(choices: ChoiceSet) -> Floats:
    """Return how options, and their questions, are like other questions about the video: options x numbers.

    Of an option: the weighted share of its own words in the other questions, in their options, and in the average one
    of them; its greatest and its mean likeness to their options; and the share of them that offer it too. Words count
    by how few videos have them. Then the ranks of these; then of the question its greatest and its mean likeness to the
    others, and their number.
    """
    check_questions(choices)
    blocks = choices.compute_once(list_siblings)
    if not blocks:
        raise AttackerUnavailableError("no video has several questions")
    counts = Counter(word for block in blocks for word in block.words)
    videos = len({item.video_id for item in choices.items})
    likeness, questions = np.zeros((len(choices.owners), _OF_OPTIONS)), np.zeros((len(choices.items), 3))
    for block in blocks:
        others = len(block.indices) - 1
        in_options = np.maximum.reduceat(block.offered, block.starts)
        every = np.maximum(block.asked, in_options)
        shared = np.minimum.reduceat(block.offered, block.starts)[block.owners]
        own = block.offered - shared
        own = np.where(own.any(axis=1, keepdims=True), own, block.offered)
        own *= [math.log(1 + videos / counts[word]) for word in block.words]
        total = np.maximum(own.sum(axis=1), 1e-9)
        said = [(marks.sum(axis=0) - marks)[block.owners] for marks in (block.asked, in_options, every)]
        closest = np.maximum.reduceat(block.alike, block.starts, axis=1)
        likeness[block.rows] = np.column_stack(
            [
                (own * (said[0] > 0)).sum(axis=1) / total,
                (own * (said[1] > 0)).sum(axis=1) / total,
                (own * said[2]).sum(axis=1) / total / others,
                closest.max(axis=1),
                closest.sum(axis=1) / others,
                np.maximum.reduceat(block.same, block.starts, axis=1).sum(axis=1) / others,
            ]
        )
        alike = block.alike_asked
        questions[block.indices] = np.column_stack(
            [alike.max(axis=1), alike.sum(axis=1) / others, np.full(len(alike), others)]
        )
    return np.hstack([likeness, rank_options(likeness, choices.starts), questions[choices.owners]])


def describe_with_siblings(choices: ChoiceSet) -> Floats:
    """Return the numbers of single questions and those beside other questions about the video: options x numbers."""
    return drop_repeated(np.hstack([choices.features(describe_densely), compare_with_siblings(choices)]))


ATTACKER = BlindAttacker(boost(describe_with_siblings), one_by_one=False)
