"""Foils: captions with one visible thing swapped for another that the video does not show (EMScore, CVPR 2022)."""

from __future__ import annotations

from vttdata.missing_modules import check_installed


def check_foil_libraries() -> None:
    """Check that SciPy and spaCy are installed, so that a missing one is noticed before foils are mined.

    Raises:
        VttdataError: when one is missing; the message names the extra that installs it.
    """
    check_installed("Foils", "foil", "scipy", "spacy")
