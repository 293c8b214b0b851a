"""Generate campaigns of HITs for tests."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from hypothesis import strategies as st

from vttdata.people import HitPlan, HitSettings
from vttdata.records import Caption

_NOUNS = ["man", "woman", "dog", "girl", "boy", "cat", "horse", "bird", "child", "player", "singer", "cook"]
_VERBS = ["eats", "sees", "holds", "draws", "paints", "moves", "finds", "likes", "takes", "cleans"]
_THINGS = ["apple", "car", "ball", "drum", "tree", "book", "lamp", "chair", "plate", "stone"]


def random_sentence(generator: random.Random) -> str:
    parts = (generator.choice(words) for words in (_NOUNS, _VERBS, _THINGS, _NOUNS, _THINGS))
    return "a {} {} a {} with the {} near a {}".format(*parts)


def system_captions(systems: Sequence[str], videos: int, seed: int = 0) -> dict[str, dict[str, str]]:
    """Return every system's caption of every video, all different."""
    return {
        name: {f"v{n}": f"{random_sentence(random.Random(f'{seed} {name} {n}'))} {name} {n}" for n in range(videos)}
        for name in systems
    }


def human_captions(videos: int, each: int = 2, seed: int = 0) -> list[Caption]:
    """Return human captions of videos, `each` per video, not grouped by video."""
    return [
        Caption(f"v{n}", 10 * n + k, f"{random_sentence(random.Random(f'{seed} {n} {k}'))} {n} {k} there")
        for k in range(each)
        for n in range(videos)
    ]


def items_of_kind(plan: HitPlan, kind: str) -> list[tuple[str, str, str]]:
    """Return (HIT, system, video) of all items of a kind."""
    return [(hit.hit, item.system, item.video_id) for hit in plan.hits for item in hit.items if item.kind == kind]


@st.composite
def hit_settings(draw: st.DrawFn, most: int = 12) -> HitSettings:
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
def uneven_campaigns(draw: st.DrawFn) -> tuple[Mapping[str, Mapping[str, str]], list[Caption]]:
    """Draw systems that lack videos and often have the same caption as another system, themselves or a person."""
    videos = draw(st.integers(8, 25))
    generator = random.Random(draw(st.integers(0, 2**20)))
    human = human_captions(videos, each=1, seed=generator.randrange(100))
    stock = [random_sentence(generator) for _ in range(draw(st.integers(2, 30)))]
    systems: dict[str, dict[str, str]] = {}
    for name in range(draw(st.integers(1, 5))):
        texts = {
            caption.video_id: caption.caption.upper() if generator.random() < 0.2 else generator.choice(stock)
            for caption in human
            if generator.random() < 0.9
        }
        systems[f"s{name}"] = texts or {"v0": "a cat"}
    return systems, human
