"""Says what an audit found: a table for the terminal, rows for the card, a sentence for a build that is refused."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from vttdata.split.audit.leaks import FAILING, Audit

_FOUND = {
    "source": ("source in several splits", "sources", "source{}"),
    "overlap": ("overlap in time", "pairs", "pair{} of clips"),
    "near_duplicate": ("near-duplicate source", "pairs", "pair{} of sources"),
    "caption": ("caption in several splits", "captions", "text{}"),
}
_LONGEST = 100


def leak_rows(audit: Audit) -> list[tuple[str, ...]]:
    """A head and a row for each kind of leak: what it is, how much of it was found, and the clips of each split."""
    rows: list[tuple[str, ...]] = [("leak", "found", *(f"{split} clips" for split in audit.splits))]
    for kind, (name, key, unit) in _FOUND.items():
        leak = audit.leaks.get(kind)
        if leak is None:
            rows.append((name, "not judged", *("-" for _ in audit.splits)))
        else:
            rows.append((name, _number(leak[key], unit), *(f"{number:,}" for number in leak["clips"].values())))
    return rows


def notes(audit: Audit) -> list[str]:
    """What belongs beside the rows: repeats inside splits, what could not be judged, and the closest pair."""
    within, unknown = audit.within, audit.unknown
    said = audit.leaks["caption"]["sentences"]
    lines = [
        f"{said:,} captions say a text that stands in several splits; this is reported and no failure.",
        f"Inside one split {within['overlap_pairs']:,} pairs of clips overlap in time; "
        f"{within['duplicate_captions']:,} captions repeat another of their clip.",
    ]
    if unknown["sources"] or unknown["spans"]:
        lines.append(
            f"Not judged: {unknown['sources']:,} clips of unknown source, {unknown['spans']:,} without a usable span."
        )
    if unknown.get("fingerprints"):
        lines.append(f"Not judged for near-duplicates: {unknown['fingerprints']:,} sources without a fingerprint.")
    if "near_duplicate" not in audit.leaks:
        lines.append("Near-duplicates were not judged: no fingerprints or pairs of near-duplicates are known.")
    if audit.closest is not None:
        one, other = audit.closest["sources"]
        first, second = (" and ".join(splits) for splits in audit.closest["splits"])
        lines.append(
            f"The closest sources of different splits, {one} ({first}) and {other} ({second}), "
            f"reach {math.floor(100 * audit.closest['similarity'])}% of what makes near-duplicates."
        )
    elif "near_duplicate" in audit.leaks:
        lines.append("No two sources of different splits look alike anywhere.")
    return lines


def leak_sentence(audit: Audit) -> str:
    """What fails, in words, such as ``source in several splits (3 sources)``."""
    found = []
    for kind in FAILING:
        name, key, unit = _FOUND[kind]
        number = audit.leaks.get(kind, {}).get(key, 0)
        if number:
            found.append(f"{name} ({_number(number, unit)})")
    return ", ".join(found)


def audit_text(audit: Audit) -> str:
    """The whole judgement for a terminal, worst examples first."""
    head = [("", *audit.splits)]
    counts = [(key, *(f"{own[key]:,}" for own in audit.splits.values())) for key in ("clips", "sources", "captions")]
    parts = [_aligned([*head, *counts]), _aligned(leak_rows(audit), left=2), "\n".join(map(_plain, notes(audit)))]
    for kind, describe in _EXAMPLES.items():
        examples = audit.examples.get(kind, [])
        if examples:
            parts.append("\n".join([f"{_FOUND[kind][0]}, worst first:", *(f"  {describe(e)}" for e in examples)]))
    parts.append("No leaks." if audit.ok else f"LEAKS: {leak_sentence(audit)}.")
    return "\n\n".join(parts)


def _number(number: int, unit: str) -> str:
    return f"{number:,} {unit.format('' if number == 1 else 's')}"


def _source(example: Mapping[str, Any]) -> str:
    ids = example["video_ids"]
    told = (
        f"{number:,} in {split} ({', '.join(ids[split])}{', ...' if number > len(ids[split]) else ''})"
        for split, number in example["clips"].items()
    )
    return _plain(f"{example['source_id']}: {'; '.join(told)}")


def _overlap(example: Mapping[str, Any]) -> str:
    one, other = (f"{clip['video_id']} ({clip['split']})" for clip in example["clips"])
    return _plain(f"{example['seconds']:.2f} s: {one} and {other} of {example['source_id']}")


def _near_duplicate(example: Mapping[str, Any]) -> str:
    named = zip(example["sources"], example["splits"], strict=True)
    one, other = (f"{source} ({', '.join(splits)})" for source, splits in named)
    return _plain(
        f"{example['overlap_seconds']:.1f} s alike, similarity {example['similarity']:.2f}: {one} and {other}"
    )


def _caption(example: Mapping[str, Any]) -> str:
    counts = ", ".join(f"{number:,} in {split}" for split, number in example["captions"].items())
    text = example["caption"]
    shown = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
    return _plain(f'{counts}: "{shown}"')


_EXAMPLES = {"source": _source, "overlap": _overlap, "near_duplicate": _near_duplicate, "caption": _caption}


def _plain(text: str) -> str:
    """One line that a terminal shows as it is."""
    return "".join(sign if sign.isprintable() else "?" for sign in text)


def _aligned(rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Rows with aligned columns, the first `left` of them to the left."""
    rows = [[_plain(cell) for cell in row] for row in rows]
    widths = [max(len(row[index]) for row in rows) for index in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if index < left else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )
