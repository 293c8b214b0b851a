"""Campaigns made up for tests of HITs."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from hypothesis import strategies as st

from vttdata.assess import HitPlan, HitSettings
from vttdata.records import Caption

_NOUNS = ["man", "woman", "dog", "girl", "boy", "cat", "horse", "bird", "child", "player", "singer", "cook"]
_VERBS = ["eats", "sees", "holds", "draws", "paints", "moves", "finds", "likes", "takes", "cleans"]
_THINGS = ["apple", "car", "ball", "drum", "tree", "book", "lamp", "chair", "plate", "stone"]


def sentence(luck: random.Random) -> str:
    parts = (luck.choice(words) for words in (_NOUNS, _VERBS, _THINGS, _NOUNS, _THINGS))
    return "a {} {} a {} with the {} near a {}".format(*parts)


def captions_of(systems: Sequence[str], videos: int, seed: int = 0) -> dict[str, dict[str, str]]:
    """Every system's caption of every video, no two of which say the same."""
    return {
        name: {f"v{n}": f"{sentence(random.Random(f'{seed} {name} {n}'))} {name} {n}" for n in range(videos)}
        for name in systems
    }


def people(videos: int, each: int = 2, seed: int = 0) -> list[Caption]:
    """Human captions of videos, in no order of theirs."""
    return [
        Caption(f"v{n}", 10 * n + own, f"{sentence(random.Random(f'{seed} {n} {own}'))} {n} {own} there")
        for own in range(each)
        for n in range(videos)
    ]


def kinds(plan: HitPlan, kind: str) -> list[tuple[str, str, str]]:
    """(HIT, system, video) of all items of a kind."""
    return [(hit.hit, item.system, item.video_id) for hit in plan.hits for item in hit.items if item.kind == kind]


@st.composite
def settings(draw: st.DrawFn, most: int = 12) -> HitSettings:
    system = draw(st.integers(3, most))
    human = draw(st.integers(0, 4))
    return HitSettings(
        system=system,
        human=human,
        degraded=draw(st.integers(0, human)),
        repeat=draw(st.integers(0, min(system, 4))),
        assessments=draw(st.integers(1, 3)),
        min_pairs=0,
    )


@st.composite
def uneven(draw: st.DrawFn) -> tuple[Mapping[str, Mapping[str, str]], list[Caption]]:
    """Systems that leave videos out and often say the same, as another system, as themselves, or as a person."""
    videos = draw(st.integers(8, 25))
    luck = random.Random(draw(st.integers(0, 2**20)))
    human = people(videos, each=1, seed=luck.randrange(100))
    stock = [sentence(luck) for _ in range(draw(st.integers(2, 30)))]
    systems: dict[str, dict[str, str]] = {}
    for name in range(draw(st.integers(1, 5))):
        texts = {
            own.video_id: own.caption.upper() if luck.random() < 0.2 else luck.choice(stock)
            for own in human
            if luck.random() < 0.9
        }
        systems[f"s{name}"] = texts or {"v0": "a cat"}
    return systems, human
