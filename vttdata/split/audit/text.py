"""Text of an audit: a table for the terminal, rows for the card, a sentence for a build that is refused."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from vttdata.files.plain_tables import align_columns, printable
from vttdata.split.audit.leaks import LEAKS, Audit, quantity

_MAX_CAPTION_LENGTH = 100


def count_rows(audit: Audit) -> list[tuple[str, ...]]:
    """Return a header and the numbers of clips, sources, families of near-duplicates and captions of each split."""
    rows = [(key, *(f"{row[key]:,}" for row in audit.splits.values())) for key in ("clips", "sources", "captions")]
    families = [f"{audit.families[split]:,}" if audit.families else "not judged" for split in audit.splits]
    return [("", *audit.splits), *rows[:2], ("independent families", *families), rows[2]]


def leak_rows(audit: Audit) -> list[tuple[str, ...]]:
    """Return a header and a row for each kind of leak: its name, its count, and the number of clips of each split."""
    rows: list[tuple[str, ...]] = [("leak", "found", *(f"{split} clips" for split in audit.splits))]
    for leak, (name, key, unit) in LEAKS.items():
        if leak not in audit.leaks:
            rows.append((name, "not judged", *("-" for _ in audit.splits)))
        else:
            count, clips = audit.leaks[leak][key], audit.leaks[leak]["clips"]
            rows.append((name, quantity(count, unit), *(f"{number:,}" for number in clips.values())))
    return rows


def notes(audit: Audit) -> list[str]:
    """Return sentences on repeats inside splits, on what could not be judged, and on the closest pair."""
    within, unknown = audit.within, audit.unknown
    sentences = audit.leaks["caption"]["sentences"]
    lines = [
        f"{sentences:,} captions have a text that occurs in several splits; this is reported and no failure.",
        f"Inside one split {within['overlap_pairs']:,} pairs of clips overlap in time; "
        f"{within['duplicate_captions']:,} captions repeat another of their clip.",
    ]
    if within["ambiguous_captions"]:
        lines.append(
            f"{within['ambiguous_captions']:,} captions describe another segment of their source too, word for word; "
            "as queries of temporal grounding they have several answers."
        )
    if unknown["sources"] or unknown["spans"]:
        lines.append(
            f"Not judged: {unknown['sources']:,} clips of unknown source, {unknown['spans']:,} without a usable span."
        )
    if unknown.get("fingerprints"):
        lines.append(
            f"Not judged for near-duplicates: {unknown['fingerprints']:,} sources without a fingerprint; each of them "
            "counts as a family."
        )
    if "near_duplicate" not in audit.leaks:
        lines.append("Near-duplicates were not judged: no fingerprints or pairs of near-duplicates are known.")
    if audit.closest is not None:
        source_a, source_b = audit.closest["sources"]
        splits_a, splits_b = (" and ".join(splits) for splits in audit.closest["splits"])
        lines.append(
            f"The closest sources of different splits, {source_a} ({splits_a}) and {source_b} ({splits_b}), "
            f"reach {math.floor(100 * audit.closest['similarity'])}% of what makes near-duplicates."
        )
    elif "near_duplicate" in audit.leaks:
        lines.append("No two sources of different splits look alike anywhere.")
    return lines


def audit_text(audit: Audit) -> str:
    """Return the whole audit for a terminal, the worst examples first."""
    parts = [align_columns(count_rows(audit)), align_columns(leak_rows(audit), left=range(2))]
    parts.append("\n".join(map(printable, notes(audit))))
    for leak, (name, _, _) in LEAKS.items():
        examples = [f"  {printable(example_text(leak, example))}" for example in audit.examples.get(leak, [])]
        if examples:
            parts.append("\n".join([f"{name}, worst first:", *examples]))
    parts += [f"WARNING: {printable(warning)}" for warning in audit.warnings]
    parts.append(audit.verdict)
    return "\n\n".join(parts)


def example_text(leak: str, example: Mapping[str, Any]) -> str:
    """Return one of `Audit.examples` of a leak as text."""
    if leak == "source":
        ids = example["video_ids"]
        in_splits = (
            f"{number:,} in {split} ({', '.join(ids[split])}{', ...' if number > len(ids[split]) else ''})"
            for split, number in example["clips"].items()
        )
        return f"{example['source_id']}: {'; '.join(in_splits)}"
    if leak == "overlap":
        clip_a, clip_b = (f"{clip['video_id']} ({clip['split']})" for clip in example["clips"])
        return f"{example['seconds']:.2f} s: {clip_a} and {clip_b} of {example['source_id']}"
    if leak == "near_duplicate":
        named = zip(example["sources"], example["splits"], strict=True)
        source_a, source_b = (f"{source} ({', '.join(splits)})" for source, splits in named)
        alike = f"{example['overlap_seconds']:.1f} s alike, similarity {example['similarity']:.2f}"
        return f"{alike}: {source_a} and {source_b}"
    counts = ", ".join(f"{number:,} in {split}" for split, number in example["captions"].items())
    caption = example["caption"]
    if len(caption) > _MAX_CAPTION_LENGTH:
        caption = f"{caption[:_MAX_CAPTION_LENGTH]}..."
    return f'{counts}: "{caption}"'
