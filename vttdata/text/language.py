"""Cautious check of a caption's language: a caption passes unless it is almost certainly in another language.

The detector is py3langid (the `build` extra), loaded at the first check.
"""

from __future__ import annotations

import functools
from typing import Any

from vttdata.errors import VttdataError

# Measured with py3langid 0.4 on all 200,000 captions of MSR-VTT (English, shortest 2 words): one is below, and it is
# Spanish; the lowest true English one has 0.0031. Of 32 captions written in 18 other languages, all are below (highest
# 0.0014, a Portuguese one of five words).
_MIN_PROBABILITY = 0.002


def is_language(text: str, language: str) -> bool:
    """Return whether `text` may be in `language` (ISO 639-1); False only when that is almost impossible.

    Raises:
        VttdataError: when the detector does not know the language, or is not installed.
    """
    detector = _load_detector()
    if language not in detector.labels:
        raise VttdataError(f"The language detector does not know '{language}'; set captions.language to another code.")
    probabilities: dict[str, float] = dict(detector.rank(text))
    return probabilities[language] >= _MIN_PROBABILITY


@functools.cache
def _load_detector() -> Any:
    try:
        from py3langid.langid import MODEL_FILE, LanguageIdentifier
    except ImportError as error:
        raise VttdataError("To check the language of captions: pip install 'vttdata[build]'.") from error
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
