"""Reject videos that are black most of the time."""

from __future__ import annotations

from vttdata.media.base_filter import MeanFilter, SampledPicture


class Dark(MeanFilter):
    """Share of the time in which a nearly black picture is shown."""

    order = 30
    default = 0.9
    limit = "highest share of the time that shows a nearly black picture, 0..1."
    column = "share of nearly black frames, 0..1"

    def score_picture(self, picture: SampledPicture) -> float:
        """Return 1 for a nearly black picture, else 0."""
        return float(picture.is_black)
