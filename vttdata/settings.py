"""The vocabulary in which rooms declare their settings, so that a recipe can be checked against them.

A settings class is a frozen dataclass whose fields carry their ranges as annotations. It works without any checking
library; `vttdata.recipe.load` reads the same annotations to validate YAML.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Annotated

from annotated_types import Ge, Gt, Le

STRICT = {"extra": "forbid", "strict": True}
"""The class attribute ``__pydantic_config__`` of every settings class: no unknown keys, no silent conversions."""

Ratio = Annotated[float, Ge(0), Le(1)]
Seconds = Annotated[float, Ge(0)]
PositiveSeconds = Annotated[float, Gt(0)]
Count = Annotated[int, Ge(0)]
PositiveCount = Annotated[int, Ge(1)]
Pixels = Annotated[int, Ge(16), Le(8192)]

LICENSED_PARTS = ("annotations", "captions", "videos")
"""What of a dataset may have a licence of its own; annotations are ids, times, labels, and what is derived."""


def check_licence(licence: str | Mapping[str, str]) -> None:
    """Refuse a licence without a text, and parts that no dataset has.

    Raises:
        ValueError: says what is wrong, in one sentence.
    """
    parts = {"annotations": licence} if isinstance(licence, str) else licence
    odd = sorted(set(parts) - set(LICENSED_PARTS))
    if odd:
        raise ValueError(f"found a licence for '{odd[0]}'; parts of a dataset are {', '.join(LICENSED_PARTS)}")
    if not parts or not all(text.strip() for text in parts.values()):
        raise ValueError("found an empty licence; it should be a name such as cc-by-4.0")


def check_date(date: str | None) -> None:
    """Refuse what is no day in the form YYYY-MM-DD.

    Raises:
        ValueError: says what is wrong, in one sentence.
    """
    if date is not None and (len(date) != 10 or _day(date) is None):
        raise ValueError(f"found '{date}'; it should be a day such as 2026-11-21")


def _day(text: str) -> datetime.date | None:
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        return None
