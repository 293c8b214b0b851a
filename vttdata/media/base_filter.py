"""Base classes of the filters in `vttdata.media.filters`: how a filter declares itself, measures and judges.

A filter of pictures is shown the luma of a video every half second and turns it into a score of the video, 0 best and
1 worst; the score becomes a column, and a recipe may limit it. Filters of what the container states measure nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from vttdata.media.luma import Luma, black_share, scan_lines
from vttdata.records import Measure, Probe
from vttdata.settings import Ratio

# The default of ffmpeg's `blackdetect`. Letterbox bars never reach it: even 2.76:1 inside 4:3 leaves half of the
# picture free.
BLACK_PICTURE_SHARE = 0.98

Verdict = tuple[str, str]
"""Reason for which a source is rejected, and the facts in words."""


class RecipeKey(NamedTuple):
    """Key in the recipe section `filter`, with its type (annotated with its range), default and description."""

    name: str
    type: Any
    default: object
    description: str


@dataclass(frozen=True)
class SampledPicture:
    """Picture of a video as filters see it: its luma, and whether nearly all pixels are nearly black.

    It is shown for a number of half seconds, `periods`, at least 1.
    """

    luma: Luma
    periods: int
    is_black: bool

    @cached_property
    def lines(self) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.int16]]:
        """Return rows and columns as `vttdata.media.luma.scan_lines` does."""
        return scan_lines(self.luma)

    @classmethod
    def from_luma(cls, luma: Luma, periods: int = 1) -> SampledPicture:
        """Make a sample of a picture that is shown for `periods` half seconds."""
        return cls(luma, periods, black_share(luma) >= BLACK_PICTURE_SHARE)


class BaseFilter(ABC):
    """Rule that rejects source videos.

    Attributes:
        name: name of the filter's file.
        version: raised when the same video and settings are judged or scored differently than before.
        order: filters of lower order judge first, and their columns come first.
    """

    name: ClassVar[str]
    version: ClassVar[int] = 1
    order: ClassVar[int] = 100

    @classmethod
    @abstractmethod
    def recipe_keys(cls) -> tuple[RecipeKey, ...]:
        """Return the filter's keys in the recipe section `filter`."""

    @classmethod
    @abstractmethod
    def reasons(cls) -> tuple[str, ...]:
        """Return the reasons for which the filter rejects."""

    @classmethod  # noqa: B027
    def check_settings(cls, settings: object) -> None:
        """Refuse values of the filter's keys that contradict each other.

        Raises:
            ValueError: says what is wrong, in one sentence.
        """

    @classmethod
    def screen(cls, probe: Probe, settings: object) -> Verdict | None:  # noqa: ARG003
        """Judge what the container states, before anything is decoded; return None to keep the source."""
        return None

    @classmethod
    def judge(cls, measure: Measure, settings: object) -> Verdict | None:  # noqa: ARG003
        """Judge what decoding every frame showed; return None to keep the source."""
        return None


class PictureFilter(BaseFilter):
    """Rule that rejects source videos whose pictures score above a limit; an instance scores one video.

    The filter `dark` has the recipe key `max_dark`, the column `dark` in the table `sources`, and the reason `dark`.

    Attributes:
        default: limit when the recipe sets none, 0..1; None to measure without rejecting.
        limit: meaning of the recipe key, for the documentation.
        column: meaning of the column, for the dataset card.
    """

    default: ClassVar[float | None]
    limit: ClassVar[str]
    column: ClassVar[str]

    @abstractmethod
    def add(self, picture: SampledPicture) -> None:
        """Take in the next sampled picture, in presentation order."""

    @abstractmethod
    def score(self) -> float:
        """Return the score of all pictures added, at least one: 0 best, 1 worst."""

    @classmethod
    def recipe_keys(cls) -> tuple[RecipeKey, ...]:
        """Return the limit of the score."""
        return (RecipeKey(f"max_{cls.name}", Ratio | None, cls.default, cls.limit),)

    @classmethod
    def reasons(cls) -> tuple[str, ...]:
        """Return the filter's name."""
        return (cls.name,)

    @classmethod
    def judge(cls, measure: Measure, settings: Any) -> Verdict | None:
        """Reject a score above the limit, unless the score is among `score_only`."""
        limit, score = getattr(settings, f"max_{cls.name}"), measure.scores[cls.name]
        if limit is None or cls.name in settings.score_only or score <= limit:
            return None
        return cls.name, f"{cls.name} {score:.3f}, at most {limit:g} wanted"


class MeanFilter(PictureFilter):
    """Picture filter whose score of a video is the mean score of its pictures, weighted by time.

    Attributes:
        skips_black: leave black pictures out of the mean; a video of nothing else scores 0.
    """

    skips_black: ClassVar[bool] = False

    def __init__(self) -> None:
        self._sum = 0.0
        self._periods = 0

    @abstractmethod
    def score_picture(self, picture: SampledPicture) -> float:
        """Return the score of one picture: 0 best, 1 worst."""

    def add(self, picture: SampledPicture) -> None:
        """Add the picture's score, weighted by the time it is shown."""
        if not (self.skips_black and picture.is_black):
            self._sum += picture.periods * self.score_picture(picture)
            self._periods += picture.periods

    def score(self) -> float:
        """Return the weighted mean."""
        return self._sum / max(self._periods, 1)
