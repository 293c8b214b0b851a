"""Tombstones: what was withdrawn from a dataset, known by salted hashes alone, so that a rebuild leaves it out again.

A hash is of an id, an address, a file or an annotator. The salt keeps lists of different datasets from being compared;
it does not keep somebody who has an older version from finding out which of its ids were withdrawn, which is what
loading that version says.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import shlex
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vttdata.dataset.front_matter import invalid_front_matter, match_files, read_front_matter
from vttdata.dataset.parquet import read_parquet_rows
from vttdata.dataset.rows import WithdrawnRow, fixed_columns
from vttdata.errors import VttdataError
from vttdata.json_types import Row
from vttdata.records import Fingerprint
from vttdata.split.near_duplicates.matches import match_sources

WITHDRAWN = "withdrawn"

VIDEO, ITEM = ("source", "clip"), ("item",)
"""What a tombstone may be of: a video, or an item about one, such as a question."""

# Column -> what its value may be. A degraded caption has words of another clip, its donor.
_COLUMNS: Mapping[str, Collection[str]] = {
    **dict.fromkeys(("video_id", "source_id", "donor_video_id", "source_a", "source_b", "shows"), VIDEO),
    **dict.fromkeys(("question_id", "foil_id"), ITEM),
    "url": ("url",),
    "sha256": ("file",),
    "annotator": ("annotator",),
}
IDENTIFIERS = ("video_id", "source_id", "donor_video_id", "url", "sha256", "annotator")
"""Columns by which a row is of what was withdrawn."""

# A list may name a video by its path, its address or its id.
_NAMES = {**_COLUMNS, **dict.fromkeys(("locator", "file"), (*VIDEO, "url", "file")), "id": (*VIDEO, *ITEM)}
_TOKEN = re.compile(r"""[^\s"'`,;()\[\]{}<>\\]+""")
_WORD = re.compile(r"[\w.-]+")
# Shorter names, and numbers of fewer digits, are in every text.
_MIN_LETTERS, _MIN_DIGITS = 4, 7


@dataclass(frozen=True, slots=True)
class Tombstones:
    """Rows of the table `withdrawn` of a dataset; none where nothing was withdrawn."""

    rows: Sequence[WithdrawnRow] = ()
    _digests: Mapping[str, frozenset[str]] = field(init=False, repr=False, compare=False)
    _anything: frozenset[str] = field(init=False, repr=False, compare=False)
    _salts: frozenset[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        kinds = {row.what for row in self.rows}
        digests = {what: frozenset(row.digest for row in self.rows if row.what == what) for what in kinds}
        object.__setattr__(self, "_digests", digests)
        anything = frozenset().union(*(digests[what] for what in kinds - {"annotator"}))
        object.__setattr__(self, "_anything", anything)
        object.__setattr__(self, "_salts", frozenset(row.salt for row in self.rows))

    @property
    def fingerprints(self) -> dict[str, Fingerprint]:
        """Fingerprints that are kept, by the digest of their source."""
        return {
            row.digest: Fingerprint(row.hash_scheme, row.hashes)
            for row in self.rows
            if row.hash_scheme is not None and row.hashes is not None
        }

    def covers(self, value: object, kinds: Collection[str] = VIDEO) -> bool:
        """Return whether a value was withdrawn as one of some kinds, see `WithdrawnRow.what`."""
        if not isinstance(value, str) or not value:
            return False
        digests = _digests_of(self._salts, value)
        return any(not self._digests[kind].isdisjoint(digests) for kind in kinds if kind in self._digests)

    def cover_row(self, row: Mapping[str, object]) -> bool:
        """Return whether a row of any table is of what was withdrawn."""
        return any(self.covers(row.get(name), _COLUMNS[name]) for name in IDENTIFIERS)

    def cover_record(self, record: object) -> bool:
        """Return whether a record of a build is of what was withdrawn; a list may name a video by its path or URL."""
        names = (*IDENTIFIERS, "locator")
        return bool(self.rows) and any(self.covers(getattr(record, name, None), _NAMES[name]) for name in names)

    def cover_tree(self, value: object, column: str = "") -> bool:
        """Return whether a value of JSON that a stage stored is, or has anywhere, one of what was withdrawn.

        Texts under names that are no columns, such as the details of a reject, are looked through by words.
        """
        if isinstance(value, str):
            is_text = column in ("", "detail", "rejected", "failed", "ids")
            return self.mention(value) if is_text else self.covers(value, _NAMES.get(column, ()))
        if isinstance(value, Mapping):
            return any(self.cover_tree(item, name) for name, item in value.items())
        return isinstance(value, list | tuple) and any(self.cover_tree(item, column) for item in value)

    def mention(self, text: str) -> bool:
        """Return whether a text, or a word of it with an extension or without, was withdrawn.

        Numbers of few digits count as a whole text alone, and names of annotators not at all.
        """
        words = {text.strip()}
        for token in _TOKEN.findall(text):
            # Most are words as they stand.
            for word in (token,) if token.isalnum() else (token.strip(".:!?"), *_WORD.findall(token)):
                if not word.isdecimal() or len(word) >= _MIN_DIGITS:
                    words |= {word, word.strip("."), os.path.splitext(word)[0]} if "." in word else {word}
        return any(not self._anything.isdisjoint(_digests_of(self._salts, word)) for word in words)

    def redact(self, value: Any) -> Any:
        """Return a value of JSON with "(withdrawn)" for each word in its texts that was withdrawn.

        Words of fewer than four letters and numbers of few digits stay: they are in every text.
        """
        if isinstance(value, str):
            return _TOKEN.sub(self._redact_word, value)
        if isinstance(value, dict):
            return {key: self.redact(item) for key, item in value.items()}
        return [self.redact(item) for item in value] if isinstance(value, list) else value

    def _redact_word(self, word: re.Match[str]) -> str:
        is_name = len(word[0]) >= (_MIN_DIGITS if word[0].isdecimal() else _MIN_LETTERS)
        return "(withdrawn)" if is_name and self.mention(word[0]) else word[0]

    def add(
        self,
        values: Iterable[tuple[str, str]],
        reason: str,
        version: str,
        fingerprints: Mapping[str, Fingerprint],
        salt: str,
    ) -> Tombstones:
        """Return these tombstones and those of further values.

        Args:
            values: what is withdrawn, and what it is, see `WithdrawnRow.what`.
            reason: why.
            version: the version that no longer has it.
            fingerprints: of those sources whose fingerprint is to be kept, by id.
            salt: of the first tombstones of a dataset; later ones have the same.
        """
        salt = self.rows[0].salt if self.rows else salt
        rows = list(self.rows)
        known: set[tuple[str, str]] = set()
        # Where an id is that of a source and of a clip, the source counts.
        for value, what in sorted(set(values), reverse=True):
            kinds = VIDEO if what in VIDEO else (what,)
            if (value, kinds[0]) not in known and not self.covers(value, kinds):
                known.add((value, kinds[0]))
                print_ = fingerprints.get(value)
                scheme, hashes = (print_.hash_scheme, print_.hashes) if print_ is not None else (None, None)
                rows.append(WithdrawnRow(_digest(salt, value), salt, what, reason, version, scheme, hashes))
        return Tombstones(sorted(rows, key=lambda row: (row.version, row.digest)))

    def united(self, others: Tombstones) -> Tombstones:
        """Return these tombstones and those of another dataset, whose salt they keep."""
        known = {(row.digest, row.what) for row in self.rows}
        return Tombstones([*self.rows, *(row for row in others.rows if (row.digest, row.what) not in known)])


def _digest(salt: str, value: str) -> str:
    # Names of files may come decomposed, and people type them composed.
    value = unicodedata.normalize("NFC", value)
    return hashlib.sha256(f"{salt}\0{value}".encode("utf-8", "surrogatepass")).hexdigest()


@functools.lru_cache(maxsize=2**18)
def _digests_of(salts: frozenset[str], value: str) -> list[str]:
    return [_digest(salt, value) for salt in salts]


def find_copies(sources: Iterable[tuple[str, Fingerprint]], originals: Mapping[str, Fingerprint]) -> set[str]:
    """Return the ids of those sources that are near-duplicates of originals, which may be among them."""
    marked = [(f"\0{name}", fingerprint) for name, fingerprint in originals.items()]
    pairs = match_sources([*marked, *sources]).duplicates()
    names = [{pair.source_a, pair.source_b} for pair in pairs]
    return {name for pair in names if any(one[0] == "\0" for one in pair) for name in pair if name[0] != "\0"}


def read_tombstones(dataset: Path) -> Tombstones:
    """Return the tombstones of a dataset folder.

    Raises:
        VttdataError: If it is not a dataset, or its table is damaged.
    """
    return Tombstones([WithdrawnRow(**row) for row in read_history(dataset, WITHDRAWN)])


def read_history(dataset: Path, config: str) -> list[Row]:
    """Return the rows of the table `errata` or `withdrawn` of a dataset; empty where there is none.

    Other tables may be missing, as where only this one was downloaded.
    """
    configs = read_front_matter(dataset).get("configs", ())
    try:
        patterns = [file["path"] for each in configs if each["config_name"] == config for file in each["data_files"]]
    except (TypeError, KeyError) as error:
        raise invalid_front_matter(dataset) from error
    paths = [path for pattern in patterns for path in match_files(dataset, pattern)]
    return list(read_parquet_rows(paths, [column.name for column in fixed_columns(config)]))


def withdrawal_journal(dataset: Path) -> Path:
    """Return the file that exists while items are being withdrawn from a dataset folder, and lists all of them."""
    return dataset.with_name(f".{dataset.name}.withdrawal.json")


def refuse_unfinished(dataset: Path) -> None:
    """Raise VttdataError if a withdrawal from a dataset was interrupted, since what it removes may still be there."""
    if withdrawal_journal(dataset).exists():
        raise VttdataError(
            f"{dataset}: a withdrawal was interrupted; 'vttdata withdraw {shlex.quote(str(dataset))}' finishes it."
        )
