"""Decides from measured facts whether a source is wanted. Pure; the facts come from `probe` and `measure`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from vttdata.records import Measure, Probe
from vttdata.settings import STRICT, Count, PositiveSeconds, Ratio, Seconds

Score = Literal["dark", "frozen", "blur", "blocky"]
Verdict = tuple[str, str]
"""A reason from `REASONS` and the facts in words."""

REASONS = frozenset({"too_short", "too_long", "too_small", "dark", "frozen", "blur", "blocky"})


@dataclass(frozen=True, slots=True)
class FilterSettings:
    """Which sources are wanted (recipe section `filter`).

    Fields:
        min_seconds, max_seconds: duration of the video; no upper limit when null.
        min_width, min_height: display size in pixels, after rotation.
        max_dark, max_frozen: highest share of dark and of motionless time, 0..1.
        max_blur, max_blocky: highest blur and block-edge scores, 0..1; measured but not judged when null.
        score_only: scores that are measured and kept as columns but never reject.
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    min_seconds: Seconds = 10.0
    max_seconds: PositiveSeconds | None = None
    min_width: Count = 0
    min_height: Count = 0
    max_dark: Ratio | None = 0.9
    max_frozen: Ratio | None = 0.8
    max_blur: Ratio | None = None
    max_blocky: Ratio | None = None
    score_only: tuple[Score, ...] = ()

    def __post_init__(self) -> None:
        if self.max_seconds is not None and self.max_seconds < self.min_seconds:
            raise ValueError(f"max_seconds ({self.max_seconds:g}) is below min_seconds ({self.min_seconds:g})")


def screen(probe: Probe, settings: FilterSettings) -> Verdict | None:
    """Judge what the container says, before anything is decoded; None when nothing speaks against the source.

    Args:
        probe: the container's facts; a duration of 0 means that it states none.
        settings: the limits.
    """
    if probe.container_seconds:
        verdict = _duration(probe.container_seconds, settings)
        if verdict:
            return verdict
    if probe.width < settings.min_width or probe.height < settings.min_height:
        wanted = f"{settings.min_width}x{settings.min_height}"
        return "too_small", f"{probe.width}x{probe.height} pixels, at least {wanted} wanted"
    return None


def judge(measure: Measure, settings: FilterSettings) -> Verdict | None:
    """Judge what decoding showed; None when nothing speaks against the source."""
    return _duration(measure.seconds, settings) or next(_scores(measure, settings), None)


def _duration(seconds: float, settings: FilterSettings) -> Verdict | None:
    if seconds < settings.min_seconds:
        return "too_short", f"{seconds:.2f} s, at least {settings.min_seconds:g} s wanted"
    if settings.max_seconds is not None and seconds > settings.max_seconds:
        return "too_long", f"{seconds:.2f} s, at most {settings.max_seconds:g} s wanted"
    return None


def _scores(measure: Measure, settings: FilterSettings) -> Iterator[Verdict]:
    names: tuple[Score, ...] = ("dark", "frozen", "blur", "blocky")
    for name in names:
        limit: float | None = getattr(settings, f"max_{name}")
        score: float = getattr(measure, name)
        if limit is not None and name not in settings.score_only and score > limit:
            yield name, f"{name} {score:.3f}, at most {limit:g} wanted"
