"""Test the settings of the `collect` section of a recipe."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest
import yaml
from pydantic import TypeAdapter, ValidationError

from vttdata.collect import CollectSettings, LimitSettings, SearchSettings
from vttdata.recipe import load_recipe
from vttdata.records import Clip
from vttdata.split import assign_splits

CATEGORIES = (
    *("music", "people", "gaming", "sports/actions", "news/events/politics", "education", "tv shows", "movie/comedy"),
    *("animation", "vehicles/autos", "howto", "travel", "science/technology", "animals/pets", "kids/family"),
    *("documentary", "food/drink", "cooking", "beauty/fashion", "advertisement"),
)


def read(**values: object) -> CollectSettings:
    return TypeAdapter(CollectSettings).validate_json(json.dumps(values))


def test_values_of_a_recipe_override_defaults() -> None:
    settings = read(manifest="sources.csv", limits={"seconds_per_item": 60}, retries=0)
    assert settings == CollectSettings(manifest="sources.csv", limits=LimitSettings(60.0), retries=0)
    assert settings.limits.megabytes_per_item == 500.0
    assert read(search={"queries": {"music": ["a", "b"]}}).search == SearchSettings({"music": ("a", "b")})


@pytest.mark.parametrize(
    "values",
    [
        {"folder": "x", "max_height": 0},
        {"folder": "x", "breaker": 0},
        {"folder": "x", "retries": -1},
        {"folder": "x", "retries": "3"},
        {"folder": "x", "limits": {"seconds_per_item": 0}},
        {"folder": "x", "kilobytes_per_second": 0},
        {"folder": "x", "retry": 1},
        {"search": {"queries": {"music": ["a"]}, "per_query": 0}},
    ],
)
def test_values_out_of_range_and_unknown_keys_are_rejected(values: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        read(**values)


@pytest.mark.parametrize(
    ("queries", "engine", "message"),
    [
        ({}, "ytsearch", "at least one"),
        ({"music": ()}, "ytsearch", "at least one"),
        ({"music": ("a", " ")}, "ytsearch", "no empty one"),
        ({"music": ("a",), "people": ("a ",)}, "ytsearch", "'a' is duplicated"),
        ({"music": ("a",)}, "-x", "search prefix"),
        ({"music": ("a",)}, "https://a.example/", "search prefix"),
    ],
)
def test_invalid_search_settings_are_rejected(queries: dict[str, tuple[str, ...]], engine: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SearchSettings(queries, engine=engine)


def test_exactly_one_source_is_required() -> None:
    with pytest.raises(ValueError, match=r"exactly one source is needed .* found none"):
        CollectSettings()
    with pytest.raises(ValueError, match="found folder and manifest"):
        CollectSettings(folder="a", manifest="b")


def test_packaged_queries_match_the_number_and_categories_of_msrvtt() -> None:
    """MSR-VTT, section 3.1: 257 queries, 20 categories; the names are those of the official category.txt."""
    path = Path(__file__).parents[2] / "recipes/msrvtt-collect.yaml"
    queries = yaml.safe_load(path.read_text(encoding="utf-8"))["collect"]["search"]["queries"]
    assert tuple(queries) == CATEGORIES
    settings = SearchSettings({category: tuple(group) for category, group in queries.items()})
    assert sum(map(len, settings.queries.values())) == 257
    assert {len(group) for group in settings.queries.values()} == {12, 13}
    assert settings.per_query == 150


def test_packaged_queries_are_divided_whole_and_by_the_ratios_of_msrvtt() -> None:
    """MSR-VTT, section 3.3: clips of one query are in one split, 65 %, 5 % and 30 % of them."""
    recipe = load_recipe("msrvtt-collect").recipe
    draw = Random(1)
    clips = [
        Clip(f"{query} {n}", f"{query} {n // 2}", 0, 10, 0, 1, 1, category=category, query=query)
        for category, group in recipe.collect.search.queries.items()
        for query in group
        for n in range(draw.randint(20, 60))
    ]
    assigned = assign_splits(clips, recipe.split, seed=recipe.seed)
    assert assigned.groups == 257
    assert len({(clip.query, assigned.split_of[clip.video_id]) for clip in clips}) == 257
    for split, ratio in (("train", 0.65), ("validation", 0.05), ("test", 0.30)):
        assert assigned.counts[split] / len(clips) == pytest.approx(ratio, abs=0.01)
