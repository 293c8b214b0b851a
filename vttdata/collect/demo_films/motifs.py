"""What a motif is: one shot that is chosen completely, words included, before anything is drawn.

Captions can so be had without pictures. They say only what is drawn.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from vttdata.collect.demo_films.drawing import Drawing, Path, View
from vttdata.collect.demo_films.props import PAINTS, Mood

_ARTICLE = re.compile(r"\ba (?=[aeio])")


@dataclass(frozen=True, slots=True)
class Motif:
    """One shot before it is drawn: its wordings, all different, and how to draw it."""

    captions: tuple[str, ...]
    paint: Callable[[View], Drawing]


ChooseMotif = Callable[[Random, Mood], Motif]
"""Chooses colours, directions and words from a generator of its own, for a given light."""


def wordings(random: Random, patterns: tuple[str, ...], **words: tuple[str, ...]) -> tuple[str, ...]:
    """All sentences that the patterns make of the words, each once, in random order; the patterns take turns."""
    choices = [dict(zip(words, chosen, strict=True)) for chosen in itertools.product(*words.values())]
    groups = []
    for pattern in random.sample(patterns, len(patterns)):
        group = sorted({_ARTICLE.sub("an ", pattern.format(**choice)) for choice in choices})
        groups.append(random.sample(group, len(group)))
    turns = itertools.chain.from_iterable(itertools.zip_longest(*groups))
    return tuple(dict.fromkeys(sentence for sentence in turns if sentence is not None))


def way(right: bool) -> tuple[str, ...]:
    """How people say which way something moves."""
    return ("from left to right", "to the right") if right else ("from right to left", "to the left")


def across(view: View, right: bool, height: float, margin: float) -> Path:
    """A path from one side of the picture to the other, beginning and ending `margin` outside (inside if negative)."""
    start, end = (-margin, view.aspect + margin) if right else (view.aspect + margin, -margin)
    return lambda _, part: (start + (end - start) * part, height)


def reflected(place: float, low: float, high: float) -> float:
    """Where something is that began at `low`, has come `place` far, and was thrown back whenever it met an end."""
    return low + abs((place + (high - low)) % (2 * (high - low)) - (high - low))


def pick_two(random: Random, names: tuple[str, ...] = tuple(PAINTS)) -> tuple[str, str]:
    """Two different colour names."""
    first, second = random.sample(names, 2)
    return first, second
