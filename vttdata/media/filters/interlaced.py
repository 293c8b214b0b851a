"""Reject interlaced videos, whose clips would be deinterlaced."""

from __future__ import annotations

from typing import Any

from vttdata.media.base_filter import BaseFilter, RecipeKey, Verdict
from vttdata.records import INTERLACED, Probe


class Interlaced(BaseFilter):
    """Choice whether videos with pictures of two fields are used."""

    order = 26

    @classmethod
    def recipe_keys(cls) -> tuple[RecipeKey, ...]:
        """Return the one choice."""
        meaning = "whether videos whose first picture is marked as interlaced are kept; their clips are deinterlaced."
        return (RecipeKey("keep_interlaced", bool, True, meaning),)

    @classmethod
    def reasons(cls) -> tuple[str, ...]:
        """Return the one reason."""
        return ("interlaced",)

    @classmethod
    def screen(cls, probe: Probe, settings: Any) -> Verdict | None:
        """Judge how the first picture is marked."""
        if settings.keep_interlaced or probe.field_order not in INTERLACED:
            return None
        field = "upper" if probe.field_order == "top_first" else "lower"
        return "interlaced", f"{field} field first, and the recipe sets keep_interlaced to false"
