"""Reject videos that are too short or too long, by what the container states and again by what decoding shows."""

from __future__ import annotations

from typing import Any

from vttdata.media.base_filter import BaseFilter, RecipeKey, Verdict
from vttdata.records import Measure, Probe
from vttdata.settings import PositiveSeconds, Seconds

# Seconds by which a container may state another duration than decoding shows: many leave out the last frame or a
# delay of the pictures. Of 45 containers and codecs as ffmpeg writes them, none was off by more than 0.16 s.
_CONTAINER_TOLERANCE = 0.5


class Duration(BaseFilter):
    """Limits of a video's duration in seconds."""

    order = 10
    version = 2

    @classmethod
    def recipe_keys(cls) -> tuple[RecipeKey, ...]:
        """Return the least and the greatest duration."""
        return (
            RecipeKey("min_seconds", Seconds, 10.0, "least duration of the video."),
            RecipeKey("max_seconds", PositiveSeconds | None, None, "greatest duration of the video."),
        )

    @classmethod
    def reasons(cls) -> tuple[str, ...]:
        """Return both reasons."""
        return ("too_short", "too_long")

    @classmethod
    def check_settings(cls, settings: Any) -> None:
        """Refuse a greatest duration below the least."""
        if settings.max_seconds is not None and settings.max_seconds < settings.min_seconds:
            raise ValueError(f"max_seconds ({settings.max_seconds:g}) is below min_seconds ({settings.min_seconds:g})")

    @classmethod
    def screen(cls, probe: Probe, settings: Any) -> Verdict | None:
        """Judge the container's duration, if it states one; decoding decides what is close to a limit."""
        seconds = probe.container_seconds
        return _judge_seconds(seconds, settings, _CONTAINER_TOLERANCE) if seconds else None

    @classmethod
    def judge(cls, measure: Measure, settings: Any) -> Verdict | None:
        """Judge the end of the last frame."""
        return _judge_seconds(measure.seconds, settings)


def _judge_seconds(seconds: float, settings: Any, tolerance: float = 0.0) -> Verdict | None:
    if seconds < settings.min_seconds - tolerance:
        return "too_short", f"{seconds:.2f} s, at least {settings.min_seconds:g} s wanted"
    if settings.max_seconds is not None and seconds > settings.max_seconds + tolerance:
        return "too_long", f"{seconds:.2f} s, at most {settings.max_seconds:g} s wanted"
    return None
