"""What this room needs beyond the base install, asked for in one place so that its absence is one sentence."""

from __future__ import annotations

import importlib.util
from typing import Any

from vttdata.errors import VttdataError


def scipy_stats() -> Any:
    """The module `scipy.stats`.

    Raises:
        VttdataError: when SciPy is not installed; the sentence names the extra that brings it.
    """
    try:
        import scipy.stats
    except ModuleNotFoundError as error:
        raise VttdataError(f"Statistical tests need SciPy: pip install 'vttdata[assess]' ({error}).") from error
    return scipy.stats


def check_foil_libraries() -> None:
    """See that foils can be chosen and tried, before minutes are spent on mining them.

    Raises:
        VttdataError: when SciPy or scikit-learn is not installed; the sentence names the extra that brings them.
    """
    missing = [name for name in ("scipy", "sklearn") if importlib.util.find_spec(name) is None]
    if missing:
        raise VttdataError(f"Foils need {' and '.join(missing)}: pip install 'vttdata[foil]'.")
