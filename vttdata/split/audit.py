"""Judges a division into splits, whoever made it: which clips of one split have something of another in them.

It counts what it is given: it does not look for near-duplicates, and it reads no files. The counting is done in
`vttdata.split.leaks`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from vttdata.records import Caption, Clip
from vttdata.split.resemblance import Resemblance

FAILING = ("source", "overlap", "near_duplicate")
"""The leaks for which an audit fails; captions found in several splits are reported only."""


@dataclass(frozen=True, slots=True)
class Audit:
    """The judgement, as plain values; numbers of clips are by split, and count clips that share with another split.

    Fields:
        splits: split -> ``clips``, ``sources``, ``captions``.
        leaks: ``source`` (``sources``, ``clips``), ``overlap`` (``pairs``, ``clips``), ``near_duplicate`` (the same; is
            missing where nothing is known of near-duplicates) and ``caption``: ``captions`` is the number of texts that
            stand verbatim in more than one split, ``sentences`` the number of captions that say them.
        within: ``overlap_pairs`` (in one split), ``duplicate_captions`` (captions that repeat an earlier one of their
            clip) and ``duplicate_captions_in_split`` (of their split).
        unknown: ``sources`` and ``spans``: clips without a source, or without a usable span; they could not be judged.
            Where near-duplicates are judged also ``fingerprints``: sources that have none.
        closest: the most similar pair of sources in different splits, where fingerprints exist.
        examples: leak -> the worst of its kind, the worst first.
    """

    splits: dict[str, dict[str, int]]
    leaks: dict[str, dict[str, Any]]
    within: dict[str, int]
    unknown: dict[str, int]
    closest: dict[str, Any] | None
    examples: dict[str, list[dict[str, Any]]]

    @property
    def ok(self) -> bool:
        """Whether nothing leaks; what could not be judged does not count."""
        return not any(any(self.leaks[kind]["clips"].values()) for kind in FAILING if kind in self.leaks)

    def as_json(self) -> dict[str, Any]:
        """Plain values, in the order in which people read them."""
        return {
            "splits": self.splits,
            "leaks": self.leaks,
            "within": self.within,
            "ok": self.ok,
            "unknown": self.unknown,
            "closest": self.closest,
            "examples": self.examples,
        }


def audit(clips: Iterable[Clip], captions: Iterable[Caption] = (), near: Resemblance | None = None) -> Audit:
    """Judge the splits of clips.

    Args:
        clips: with their splits; a clip given twice with two splits stands in both.
        captions: about these clips and others, which are left out.
        near: what is known of sources that look alike, such as `Matches.resemblance` in `vttdata.split.duplicates`.
    """
    from vttdata.split.entries import entries_of_clips
    from vttdata.split.leaks import audit_entries
    from vttdata.split.verbatim import batches_of_captions

    entries = entries_of_clips(clips)
    return audit_entries(entries, batches_of_captions(entries, captions), near)
