"""Asks whether a caption is in a language, cautiously: a doubt never removes it.

The detector is py3langid (the `build` extra), loaded on the first question.
"""

from __future__ import annotations

import functools
from typing import Any

from vttdata.errors import VttdataError

_LEAST_PROBABILITY = 0.002
"""Below this a caption is in another language. Measured with py3langid 0.4 on all 200,000 captions of MSR-VTT (English,
shortest 2 words): one lies below, and it is Spanish; the lowest true English one has 0.0031. Of 32 captions written in
18 other languages, all lie below (highest 0.0014, a Portuguese one of five words)."""


def is_language(text: str, language: str) -> bool:
    """Whether `text` may be in `language` (ISO 639-1); False only when that is next to impossible.

    Raises:
        VttdataError: when the detector does not know the language, or is not installed.
    """
    detector = _detector()
    if language not in detector.labels:
        raise VttdataError(f"The language detector knows no language '{language}'; set captions.language to another.")
    probabilities: dict[str, float] = dict(detector.rank(text))
    return probabilities[language] >= _LEAST_PROBABILITY


@functools.cache
def _detector() -> Any:
    try:
        from py3langid.langid import MODEL_FILE, LanguageIdentifier
    except ImportError as error:
        raise VttdataError("To check the language of captions: pip install 'vttdata[build]'.") from error
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
