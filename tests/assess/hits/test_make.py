"""What holds of every plan of HITs."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import assume, given
from hypothesis import settings as budget
from hypothesis import strategies as st

from tests.helpers.campaigns import captions_of, kinds, people, settings, uneven
from vttdata.assess import HitPlan, HitSettings, make_hits
from vttdata.errors import VttdataError
from vttdata.generate import Donors, degrade
from vttdata.records import Caption

SEEDS = st.integers(0, 2**32)


def uneven_plan(campaign: tuple, wanted: HitSettings, seed: int) -> HitPlan:
    try:
        return make_hits(*campaign, settings=wanted, seed=seed)
    except VttdataError as error:
        assume("one HIT needs" not in str(error) and "without showing a text twice" not in str(error))
        raise


@budget(max_examples=40)
@given(uneven(), settings(), SEEDS)
def test_every_caption_is_assessed_and_no_hit_says_a_thing_twice_about_a_video(campaign, wanted, seed) -> None:
    plan = uneven_plan(campaign, wanted, seed)
    systems, _ = campaign
    shown = Counter((system, video) for _, system, video in kinds(plan, "system"))
    assert shown.keys() == {(system, video) for system, texts in systems.items() for video in texts}
    assert min(shown.values()) >= wanted.assessments
    again = sum(shown.values()) - wanted.assessments * len(shown)
    assert again == len(plan.notes.get("assessed_again", ()))
    doubled = 0
    for hit in plan.hits:
        once = [item for item in hit.items if item.kind != "repeat"]
        said = Counter((item.video_id, item.caption.casefold()) for item in once)
        assert max(said.values()) == 1
        doubled += len(once) - len({item.caption.casefold() for item in once})
    assert doubled == len(plan.notes.get("same_text", ()))


@budget(max_examples=40)
@given(uneven(), settings(), SEEDS)
def test_every_hit_has_its_composition_and_every_control_its_original(campaign, wanted, seed) -> None:
    plan = uneven_plan(campaign, wanted, seed)
    donors = Donors(campaign[1])
    of_person = {own.video_id: own for own in campaign[1]}
    for hit in plan.hits:
        by_kind = Counter(item.kind for item in hit.items)
        assert by_kind == Counter(system=wanted.system, human=wanted.human) + Counter(
            degraded=wanted.degraded, repeat=wanted.repeat
        )
        place = {
            (item.system, item.video_id): n for n, item in enumerate(hit.items) if item.kind in ("system", "human")
        }
        assert len(place) == wanted.system + wanted.human
        for n, item in enumerate(hit.items):
            if item.kind in ("repeat", "degraded"):
                original = hit.items[place[item.system, item.video_id]]
                assert abs(n - place[item.system, item.video_id]) >= wanted.distance
                assert (item.caption == original.caption) == (item.kind == "repeat")
            if item.kind == "degraded":
                person = of_person[item.video_id]
                assert item.degraded == degrade(person, donors, seed=seed)
                assert item.caption == item.degraded.caption
                assert item.degraded.donor_video_id != item.video_id


@budget(max_examples=40)
@given(st.integers(1, 7), st.integers(12, 40), settings(), SEEDS)
def test_systems_have_the_same_share_of_every_hit_and_videos_are_spread(number, videos, wanted, seed) -> None:
    systems = captions_of([f"s{n}" for n in range(number)], videos)
    plan = make_hits(systems, people(videos), settings=wanted, seed=seed)
    repeats = Counter(system for _, system, _ in kinds(plan, "repeat"))
    for number_of_hit, hit in enumerate(plan.hits, 1):
        shares = Counter(item.system for item in hit.items if item.kind == "system")
        assert max(shares[name] for name in systems) - min(shares[name] for name in systems) <= 1
        seen = Counter(item.video_id for item in hit.items if item.kind in ("system", "human"))
        if videos >= 2 * (wanted.system + wanted.human):
            assert max(seen.values()) <= 1 + (number_of_hit > len(plan.hits) // 2)
    if wanted.repeat <= number <= wanted.system:
        assert max(repeats[name] for name in systems) - min(repeats[name] for name in systems) <= 1
    if wanted.human:
        used = Counter(video for _, _, video in kinds(plan, "human"))
        assert max(used.values()) - min(used[f"v{n}"] for n in range(videos)) <= 1
    times = Counter((system, video) for _, system, video in kinds(plan, "system"))
    if number * videos >= 2 * wanted.system:
        assert set(times.values()) <= {wanted.assessments, wanted.assessments + 1}


@budget(max_examples=40)
@given(uneven(), settings(), SEEDS, st.randoms(use_true_random=False))
def test_a_plan_depends_on_captions_settings_and_seed_and_on_no_order(campaign, wanted, seed, luck) -> None:
    plan = uneven_plan(campaign, wanted, seed)
    systems = {name: dict(luck.sample(list(texts.items()), len(texts))) for name, texts in campaign[0].items()}
    systems = dict(luck.sample(list(systems.items()), len(systems)))
    human = luck.sample(campaign[1], len(campaign[1]))
    assert make_hits(systems, human, settings=wanted, seed=seed) == plan
    assert {hit.hit for hit in make_hits(systems, human, settings=wanted, seed=seed + 1).hits}.isdisjoint(
        hit.hit for hit in plan.hits
    )


@budget(max_examples=40)
@given(uneven(), settings(), SEEDS)
def test_no_two_hits_and_no_two_items_are_called_or_made_the_same(campaign, wanted, seed) -> None:
    plan = uneven_plan(campaign, wanted, seed)
    names = [item.item for hit in plan.hits for item in hit.items]
    assert len(set(names)) == len(names)
    assert len({hit.hit for hit in plan.hits}) == len(plan.hits)
    contents = {tuple((item.video_id, item.caption) for item in hit.items) for hit in plan.hits}
    assert len(contents) == len(plan.hits)


def test_names_and_places_say_nothing_of_kinds() -> None:
    """Whatever an item is, its name is as probable; and each tenth of a HIT has as many of each kind."""
    plan = make_hits(captions_of(["a", "b", "c"], 400), people(400), seed=3)
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
    for own in letters.values():
        shares = [own[sign] / own.total() for sign in "bcdfghjklmnpqrst"]
        assert sum(shares) == pytest.approx(1)
        assert max(abs(share - 1 / 16) for share in shares) < 0.02


def test_controls_are_not_at_a_fixed_distance() -> None:
    plan = make_hits(captions_of(["a", "b"], 200), people(200))
    distances = Counter[int]()
    for hit in plan.hits:
        place = {
            (item.system, item.video_id): n for n, item in enumerate(hit.items) if item.kind in ("system", "human")
        }
        distances.update(
            abs(n - place[item.system, item.video_id])
            for n, item in enumerate(hit.items)
            if item.kind in ("degraded", "repeat")
        )
    assert min(distances) >= 41 == plan.settings.distance
    assert max(distances) <= 59
    assert len(distances) > 10


@pytest.mark.parametrize(("items", "wanted"), [((70, 10, 10, 10), 41), ((14, 2, 2, 2), 9), ((7, 1, 1, 1), 5)])
def test_the_distance_that_is_kept_is_told(items: tuple[int, int, int, int], wanted: int) -> None:
    names = ("system", "human", "degraded", "repeat")
    assert HitSettings(**dict(zip(names, items, strict=True)), min_pairs=1).distance == wanted  # type: ignore[arg-type]
    assert HitSettings(min_distance=50).distance == 50
    assert HitSettings(min_distance=1).distance == 1


def test_words_of_degraded_captions_come_from_another_source() -> None:
    human = people(40)
    source_of = {f"v{n}": f"source{n % 4}" for n in range(40)}
    plan = make_hits(captions_of(["a", "b"], 40), human, source_of, seed=1)
    made = [item for hit in plan.hits for item in hit.items if item.degraded]
    assert len(made) == 10 * len(plan.hits)
    assert all(source_of[item.degraded.donor_video_id] != source_of[item.video_id] for item in made)  # type: ignore


def test_human_captions_of_other_videos_lend_words_and_are_not_shown() -> None:
    plan = make_hits(captions_of(["a", "b"], 40), people(60), seed=1)
    assert plan.notes["only_human"] == tuple(sorted(f"v{n}" for n in range(40, 60)))
    shown = [item for hit in plan.hits for item in hit.items]
    assert {item.video_id for item in shown} <= {f"v{n}" for n in range(40)}
    assert any(item.degraded and item.degraded.donor_video_id not in {f"v{n}" for n in range(40)} for item in shown)


def test_what_is_missing_is_told_and_the_rest_is_assessed() -> None:
    systems = captions_of(["a", "b"], 50)
    del systems["a"]["v3"]
    systems["b"]["v4"] = " \u200b\n"
    human = [own for own in people(50) if own.video_id != "v5"] + [Caption("v6", 1, "short")]
    human = [own for own in human if own.video_id != "v6" or own.caption == "short"]
    plan = make_hits(systems, human)
    told = {kind: plan.notes[kind] for kind in ("missing_caption", "empty_caption", "no_human", "not_degraded")}
    assert told == {
        "missing_caption": ("a/v3", "b/v4"),
        "empty_caption": ("b/v4",),
        "no_human": ("v5",),
        "not_degraded": ("v6",),
    }
    assert len({(system, video) for _, system, video in kinds(plan, "system")}) == 98


def test_a_system_that_copies_the_human_captions_never_meets_them() -> None:
    human = people(30, each=1)
    copied = {"copy": {own.video_id: own.caption for own in human}, **captions_of(["a", "b", "c", "d"], 30)}
    plan = make_hits(copied, human, seed=5)
    for hit in plan.hits:
        said = [(item.video_id, item.caption) for item in hit.items if item.kind != "repeat"]
        assert len(set(said)) == len(said)


@pytest.mark.parametrize(
    ("systems", "human", "wanted", "told"),
    [
        (
            captions_of(["a"], 60),
            people(60),
            {},
            "There are 60 different captions by 1 systems of 60 videos, and one HIT needs 70",
        ),
        (captions_of(list("abcdefgh"), 9), people(9), {}, "9 of 9 videos have a human caption that can be degraded"),
        (captions_of(["a"], 80), [], {}, "0 of 80 videos have a human caption"),
        (captions_of(["human"], 80), people(80), {}, "A system is called 'human'"),
        ({}, people(80), {}, "no systems"),
        ({"a": {"v1": " "}}, people(80), {}, "'a' has no captions"),
        ({"a\nb": {"v1": "x"}}, people(80), {}, r"system id 'a\\nb' must be one line"),
        ({"a": {"v" * 201: "x"}}, people(80), {}, "at most 200"),
        ({"a": {"": "x"}}, people(80), {}, "video id ''"),
        (
            {"copy": {own.video_id: own.caption for own in people(70, each=1)}},
            people(70, each=1),
            {},
            "without showing a text twice",
        ),
    ],
)
def test_what_no_hit_can_be_made_of_is_one_sentence(systems, human, wanted, told) -> None:
    with pytest.raises(VttdataError, match=told):
        make_hits(systems, human, settings=HitSettings(**wanted))


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        ({"degraded": 11}, "11 degraded captions need as many human ones"),
        ({"repeat": 71}, "71 repeats"),
        ({"degraded": 9}, "9 pairs to judge its worker by, and min_pairs is 10"),
        ({"min_distance": 51}, "the most that 100 items allow is 50"),
    ],
)
def test_settings_that_contradict_each_other_are_one_sentence(wanted: dict[str, int], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        HitSettings(**wanted)  # type: ignore[arg-type]


def test_ids_of_videos_may_be_of_any_script() -> None:
    luck = random.Random(1)
    names = [f"{luck.choice('=+-@')}видео {n}/%{n}" for n in range(80)]
    systems = {"=1+1": {name: f"a caption {n}" for n, name in enumerate(names)}}
    human = [Caption(name, 0, own.caption) for name, own in zip(names, people(80, each=1), strict=True)]
    assert len(make_hits(systems, human).hits) == 2


@pytest.mark.parametrize("seed", range(10))
def test_hits_of_the_same_captions_come_in_different_orders(seed: int) -> None:
    wanted = HitSettings(system=3, human=0, degraded=0, repeat=0, assessments=5, min_pairs=0)
    plan = make_hits(captions_of(["a"], 3), [], settings=wanted, seed=seed)
    assert len({tuple(item.caption for item in hit.items) for hit in plan.hits}) == 5
    with pytest.raises(VttdataError, match="HITs of 1 items are too small for 2 of them to differ"):
        make_hits({"a": {"v": "a dog"}}, [], settings=HitSettings(1, 0, 0, 0, assessments=2, min_pairs=0))
