"""Decide from people's votes which captions are relevant to a video."""

from __future__ import annotations

from fractions import Fraction

RELEVANT = Fraction(66, 100)
"""Share of yes from which on a pair is relevant (Hodosh et al., JAIR 2013, section 4.2.2)."""


def is_relevant(yes: int, judgments: int) -> bool:
    """Return whether a share of yes makes a pair relevant; two of three do."""
    return judgments > 0 and Fraction(yes, judgments) >= RELEVANT
