"""Types in which subpackages declare their settings, so that a recipe can be checked against them.

A settings class is a frozen dataclass whose fields have their ranges as annotations. It works without any validation
library; `vttdata.recipe.load` reads the same annotations to validate YAML.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from annotated_types import Ge, Gt, Le

from vttdata.errors import VttdataError

Ratio = Annotated[float, Ge(0), Le(1)]
Seconds = Annotated[float, Ge(0)]
PositiveSeconds = Annotated[float, Gt(0)]
Count = Annotated[int, Ge(0)]
PositiveCount = Annotated[int, Ge(1)]
Pixels = Annotated[int, Ge(16), Le(8192)]


class Strict:
    """Base class of settings and of what files of words hold: no unknown keys, no silent conversions."""

    __slots__ = ()
    __pydantic_config__: ClassVar[dict[str, Any]] = {"extra": "forbid", "strict": True}


@dataclass(frozen=True, slots=True)
class ResponsibleUse(Strict):
    """What only the makers of a dataset can say of it, for its card and its Croissant description.

    Fields:
        limitations: what it cannot be used for, beyond what the build finds by itself.
        biases: whom and what it shows more or less than there is.
        sensitive: personal or sensitive information in it, or that there is none.
        uses: what it was made for, and what it was tested for.
        social_impact: what good and harm may come of its use.
        synthetic: whether videos or texts in it were made by a program, where its tables do not say so.
        derived_from: addresses or names of the datasets and collections that it was made from.
    """

    limitations: str | None = None
    biases: str | None = None
    sensitive: str | None = None
    uses: str | None = None
    social_impact: str | None = None
    synthetic: bool | None = None
    derived_from: tuple[str, ...] = ()


def environment_number(name: str, default: int, unit: str) -> int:
    """Return the positive integer in an environment variable, or a default where it is not set.

    Raises:
        VttdataError: when it is set to something else.
    """
    text = os.environ.get(name, "").strip()
    if not text:
        return default
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise VttdataError(f"{name}: found {text[:40]!a}; it should be a number of {unit}, such as {default}.")
    return int(text)


# Parts of a dataset that may have a licence of their own; annotations are ids, times, labels, and what is derived.
LICENSED_PARTS = ("annotations", "captions", "videos")


def check_licence(licence: str | Mapping[str, str]) -> None:
    """Check a licence, or the licence of each part of a dataset.

    Raises:
        ValueError: when a licence is empty, or a part is none of `LICENSED_PARTS`.
    """
    parts = {"annotations": licence} if isinstance(licence, str) else licence
    unknown = sorted(set(parts) - set(LICENSED_PARTS))
    if unknown:
        raise ValueError(f"found a licence for '{unknown[0]}'; parts of a dataset are {', '.join(LICENSED_PARTS)}")
    if not parts or not all(text.strip() for text in parts.values()):
        raise ValueError("found an empty licence; it should be a name such as cc-by-4.0")


def check_date(date: str | None) -> None:
    """Check that a date, if there is one, has the form YYYY-MM-DD.

    Raises:
        ValueError: when it has not, or there is no such day.
    """
    if date is None:
        return
    try:
        # Other forms of ISO 8601, such as 2026-W47-6, are read too.
        is_date = datetime.date.fromisoformat(date).isoformat() == date
    except ValueError:
        is_date = False
    if not is_date:
        raise ValueError(f"found '{date}'; it should be a day such as 2026-11-21")
