"""Reads captions from a table and cleans those of one clip.

Cleaning removes what is empty, doubled, too short, too long or in the wrong language, and says so of each; it never
rewrites a caption's words. Which clip a caption belongs to is decided in `vttdata.text.caption_matching`.
"""

from __future__ import annotations

import difflib
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

from vttdata.errors import VttdataError
from vttdata.files.tables import read_table
from vttdata.ids import sentence_id
from vttdata.records import Caption
from vttdata.settings import STRICT, Count, PositiveCount
from vttdata.text.language import is_language

COLUMNS = ("video_id", "source", "start", "end", "caption", "annotator", "language", "sen_id", "author")
"""What a caption table may say; only `caption` and one of `video_id` and `source` must be there."""

RemovalReason = Literal["empty", "duplicate", "case_duplicate", "too_short", "too_long", "language", "doubled_id"]

# Invisible signs that change no word: soft hyphen, zero-width space and marks, directional overrides, byte order
# mark. The joiners U+200C and U+200D stay, since Persian, Hindi and emoji are spelled with them.
_INVISIBLE = re.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]")
_LARGEST_ID = 2**63 - 1


@dataclass(frozen=True, slots=True)
class CaptionSettings:
    """Where captions come from and which of them are kept.

    Fields:
        file: CSV, TSV or JSON lines with one caption a row; none means a dataset without captions.
        columns: our name for a column -> the file's name for it. Ours are video_id, source (a source's id, file name
            or URL), start, end (seconds in the source), caption, annotator, language, sen_id, author. A name that
            is not mapped is looked for as it is.
        per_clip: how many captions a clip must keep.
        below: what happens to a clip with fewer: it is rejected, or kept all the same.
        min_words, max_words: allowed lengths of a caption, in words between white space. Languages written without
            spaces want `min_words: 1`. The longest of MSR-VTT's 200,000 captions has 72 words, the shortest 2.
        max_characters: allowed length of a caption in characters.
        language: keep only captions in this language (ISO 639-1, such as ``en``); a caption whose row names its
            language is taken at its word, for the others a detector decides cautiously.
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    file: str | None = None
    columns: dict[str, str] = field(default_factory=dict)
    per_clip: Count = 1
    below: Literal["reject", "keep"] = "reject"
    min_words: Count = 2
    max_words: PositiveCount | None = 100
    max_characters: PositiveCount | None = 1000
    language: str | None = None

    def __post_init__(self) -> None:
        for name in self.columns:
            if name not in COLUMNS:
                raise ValueError(f"'{name}' is no column of ours; they are {_options(name, COLUMNS)}.")
        if self.max_words is not None and self.max_words < self.min_words:
            raise ValueError(f"max_words ({self.max_words}) is below min_words ({self.min_words}).")
        if self.language is not None and not re.fullmatch(r"[a-z]{2,3}", self.language):
            raise ValueError(f"language '{self.language}' is no ISO 639 code, such as en, de or zh.")


@dataclass(frozen=True, slots=True)
class RawCaption:
    """A caption as its row has it: uncleaned, with the line it stands on. Times are seconds in the source."""

    caption: str
    line: int
    video_id: str | None = None
    source: str | None = None
    start: float | None = None
    end: float | None = None
    annotator: str | None = None
    language: str | None = None
    sen_id: int | None = None
    author: str | None = None


@dataclass(frozen=True, slots=True)
class Removal:
    """A caption that cleaning took out. `detail` names the line and quotes the caption as cleaned."""

    video_id: str
    reason: RemovalReason
    detail: str
    caption: str
    line: int


def read_captions(path: Path, settings: CaptionSettings) -> Iterator[RawCaption]:
    """Yield the captions of a table in the order of its rows.

    Raises:
        VttdataError: naming file and line: a column that is missing, a row that says neither `video_id` nor `source`,
            a time or `sen_id` that is no number, a start without an end.
    """
    names = {name: settings.columns.get(name, name) for name in COLUMNS}
    seen: set[str] = set()
    for line, cells in read_table(path):
        if not seen and path.suffix.lower() in {".csv", ".tsv"}:
            _require(path, settings.columns.values(), cells)
        seen |= cells.keys()
        yield _raw(f"{path}:{line}", line, {name: cells.get(column) for name, column in names.items()}, names, cells)
    if seen:
        _require(path, settings.columns.values(), seen)


def _require(path: Path, wanted: Iterable[str], there: Iterable[str]) -> None:
    known = sorted(there)
    for column in wanted:
        if column not in known:
            raise VttdataError(f"{path}: there is no column '{column}'; it has {_options(column, known)}.")


def _raw(place: str, line: int, found: dict[str, Any], names: dict[str, str], cells: dict[str, Any]) -> RawCaption:
    if names["caption"] not in cells:
        known = _options(names["caption"], sorted(cells))
        raise VttdataError(f"{place}: there is no column '{names['caption']}' for the caption; it has {known}.")
    if not isinstance(found["caption"], str | None):
        raise VttdataError(f"{place}: the caption is {type(found['caption']).__name__}, not text.")
    video_id, source = (_name(found[name]) for name in ("video_id", "source"))
    if video_id is None and source is None:
        empty = [repr(names[key]) for key in ("video_id", "source") if names[key] in cells]
        if empty:
            raise VttdataError(f"{place}: nothing says which video this is; {' and '.join(empty)} should not be empty.")
        known = _options(names["video_id"], sorted(cells))
        raise VttdataError(
            f"{place}: neither '{names['video_id']}' nor '{names['source']}' says which video this is; it has {known}."
        )
    start, end = (_seconds(place, names[name], found[name]) for name in ("start", "end"))
    if (start is None) != (end is None):
        raise VttdataError(f"{place}: '{names['start']}' and '{names['end']}' go together, and one of them is empty.")
    sen_id = _sentence_id(place, names["sen_id"], found["sen_id"])
    texts = {name: clean_text(_name(found[name]) or "") or None for name in ("annotator", "language", "author")}
    return RawCaption(found["caption"] or "", line, video_id, source, start, end, sen_id=sen_id, **texts)


def _name(value: Any) -> str | None:
    return None if value is None else str(value).strip() or None


def _seconds(place: str, column: str, value: Any) -> float | None:
    if value is None:
        return None
    try:
        seconds = float("nan") if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        seconds = math.nan
    if not math.isfinite(seconds):
        raise VttdataError(f"{place}: '{column}' is {str(value)[:80]!r}, not a number of seconds.")
    return seconds


def _sentence_id(place: str, column: str, value: Any) -> int | None:
    if value is None:
        return None
    text = str(value).strip()
    if isinstance(value, bool) or not re.fullmatch(r"[0-9]{1,19}", text, re.ASCII) or int(text) > _LARGEST_ID:
        raise VttdataError(f"{place}: '{column}' is {text[:80]!r}, not a whole number of at most 63 bits.")
    return int(text)


def clean_captions(video_id: str, raws: Iterable[RawCaption], settings: CaptionSettings) -> list[Caption | Removal]:
    """Clean the captions of one clip; every raw caption comes back once, as what is kept or as a removal.

    Captions are kept in the order of their `sen_id`, then the removals in the order of their lines. Nothing but the
    lines named in removals depends on the order of rows: of several captions that say the same, the one with the
    lowest official `sen_id` stays, then the first by code points of text, annotator and author.

    """
    kept: list[tuple[Caption, int]] = []
    removals: list[Removal] = []
    exact: set[str] = set()
    caseless: set[str] = set()
    for text, raw in sorted(((clean_text(raw.caption), raw) for raw in raws), key=_rank):
        key = unicodedata.normalize("NFC", text.casefold())
        reason = _objection(text, raw, settings)
        if reason is None and key in caseless:
            reason = "duplicate" if text in exact else "case_duplicate"
        if reason is not None:
            removals.append(Removal(video_id, reason, f"line {raw.line}: {text[:200]}", text, raw.line))
            continue
        exact.add(text)
        caseless.add(key)
        kept.append((_caption(video_id, text, raw, settings), raw.line))
    kept.sort(key=lambda pair: pair[0].sen_id)
    numbers = Counter(caption.sen_id for caption, _ in kept)
    for caption, line in kept:
        if numbers[caption.sen_id] > 1:
            detail = f"line {line}: sen_id {caption.sen_id} stands at different captions: {caption.caption[:200]}"
            removals.append(Removal(video_id, "doubled_id", detail, caption.caption, line))
    unique = [caption for caption, _ in kept if numbers[caption.sen_id] == 1]
    return [*unique, *sorted(removals, key=lambda removal: removal.line)]


def clean_text(text: str) -> str:
    """The text in NFC without control and invisible characters, white space folded to single spaces."""
    spaced = " ".join(_INVISIBLE.sub("", text).split())
    visible = "".join(sign for sign in spaced if unicodedata.category(sign) != "Cc")
    return " ".join(unicodedata.normalize("NFC", visible).split())


def _rank(pair: tuple[str, RawCaption]) -> tuple[Any, ...]:
    text, raw = pair
    official = math.inf if raw.sen_id is None else raw.sen_id
    return official, text, raw.annotator or "", raw.author or "", raw.language or "", raw.line


def _objection(text: str, raw: RawCaption, settings: CaptionSettings) -> RemovalReason | None:
    words = len(text.split())
    if not any(sign.isprintable() and not sign.isspace() for sign in text):
        return "empty"
    if words < settings.min_words:
        return "too_short"
    if words > (settings.max_words or math.inf) or len(text) > (settings.max_characters or math.inf):
        return "too_long"
    if settings.language is None:
        return None
    told = (raw.language or "").lower().replace("_", "-").partition("-")[0]
    right = told == settings.language if told else is_language(text, settings.language)
    return None if right else "language"


def _caption(video_id: str, text: str, raw: RawCaption, settings: CaptionSettings) -> Caption:
    sen_id = sentence_id(video_id, raw.annotator, text) if raw.sen_id is None else raw.sen_id
    language = raw.language or settings.language or "en"
    return Caption(video_id, sen_id, text, raw.annotator, language, raw.author or "human")


def _options(found: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(found, known, n=1, cutoff=0.6)
    return ", ".join(known) + (f" (did you mean '{near[0]}'?)" if near else "")
