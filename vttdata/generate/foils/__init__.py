"""Foils: captions with one visible thing swapped for another that the video does not show (EMScore, CVPR 2022)."""

from __future__ import annotations

import importlib.util

from vttdata.errors import VttdataError


def check_foil_libraries() -> None:
    """Check that SciPy and spaCy are installed, so that a missing one is noticed before foils are mined.

    Raises:
        VttdataError: when one is missing; the message names the extra that installs it.
    """
    missing = [name for name in ("scipy", "spacy") if importlib.util.find_spec(name) is None]
    if missing:
        raise VttdataError(f"Foils need {' and '.join(missing)}: pip install 'vttdata[foil]'.")
