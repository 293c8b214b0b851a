"""Reject videos whose picture is too small."""

from __future__ import annotations

from typing import Any

from vttdata.media.base_filter import BaseFilter, RecipeKey, Verdict
from vttdata.records import Probe
from vttdata.settings import Count


class Size(BaseFilter):
    """Limits of a video's display size in pixels, after rotation."""

    order = 20

    @classmethod
    def recipe_keys(cls) -> tuple[RecipeKey, ...]:
        """Return the least width and height."""
        return (
            RecipeKey("min_width", Count, 0, "least display width in pixels, after rotation."),
            RecipeKey("min_height", Count, 0, "least display height in pixels, after rotation."),
        )

    @classmethod
    def reasons(cls) -> tuple[str, ...]:
        """Return the one reason."""
        return ("too_small",)

    @classmethod
    def screen(cls, probe: Probe, settings: Any) -> Verdict | None:
        """Judge the container's picture size."""
        if probe.width >= settings.min_width and probe.height >= settings.min_height:
            return None
        wanted = f"{settings.min_width}x{settings.min_height}"
        return "too_small", f"{probe.width}x{probe.height} pixels, at least {wanted} wanted"
