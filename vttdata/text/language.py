"""Languages of captions: of one, which passes unless it is almost certainly in another language, and of many together.

The detector is py3langid (the `build` extra), loaded at the first check.
"""

from __future__ import annotations

import functools
import heapq
import itertools
import random
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any
from zlib import crc32

from vttdata.errors import VttdataError

# Measured with py3langid 0.4 on all 200,000 captions of MSR-VTT (English, shortest 2 words): one is below, and it is
# Spanish; the lowest true English one has 0.0031. Of 32 captions written in 18 other languages, all are below (highest
# 0.0014, a Portuguese one of five words).
_MIN_PROBABILITY = 0.002
# Words of a corpus that are looked at; the detector's probabilities get flatter with more. Of 300 samples of MSR-VTT,
# ActivityNet and YouCook2, English is the likeliest language of all; captions in other languages have a ratio below.
_SAMPLE_WORDS = 100
_MIN_RATIO = 0.05

# ISO 639 codes -> names.
LANGUAGE_NAMES: dict[str, str] = dict(
    re.findall(
        r"(\w+):(\w+)",
        """
    af:Afrikaans ar:Arabic bg:Bulgarian bn:Bengali ca:Catalan cs:Czech da:Danish de:German el:Greek en:English
    es:Spanish et:Estonian fa:Persian fi:Finnish fr:French gl:Galician gu:Gujarati he:Hebrew hi:Hindi hr:Croatian
    hu:Hungarian id:Indonesian is:Icelandic it:Italian ja:Japanese kn:Kannada ko:Korean lt:Lithuanian lv:Latvian
    mk:Macedonian ml:Malayalam mr:Marathi ms:Malay nl:Dutch no:Norwegian pl:Polish pt:Portuguese ro:Romanian
    ru:Russian sk:Slovak sl:Slovenian sq:Albanian sr:Serbian sv:Swedish sw:Swahili ta:Tamil te:Telugu th:Thai
    tl:Tagalog tr:Turkish uk:Ukrainian ur:Urdu vi:Vietnamese zh:Chinese
    """,
    )
)

# ISO 639-2: the language is not known.
UNDETERMINED = "und"

# Languages of `LANGUAGE_NAMES` that are not written in Latin letters -> first words of the names of their letters in
# Unicode. Serbian is written in both.
_SCRIPTS: dict[str, frozenset[str]] = {
    language: frozenset(scripts.split("+"))
    for scripts, languages in {
        "ARABIC": "ar fa ur",
        "BENGALI": "bn",
        "CJK": "zh",
        "CJK+HIRAGANA+KATAKANA+KATAKANA-HIRAGANA": "ja",
        "CYRILLIC": "bg mk ru uk",
        "CYRILLIC+LATIN": "sr",
        "DEVANAGARI": "hi mr",
        "GREEK": "el",
        "GUJARATI": "gu",
        "HANGUL+CJK": "ko",
        "HEBREW": "he",
        "KANNADA": "kn",
        "MALAYALAM": "ml",
        "TAMIL": "ta",
        "TELUGU": "te",
        "THAI": "th",
    }.items()
    for language in languages.split()
}
# Captions of which the language is looked at, one by one, to estimate a share of a corpus.
_SAMPLE_CAPTIONS = 1000


def primary_language(tag: str) -> str | None:
    """Return the ISO 639 code of a language tag such as ``en-GB``; None if it has none or says undetermined."""
    code = re.split("[-_]", tag.strip().lower())[0]
    return code if re.fullmatch("[a-z]{2,3}", code) and code != UNDETERMINED else None


def has_other_script(text: str, language: str) -> bool:
    """Return whether most letters of a text are of scripts that a language (ISO 639-1) is not written in.

    False for languages whose scripts are not known here, and for texts without letters.
    """
    if language not in LANGUAGE_NAMES or (text.isascii() and language not in _SCRIPTS):
        return False
    scripts = _SCRIPTS.get(language, frozenset({"LATIN"}))
    letters = [_script(character) in scripts for character in text if character.isalpha()]
    return 2 * sum(letters) < len(letters)


@functools.lru_cache(maxsize=2**14)
def _script(letter: str) -> str:
    """Return the first word of the name of a letter, without what says that it is wide or small."""
    name = unicodedata.name(letter, "").removeprefix("FULLWIDTH ").removeprefix("HALFWIDTH ")
    return name.split(" ")[0]


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


def sample_texts(texts: Iterable[str]) -> list[str]:
    """Return a sample of about a hundred words of a corpus, the same in any order; few new texts change it."""
    first = heapq.nsmallest(_SAMPLE_WORDS, {*texts}, key=lambda text: (crc32(text.encode(errors="replace")), text))
    words = itertools.accumulate((len(text.split()) for text in first), initial=0)
    return [text for text, before in zip(first, words, strict=False) if before < _SAMPLE_WORDS]


def detect_other_language(texts: Iterable[str], language: str) -> str | None:
    """Return the English name of the language that most captions are written in, such as ``Italian``.

    None where that may be `language` (ISO 639-1, known to the detector). A sample is looked at; see `sample_texts`.

    Raises:
        VttdataError: when the detector is not installed.
    """
    words = itertools.islice((word for text in sample_texts(texts) for word in text.split()), _SAMPLE_WORDS)
    ranked: list[tuple[str, float]] = _load_detector().rank(" ".join(words))
    likeliest, probability = ranked[0]
    if dict(ranked)[language] >= _MIN_RATIO * probability:
        return None
    return LANGUAGE_NAMES.get(likeliest, f"in the language '{likeliest}'")


def estimate_share_of_others(texts: Sequence[str], language: str) -> float:
    """Return the share, 0..1, of captions that are in other languages than `language`; see `is_language`.

    A thousand of them are looked at, drawn at random and always the same.

    Raises:
        VttdataError: as `is_language`.
    """
    sample = random.Random(0).sample(texts, min(len(texts), _SAMPLE_CAPTIONS))
    return sum(not is_language(text, language) for text in sample) / max(len(sample), 1)


@functools.cache
def _load_detector() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
