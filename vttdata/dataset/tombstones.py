"""Tombstones: what was withdrawn from a dataset, known by salted hashes alone, so that a rebuild leaves it out again.

A hash is of an id, an address, a file or an annotator. The salt keeps lists of different datasets from being compared;
it does not keep somebody who has an older version from finding out which of its ids were withdrawn, which is what
loading that version says.
"""

from __future__ import annotations

import functools
import hashlib
import secrets
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from vttdata.dataset.front_matter import invalid_front_matter, match_files, read_front_matter
from vttdata.dataset.parquet import read_parquet_rows
from vttdata.dataset.rows import WithdrawnRow, fixed_columns
from vttdata.errors import VttdataError
from vttdata.json_types import Row
from vttdata.records import Fingerprint
from vttdata.split.near_duplicates.matches import match_sources

WITHDRAWN = "withdrawn"

# Columns whose value may be that of a tombstone. A degraded caption has words of another clip, its donor.
IDENTIFIERS = ("video_id", "source_id", "donor_video_id", "url", "sha256", "annotator")


@dataclass(frozen=True, slots=True)
class Tombstones:
    """Rows of the table `withdrawn` of a dataset; none where nothing was withdrawn."""

    rows: Sequence[WithdrawnRow] = ()
    _digests: frozenset[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_digests", frozenset(row.digest for row in self.rows))

    @property
    def salt(self) -> str:
        """Salt of all rows; a new one where there are none."""
        return self.rows[0].salt if self.rows else secrets.token_hex(16)

    @property
    def fingerprints(self) -> dict[str, Fingerprint]:
        """Fingerprints that are kept, by the digest of their source."""
        return {
            row.digest: Fingerprint(row.hash_scheme, row.hashes)
            for row in self.rows
            if row.hash_scheme is not None and row.hashes is not None
        }

    def covers(self, value: object) -> bool:
        """Return whether an id, an address, a checksum or the name of an annotator was withdrawn."""
        return bool(self.rows) and isinstance(value, str) and _digest(self.rows[0].salt, value) in self._digests

    def cover_row(self, row: Mapping[str, object]) -> bool:
        """Return whether a row of any table is of what was withdrawn."""
        return any(self.covers(row.get(name)) for name in IDENTIFIERS)

    def cover_record(self, record: object) -> bool:
        """Return whether a record of a build is of what was withdrawn; a list may name a video by its path or URL."""
        names = (*IDENTIFIERS, "locator")
        return bool(self.rows) and any(self.covers(getattr(record, name, None)) for name in names)

    def with_values(
        self,
        values: Mapping[str, str],
        reason: str,
        version: str,
        fingerprints: Mapping[str, Fingerprint],
    ) -> Tombstones:
        """Return these tombstones and those of further values.

        Args:
            values: what is withdrawn -> ``source``, ``clip``, ``annotator``, ``url`` or ``file``.
            reason: why.
            version: the version that no longer has it.
            fingerprints: of those sources whose fingerprint is to be kept, by id.
        """
        salt, rows = self.salt, list(self.rows)
        known = set(self._digests)
        for value, what in sorted(values.items()):
            print_ = fingerprints.get(value)
            digest = _digest(salt, value)
            if digest not in known:
                scheme, hashes = (print_.hash_scheme, print_.hashes) if print_ is not None else (None, None)
                rows.append(WithdrawnRow(digest, salt, what, reason, version, scheme, hashes))
        return Tombstones(sorted(rows, key=lambda row: (row.version, row.digest)))


@functools.lru_cache(maxsize=2**18)
def _digest(salt: str, value: str) -> str:
    return hashlib.sha256(f"{salt}\0{value}".encode("utf-8", "surrogatepass")).hexdigest()


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
