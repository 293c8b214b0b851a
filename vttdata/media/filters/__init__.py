"""Filters of source videos, discovered automatically in this folder and in ``filters/`` of a user's folder of plugins.

A file defines one subclass of `PictureFilter`, `MeanFilter` or `BaseFilter` and is named after the filter. Recipe
keys, columns, reasons and versions come from these files alone. Discovery happens on import.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

from vttdata.errors import VttdataError
from vttdata.media.base_filter import BaseFilter, PictureFilter, RecipeKey, Verdict
from vttdata.plugins import discover, load_module
from vttdata.records import Fingerprint, Measure, Probe, Source
from vttdata.settings import Strict

T = TypeVar("T")

# A filter's name becomes a column of the table `sources` beside these.
_COLUMNS = {"clips"} | {f.name for record in (Source, Probe, Measure, Fingerprint) for f in dataclasses.fields(record)}


def load_filters() -> Iterator[type[BaseFilter]]:
    """Import the filters' files.

    Raises:
        VttdataError: in one sentence with the file and the line, where a file is not a usable filter.
    """
    for name, path in discover(Path(__file__).parent, "filters").items():
        module = load_module(path, "filter")
        defined = [value for value in vars(module).values() if getattr(value, "__module__", "") == module.__name__]
        classes = [value for value in defined if isinstance(value, type) and issubclass(value, BaseFilter)]
        if len(classes) != 1:
            raise VttdataError(f"{path}: a filter file defines one subclass of PictureFilter, not {len(classes)}.")
        filter_class: type[BaseFilter] = classes[0]
        filter_class.name = name
        problem = _find_problem(filter_class)
        if problem:
            raise VttdataError(f"{path}:{inspect.getsourcelines(filter_class)[1]}: filter '{name}' {problem}.")
        yield filter_class


def _find_problem(filter_class: type[BaseFilter]) -> str | None:
    if not filter_class.name.isidentifier() or filter_class.name in _COLUMNS:
        return "cannot be a column of that name; rename the file"
    if inspect.isabstract(filter_class):
        return f"does not define the method {min(filter_class.__abstractmethods__)}"
    if not isinstance(filter_class.version, int) or not isinstance(filter_class.order, int):
        return "has a version or order that is not an integer"
    if issubclass(filter_class, PictureFilter):
        missing = next((name for name in ("default", "limit", "column") if not hasattr(filter_class, name)), None)
        if missing:
            return f"does not define the attribute {missing}"
        limit = filter_class.default
        if limit is not None and not (isinstance(limit, int | float) and 0 <= limit <= 1):
            return f"has the default {limit!r}, which is not a number from 0 to 1 or None"
    return None


FILTERS = tuple(sorted(load_filters(), key=lambda filter_class: (filter_class.order, filter_class.name)))
PICTURE_FILTERS = tuple(filter_class for filter_class in FILTERS if issubclass(filter_class, PictureFilter))
SCORES = tuple(filter_class.name for filter_class in PICTURE_FILTERS)
"""Names of the quality scores, in the order of their columns."""
REASONS = frozenset(reason for filter_class in FILTERS for reason in filter_class.reasons())
VERSIONS = tuple((filter_class.name, filter_class.version) for filter_class in FILTERS)


def _add_recipe_keys(settings: type[T]) -> type[T]:
    """Give a settings class a field for each recipe key of each filter, and limit `score_only` to known scores."""
    keys: list[RecipeKey] = [key for filter_class in FILTERS for key in filter_class.recipe_keys()]
    types = {key.name: key.type for key in keys} | settings.__annotations__
    settings.__annotations__ = types | {"score_only": tuple[Literal[SCORES], ...]}  # type: ignore[valid-type]
    for key in keys:
        setattr(settings, key.name, key.default)
    return settings


@dataclass(frozen=True)
@_add_recipe_keys
class FilterSettings(Strict):
    """Which sources are wanted (recipe section `filter`); has the recipe keys of all filters as fields.

    Attributes:
        score_only: scores that are measured and kept as columns but never reject.
    """

    score_only: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for filter_class in FILTERS:
            filter_class.check_settings(self)


def screen(probe: Probe, settings: FilterSettings) -> Verdict | None:
    """Judge what the container states, before anything is decoded; return the first filter's verdict, or None.

    A duration of 0 means that the container states none.
    """
    verdicts = (filter_class.screen(probe, settings) for filter_class in FILTERS)
    return next((verdict for verdict in verdicts if verdict), None)


def judge(measure: Measure, settings: FilterSettings) -> Verdict | None:
    """Judge what decoding every frame showed; return the first filter's verdict, or None to keep the source."""
    verdicts = (filter_class.judge(measure, settings) for filter_class in FILTERS)
    return next((verdict for verdict in verdicts if verdict), None)
