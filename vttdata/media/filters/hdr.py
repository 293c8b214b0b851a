"""Reject videos of high dynamic range, whose clips would be tone-mapped to the standard one."""

from __future__ import annotations

from typing import Any

from vttdata.media.base_filter import BaseFilter, RecipeKey, Verdict
from vttdata.media.tone_mapping import is_hdr
from vttdata.records import HDR_TRANSFERS, Probe


class Hdr(BaseFilter):
    """Choice whether videos of high dynamic range are used."""

    order = 25

    @classmethod
    def recipe_keys(cls) -> tuple[RecipeKey, ...]:
        """Return the one choice."""
        meaning = "whether videos of high dynamic range (PQ, HLG) are kept; their clips are tone-mapped to SDR."
        return (RecipeKey("keep_hdr", bool, True, meaning),)

    @classmethod
    def reasons(cls) -> tuple[str, ...]:
        """Return the one reason."""
        return ("hdr",)

    @classmethod
    def screen(cls, probe: Probe, settings: Any) -> Verdict | None:
        """Judge the transfer function that the video states."""
        if settings.keep_hdr or not is_hdr(probe):
            return None
        return "hdr", f"{HDR_TRANSFERS[str(probe.color_transfer)]}, and the recipe sets keep_hdr to false"
