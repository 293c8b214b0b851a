"""Captions of clips: reading them from a table, and cleaning those of one clip.

Cleaning removes captions that are empty, repeated, too short, too long or in the wrong language, each with its reason;
it never rewrites the words of a caption. Which clip a caption belongs to is decided in `vttdata.text.clip_matching`.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from annotated_types import Ge

from vttdata.errors import DescribeOSErrors, VttdataError, list_choices
from vttdata.files.tables import Columns, parse_seconds, read_table
from vttdata.ids import pseudonym, sentence_id
from vttdata.records import Caption
from vttdata.settings import Count, PositiveCount, Ratio, Strict
from vttdata.text.language import UNDETERMINED, has_other_script, is_language, primary_language
from vttdata.text.tokenizers import INVISIBLE
from vttdata.text.word_spans import split_words

# Columns of a caption table; only `caption` and either `video_id` or `source` are required.
# What is known of a caption by a machine, and of the person who checked it.
MACHINE_COLUMNS = ("revision", "prompt", "verified_by")
COLUMNS = (
    *("video_id", "source", "start", "end", "caption", "annotator", "language", "sen_id", "author"),
    *MACHINE_COLUMNS,
)
# Columns of a table of captions that is the input of a command.
INPUT_COLUMNS = ("video_id", "source_id", "caption", "annotator", "language", "sen_id", "author")

# Fewest characters of the secret that hides names of people.
_MIN_SALT = 16
_LABELS = ("annotator", "language", "author", *MACHINE_COLUMNS)

RemovalReason = Literal["empty", "duplicate", "case_duplicate", "too_short", "too_long", "language", "doubled_id"]

_INVISIBLE = re.compile(f"[{INVISIBLE}\u200b\ud800-\udfff]")
_MAX_SENTENCE_ID = 2**63 - 1


@dataclass(frozen=True, slots=True)
class CaptionSettings(Strict):
    """Source and selection of captions.

    Fields:
        file: CSV, TSV or JSON with one caption a row; none means a dataset without captions.
        columns: name of a column in vttdata -> its name in the file. The columns are video_id (or the name of the
            clip's file), source (a source's id, file name or URL), start, end (in the source, as seconds, m:ss or
            h:mm:ss), caption, annotator, language, sen_id, author, revision, prompt, verified_by. A
            column that is not listed has the same name in the
            file; case, and spaces for underscores, make no difference.
        per_clip: how many captions a clip must keep.
        below: what happens to a clip with fewer: it is rejected or kept.
        follow: if a caption names a clip that there is no more, such as after a change of lengths, it goes to the clip
            of the same source that overlaps that one most, by at least this share of the time that either covers.
        min_words, max_words: allowed lengths of a caption, in words between white space; in scripts that separate no
            words, such as those of Chinese, Japanese and Thai, in letters. The longest of MSR-VTT's 200,000 captions
            has 72 words, the shortest 2.
        max_characters: allowed length of a caption in characters.
        generic_from: a caption that at least so many clips have word for word, whatever its case and punctuation, says
            too little of any of them and is removed as ``generic``; of MSR-VTT 258 clips have "a man is talking".
        language: keep only captions in this language (ISO 639-1, such as ``en``). The language stated in a row is
            trusted; for captions without one, a detector removes only what is almost certainly another language.
        pseudonyms: a file with a secret text of 16 characters or more, with which names in the columns annotator and
            verified_by become hashes; the same file gives the same hashes. It is not published: keep it.
    """

    file: str | None = None
    columns: dict[str, str] = field(default_factory=dict)
    per_clip: Count = 1
    below: Literal["reject", "keep"] = "reject"
    follow: Ratio | None = None
    min_words: Count = 2
    max_words: PositiveCount | None = 100
    max_characters: PositiveCount | None = 1000
    generic_from: Annotated[int, Ge(2)] | None = None
    language: str | None = None
    pseudonyms: str | None = None

    def __post_init__(self) -> None:
        check_column_names(self.columns, COLUMNS)
        if self.max_words is not None and self.max_words < self.min_words:
            raise ValueError(f"max_words ({self.max_words}) is below min_words ({self.min_words}).")
        if self.language is not None and not re.fullmatch(r"[a-z]{2,3}", self.language):
            raise ValueError(f"language '{self.language}' is not an ISO 639 code, such as en, de or zh.")


@dataclass(frozen=True, slots=True)
class RawCaption:
    """Caption as its row has it, uncleaned, with its line in the table. Times are seconds in the source."""

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
    revision: str | None = None
    prompt: str | None = None
    verified_by: str | None = None


@dataclass(frozen=True, slots=True)
class Removal:
    """Caption that cleaning removed. `detail` names the line and quotes the caption as cleaned."""

    video_id: str
    reason: RemovalReason
    detail: str
    caption: str
    line: int


def read_salt(path: Path) -> bytes:
    """Return the secret text in a file, without spaces around it.

    Raises:
        VttdataError: when it cannot be read, or has fewer than 16 characters.
    """
    with DescribeOSErrors(f"{path}: cannot be read"):
        salt = path.read_bytes().strip()
    if len(salt) < _MIN_SALT:
        raise VttdataError(
            f"{path}: holds {len(salt)} characters, and a secret needs {_MIN_SALT}: openssl rand -hex 32 > {path}"
        )
    return salt


def pseudonymise(captions: Iterable[RawCaption], salt: bytes) -> Iterator[RawCaption]:
    """Yield captions with pseudonyms in the place of the names of those who wrote and verified them."""
    for raw in captions:
        annotator, verifier = (name and pseudonym(salt, name) for name in (raw.annotator, raw.verified_by))
        yield dataclasses.replace(raw, annotator=annotator, verified_by=verifier)


def check_column_names(mapping: Iterable[str], columns: Collection[str]) -> None:
    """Raise ValueError when a name that is mapped to a column of a table is none of these columns."""
    for name in mapping:
        if name not in columns:
            raise ValueError(f"'{name}' is not a column of captions; they are {list_choices(name, columns)}.")


def read_caption_table(
    path: Path,
    mapping: Mapping[str, str | Sequence[str]] | None = None,
    columns: Sequence[str] = COLUMNS,
    *,
    any_table: bool = False,
) -> Iterator[RawCaption]:
    """Yield the captions of a table, as of `vttdata.files.tables.read_table`, in the order of its rows.

    `mapping` has names of columns -> names in the file, with `any_table` those of several tables; of the columns
    `INPUT_COLUMNS`, `source_id` is read as the source.

    Raises:
        VttdataError: naming file and line: a missing column, a row that does not name its video, a time or `sen_id`
            that is not a number, a start without an end.
    """
    mapping = mapping or {}
    called = {name: column if isinstance(column, str) else " or ".join(column) for name, column in mapping.items()}
    videos = tuple(name for name in ("video_id", "source") if name in columns)
    known = Columns(columns, (("caption",), videos), ("start", "end"), mapping, any_table)
    for line, cells in read_table(path, known):
        yield _parse_row(f"{path}:{line}", line, cells, videos, called)


def _parse_row(
    row: str, line: int, cells: dict[str, object], videos: Sequence[str], mapping: Mapping[str, str]
) -> RawCaption:
    """Parse the cells of a row. `row` is its file and line; `videos` are the columns that may name its video."""
    text = cells.get("caption")
    if not isinstance(text, str | None):
        raise VttdataError(f"{row}: the caption is {type(text).__name__}, not text.")
    if not any(_strip(cells.get(name)) for name in videos):
        empty = " and ".join(repr(mapping.get(name, name)) for name in videos if name in cells)
        raise VttdataError(f"{row}: the video is not named; {empty} should not be empty.")
    video_id, source = _strip(cells.get("video_id")), _strip(cells.get("source", cells.get("source_id")))
    start, end = (_parse_time(row, mapping.get(name, name), cells.get(name)) for name in ("start", "end"))
    if (start is None) != (end is None):
        names = " and ".join(repr(mapping.get(name, name)) for name in ("start", "end"))
        raise VttdataError(f"{row}: {names} go together, and one of them is empty.")
    sen_id = _parse_sentence_id(row, mapping.get("sen_id", "sen_id"), cells.get("sen_id"))
    texts = {name: _clean_label(value) for name in _LABELS if (value := _strip(cells.get(name))) is not None}
    return RawCaption(text or "", line, video_id, source, start, end, sen_id=sen_id, **texts)


# The same few annotators and languages are in most rows.
@functools.lru_cache(maxsize=2**12)
def _clean_label(text: str) -> str | None:
    return clean_text(text) or None


def _strip(value: object) -> str | None:
    return None if value is None else str(value).strip() or None


def _parse_time(row: str, column: str, value: object) -> float | None:
    if value is None:
        return None
    seconds = parse_seconds(value)
    if not math.isfinite(seconds):
        raise VttdataError(f"{row}: '{column}' is {str(value)[:80]!r}, not a time like 12.5, 1:05 or 1:02:03.5.")
    return seconds


def _parse_sentence_id(row: str, column: str, value: object) -> int | None:
    if value is None:
        return None
    text = str(value).strip()
    if isinstance(value, bool) or not re.fullmatch(r"[0-9]{1,19}", text, re.ASCII) or int(text) > _MAX_SENTENCE_ID:
        raise VttdataError(f"{row}: '{column}' is {text[:80]!r}, not a non-negative integer of at most 63 bits.")
    return int(text)


def clean_captions(
    video_id: str, raws: Iterable[RawCaption], settings: CaptionSettings, language: str = "en"
) -> list[Caption | Removal]:
    """Clean the captions of one clip; each comes back once, kept or removed.

    A caption without a stated language has `language`; it is undetermined (``und``) where most letters are of a script
    that this language is not written in.

    Kept captions are in the order of their `sen_id`, removals after them in the order of their lines. Nothing but the
    lines named in removals depends on the order of rows: of several captions that say the same, the one with the
    lowest official `sen_id` stays, then the first by code points of text, annotator and author.
    """
    kept: list[tuple[Caption, int]] = []
    removals: list[Removal] = []
    exact: set[str] = set()
    caseless: set[str] = set()

    def rank(pair: tuple[str, RawCaption]) -> tuple[Any, ...]:
        text, raw = pair
        official = math.inf if raw.sen_id is None else raw.sen_id
        return official, text, raw.annotator or "", raw.author or "", raw.language or "", raw.line

    for text, raw in sorted(((clean_text(raw.caption), raw) for raw in raws), key=rank):
        key = unicodedata.normalize("NFC", text.casefold())
        reason = _find_reason_to_remove(text, raw, settings)
        if reason is None and key in caseless:
            reason = "duplicate" if text in exact else "case_duplicate"
        if reason is not None:
            removals.append(Removal(video_id, reason, f"line {raw.line}: {text[:200]}", text, raw.line))
            continue
        exact.add(text)
        caseless.add(key)
        sen_id = sentence_id(video_id, raw.annotator, text) if raw.sen_id is None else raw.sen_id
        stated = raw.language or settings.language or language
        if raw.language is None and has_other_script(text, primary_language(stated) or ""):
            stated = UNDETERMINED
        origin = (raw.author or "human", raw.revision, raw.prompt, raw.verified_by)
        kept.append((Caption(video_id, sen_id, text, raw.annotator, stated, *origin), raw.line))
    kept.sort(key=lambda pair: pair[0].sen_id)
    uses = Counter(caption.sen_id for caption, _ in kept)
    for caption, line in kept:
        if uses[caption.sen_id] > 1:
            detail = f"line {line}: sen_id {caption.sen_id} is duplicated: {caption.caption[:200]}"
            removals.append(Removal(video_id, "doubled_id", detail, caption.caption, line))
    unique = [caption for caption, _ in kept if uses[caption.sen_id] == 1]
    return [*unique, *sorted(removals, key=lambda removal: removal.line)]


def clean_text(text: str) -> str:
    """Return the text in NFC without control and invisible characters, white space folded to single spaces."""
    spaced = " ".join(_INVISIBLE.sub("", text).split())
    visible = "".join(character for character in spaced if unicodedata.category(character) != "Cc")
    return " ".join(unicodedata.normalize("NFC", visible).split())


def _find_reason_to_remove(text: str, raw: RawCaption, settings: CaptionSettings) -> RemovalReason | None:
    words = len(split_words(text))
    if not any(character.isprintable() and not character.isspace() for character in text):
        return "empty"
    if words < settings.min_words:
        return "too_short"
    if words > (settings.max_words or math.inf) or len(text) > (settings.max_characters or math.inf):
        return "too_long"
    if settings.language is None:
        return None
    stated = raw.language
    right = primary_language(stated) == settings.language if stated else is_language(text, settings.language)
    return None if right else "language"
