"""Test the guarantees of HITs."""

from __future__ import annotations

import random
from collections import Counter
from functools import cache

import pytest
from hypothesis import assume, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from tests.helpers.campaigns import hit_settings, human_captions, items_of_kind, system_captions, uneven_campaigns
from vttdata.errors import VttdataError
from vttdata.generate import Donors, degrade
from vttdata.people import HitPlan, HitSettings, make_hits
from vttdata.records import Caption

SEEDS = st.integers(0, 2**32)


def uneven_plan(campaign: tuple, settings: HitSettings, seed: int) -> HitPlan:
    try:
        return make_hits(*campaign, settings=settings, seed=seed)
    except VttdataError as error:
        assume("one HIT needs" not in str(error) and "without showing a text twice" not in str(error))
        raise


@hypothesis_settings(max_examples=40)
@given(uneven_campaigns(), hit_settings(), SEEDS)
def test_every_caption_is_assessed_and_no_text_or_id_or_hit_is_shown_twice(campaign, settings, seed) -> None:
    plan = uneven_plan(campaign, settings, seed)
    systems, _ = campaign
    shown = Counter((system, video) for _, system, video in items_of_kind(plan, "system"))
    assert shown.keys() == {(system, video) for system, texts in systems.items() for video in texts}
    assert min(shown.values()) >= settings.assessments
    extra = sum(shown.values()) - settings.assessments * len(shown)
    assert extra == len(plan.notes.get("assessed_again", ()))
    repeated_texts = 0
    for hit in plan.hits:
        once = [item for item in hit.items if item.kind != "repeat"]
        texts = Counter((item.video_id, item.caption.casefold()) for item in once)
        assert max(texts.values()) == 1
        repeated_texts += len(once) - len({item.caption.casefold() for item in once})
    assert repeated_texts == len(plan.notes.get("same_text", ()))
    names = [item.item for hit in plan.hits for item in hit.items]
    assert len(set(names)) == len(names)
    assert len({hit.hit for hit in plan.hits}) == len(plan.hits)
    contents = {tuple((item.video_id, item.caption) for item in hit.items) for hit in plan.hits}
    assert len(contents) == len(plan.hits)


@hypothesis_settings(max_examples=40)
@given(uneven_campaigns(), hit_settings(), SEEDS)
def test_hits_have_their_composition_and_controls_their_originals(campaign, settings, seed) -> None:
    plan = uneven_plan(campaign, settings, seed)
    donors = Donors(campaign[1])
    human_of_video = {caption.video_id: caption for caption in campaign[1]}
    for hit in plan.hits:
        by_kind = Counter(item.kind for item in hit.items)
        assert by_kind == Counter(system=settings.system, human=settings.human) + Counter(
            degraded=settings.degraded, repeat=settings.repeat
        )
        position = {
            (item.system, item.video_id): n for n, item in enumerate(hit.items) if item.kind in ("system", "human")
        }
        assert len(position) == settings.system + settings.human
        for n, item in enumerate(hit.items):
            if item.kind in ("repeat", "degraded"):
                original = hit.items[position[item.system, item.video_id]]
                assert abs(n - position[item.system, item.video_id]) >= settings.distance
                assert (item.caption == original.caption) == (item.kind == "repeat")
            if item.kind == "degraded":
                person = human_of_video[item.video_id]
                assert item.degraded == degrade(person, donors, seed=seed)
                assert item.caption == item.degraded.caption
                assert item.degraded.donor_video_id != item.video_id


@hypothesis_settings(max_examples=40)
@given(st.integers(1, 7), st.integers(12, 40), hit_settings(), SEEDS)
def test_systems_have_equal_shares_of_every_hit_and_videos_are_spread(number, videos, settings, seed) -> None:
    systems = system_captions([f"s{n}" for n in range(number)], videos)
    plan = make_hits(systems, human_captions(videos), settings=settings, seed=seed)
    repeats = Counter(system for _, system, _ in items_of_kind(plan, "repeat"))
    for number_of_hit, hit in enumerate(plan.hits, 1):
        shares = Counter(item.system for item in hit.items if item.kind == "system")
        assert max(shares[name] for name in systems) - min(shares[name] for name in systems) <= 1
        seen = Counter(item.video_id for item in hit.items if item.kind in ("system", "human"))
        if videos >= 2 * (settings.system + settings.human) and number_of_hit <= len(plan.hits) // 2:
            assert max(seen.values()) <= 2
            twice = sum(times == 2 for times in seen.values())
            assert twice <= settings.twins * (number > 1)
    if settings.repeat <= number <= settings.system:
        assert max(repeats[name] for name in systems) - min(repeats[name] for name in systems) <= 1
    if settings.human:
        used = Counter(video for _, _, video in items_of_kind(plan, "human"))
        assert max(used.values()) - min(used[f"v{n}"] for n in range(videos)) <= 1
    times = Counter((system, video) for _, system, video in items_of_kind(plan, "system"))
    # Small campaigns may lack other captions with which to fill their last HITs.
    if number * videos >= 3 * settings.system:
        assert set(times.values()) <= {settings.assessments, settings.assessments + 1}


@hypothesis_settings(max_examples=40)
@given(uneven_campaigns(), hit_settings(), SEEDS, st.randoms(use_true_random=False))
def test_plan_does_not_depend_on_input_order(campaign, settings, seed, generator) -> None:
    plan = uneven_plan(campaign, settings, seed)
    systems = {name: dict(generator.sample(list(texts.items()), len(texts))) for name, texts in campaign[0].items()}
    systems = dict(generator.sample(list(systems.items()), len(systems)))
    human = generator.sample(campaign[1], len(campaign[1]))
    assert make_hits(systems, human, settings=settings, seed=seed) == plan
    # Whether few different captions suffice may depend on the seed.
    other_plan = uneven_plan((systems, human), settings, seed + 1)
    assert {hit.hit for hit in other_plan.hits}.isdisjoint(hit.hit for hit in plan.hits)


@cache
def plan_of_three_systems() -> HitPlan:
    return make_hits(system_captions(["a", "b", "c"], 400), human_captions(400), seed=3)


def test_ids_and_positions_do_not_reveal_kinds() -> None:
    """Check that ids are equally probable for all kinds, and that each tenth of a HIT has the same composition."""
    plan = plan_of_three_systems()
    letters: dict[str, Counter[str]] = {}
    earlier = Counter[str]()
    for hit in plan.hits:
        for start in range(0, 100, 10):
            of_block = Counter(item.kind for item in hit.items[start : start + 10])
            assert of_block == {"system": 7, "human": 1, "degraded": 1, "repeat": 1}
        first = {}
        for item in hit.items:
            letters.setdefault(item.kind, Counter()).update(item.item)
            if item.kind in ("human", "degraded"):
                earlier[item.kind] += first.setdefault(item.video_id + item.system, item.kind) == item.kind
    assert earlier["human"] == earlier["degraded"] == 5 * len(plan.hits)
    for counts in letters.values():
        shares = [counts[letter] / counts.total() for letter in "bcdfghjklmnpqrst"]
        assert sum(shares) == pytest.approx(1)
        assert max(abs(share - 1 / 16) for share in shares) < 0.02


def test_video_that_is_shown_twice_need_not_be_that_of_a_control() -> None:
    plan = plan_of_three_systems()
    apart: dict[bool, Counter[int]] = {True: Counter(), False: Counter()}
    for number, hit in enumerate(plan.hits):
        places: dict[str, list[int]] = {}
        for place, item in enumerate(hit.items):
            places.setdefault(item.video_id, []).append(place)
        pairs = [at for at in places.values() if len(at) == 2]
        pairs = [(one, other) for one, other in pairs if hit.items[one].caption != hit.items[other].caption]
        is_control = [hit.items[one].kind in ("human", "degraded") for one, _ in pairs]
        # With as many others, a guess by videos alone is right half the time. The last HITs have what is left.
        if number <= 0.6 * len(plan.hits):
            assert is_control.count(True) == 10
            assert is_control.count(False) >= 6
        for (one, other), control in zip(pairs, is_control, strict=True):
            apart[control][other - one] += 1
    # Nor does their distance tell: 41 to 59 positions, about 50 in the mean.
    means = [sum(n * times for n, times in counts.items()) / counts.total() for counts in apart.values()]
    assert all(41 <= n <= 59 for counts in apart.values() for n in counts)
    assert abs(means[0] - means[1]) < 1


def test_distance_of_controls_varies() -> None:
    plan = make_hits(system_captions(["a", "b"], 200), human_captions(200))
    distances = Counter[int]()
    for hit in plan.hits:
        position = {
            (item.system, item.video_id): n for n, item in enumerate(hit.items) if item.kind in ("system", "human")
        }
        distances.update(
            abs(n - position[item.system, item.video_id])
            for n, item in enumerate(hit.items)
            if item.kind in ("degraded", "repeat")
        )
    assert min(distances) >= 41 == plan.settings.distance
    assert max(distances) <= 59
    assert len(distances) > 10


@pytest.mark.parametrize(("items", "settings"), [((70, 10, 10, 10), 41), ((14, 2, 2, 2), 9), ((7, 1, 1, 1), 5)])
def test_settings_state_the_minimum_distance(items: tuple[int, int, int, int], settings: int) -> None:
    names = ("system", "human", "degraded", "repeat")
    assert HitSettings(**dict(zip(names, items, strict=True)), min_pairs=1).distance == settings  # type: ignore[arg-type]
    assert HitSettings(min_distance=50).distance == 50
    assert HitSettings(min_distance=1).distance == 1


def test_words_of_degraded_captions_come_from_another_source() -> None:
    human = human_captions(40)
    source_of = {f"v{n}": f"source{n % 4}" for n in range(40)}
    plan = make_hits(system_captions(["a", "b"], 40), human, source_of, seed=1)
    made = [item for hit in plan.hits for item in hit.items if item.degraded]
    assert len(made) == 10 * len(plan.hits)
    assert all(source_of[item.degraded.donor_video_id] != source_of[item.video_id] for item in made)  # type: ignore


def test_human_captions_of_other_videos_only_lend_words() -> None:
    plan = make_hits(system_captions(["a", "b"], 40), human_captions(60), seed=1)
    assert plan.notes["only_human"] == tuple(sorted(f"v{n}" for n in range(40, 60)))
    shown = [item for hit in plan.hits for item in hit.items]
    assert {item.video_id for item in shown} <= {f"v{n}" for n in range(40)}
    assert any(item.degraded and item.degraded.donor_video_id not in {f"v{n}" for n in range(40)} for item in shown)


def test_missing_captions_are_noted_and_the_rest_is_assessed() -> None:
    systems = system_captions(["a", "b"], 50)
    del systems["a"]["v3"]
    systems["b"]["v4"] = " \u200b\n"
    human = [caption for caption in human_captions(50) if caption.video_id != "v5"] + [Caption("v6", 1, "short")]
    human = [caption for caption in human if caption.video_id != "v6" or caption.caption == "short"]
    plan = make_hits(systems, human)
    notes = {kind: plan.notes[kind] for kind in ("missing_caption", "empty_caption", "no_human", "not_degraded")}
    assert notes == {
        "missing_caption": ("a/v3", "b/v4"),
        "empty_caption": ("b/v4",),
        "no_human": ("v5",),
        "not_degraded": ("v6",),
    }
    assert len({(system, video) for _, system, video in items_of_kind(plan, "system")}) == 98


def test_system_that_copies_human_captions_is_in_other_hits() -> None:
    human = human_captions(30, each=1)
    copied = {
        "copy": {caption.video_id: caption.caption for caption in human},
        **system_captions(["a", "b", "c", "d"], 30),
    }
    plan = make_hits(copied, human, seed=5)
    for hit in plan.hits:
        texts = [(item.video_id, item.caption) for item in hit.items if item.kind != "repeat"]
        assert len(set(texts)) == len(texts)


@pytest.mark.parametrize(
    ("systems", "human", "settings", "message"),
    [
        (
            system_captions(["a"], 60),
            human_captions(60),
            {},
            "There are 60 different captions by 1 systems of 60 videos, and one HIT needs 70",
        ),
        (
            system_captions(list("abcdefgh"), 9),
            human_captions(9),
            {},
            "9 of 9 videos have a human caption that can be degraded",
        ),
        (system_captions(["a"], 80), [], {}, "0 of 80 videos have a human caption"),
        (system_captions(["human"], 80), human_captions(80), {}, "A system is called 'human'"),
        ({}, human_captions(80), {}, "no systems"),
        ({"a": {"v1": " "}}, human_captions(80), {}, "'a' has no captions"),
        ({"a\nb": {"v1": "x"}}, human_captions(80), {}, r"system id 'a\\nb' must be one line"),
        ({"a": {"v" * 201: "x"}}, human_captions(80), {}, "at most 200"),
        ({"a": {"": "x"}}, human_captions(80), {}, "video id ''"),
        (
            {"copy": {caption.video_id: caption.caption for caption in human_captions(70, each=1)}},
            human_captions(70, each=1),
            {},
            "without showing a text twice",
        ),
    ],
)
def test_bad_input_raises_one_sentence(systems, human, settings, message) -> None:
    with pytest.raises(VttdataError, match=message):
        make_hits(systems, human, settings=HitSettings(**settings))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"degraded": 11}, "11 degraded captions need as many human ones"),
        ({"repeat": 71}, "71 repeats"),
        ({"degraded": 9}, "9 pairs to judge its worker by, and min_pairs is 10"),
        ({"min_distance": 51}, "the most that 100 items allow is 50"),
    ],
)
def test_contradictory_settings_raise_one_sentence(settings: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        HitSettings(**settings)  # type: ignore[arg-type]


def test_video_ids_may_be_in_any_script() -> None:
    generator = random.Random(1)
    names = [f"{generator.choice('=+-@')}видео {n}/%{n}" for n in range(80)]
    systems = {"=1+1": {name: f"a caption {n}" for n, name in enumerate(names)}}
    human = [Caption(name, 0, c.caption) for name, c in zip(names, human_captions(80, each=1), strict=True)]
    assert len(make_hits(systems, human).hits) == 2


@pytest.mark.parametrize("seed", range(10))
def test_hits_of_the_same_captions_have_different_orders(seed: int) -> None:
    settings = HitSettings(system=3, human=0, degraded=0, repeat=0, assessments=5, min_pairs=0)
    plan = make_hits(system_captions(["a"], 3), [], settings=settings, seed=seed)
    assert len({tuple(item.caption for item in hit.items) for hit in plan.hits}) == 5
    with pytest.raises(VttdataError, match="HITs of 1 items are too small for 2 of them to differ"):
        make_hits({"a": {"v": "a dog"}}, [], settings=HitSettings(1, 0, 0, 0, assessments=2, min_pairs=0))
