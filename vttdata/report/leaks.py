"""Show what splits share, side by side with pictures: sources, time, near-duplicates, captions and the closest.

A pair of sources is shown at the same moment of what both show.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from vttdata.dataset.leak_audit import audit_files
from vttdata.dataset.parquet import read_parquet_rows
from vttdata.files.results import ResultTable
from vttdata.json_types import JsonObject
from vttdata.report.clip_sheet import ClipFigures, read_clip_rows
from vttdata.report.page import PageSection, format_number, render
from vttdata.report.page_pictures import PictureFolder
from vttdata.report.report_input import ReportInput
from vttdata.report.thumbnails import Still
from vttdata.split.audit.leaks import LEAKS, clips_of_example, example_text

_PAIRS = 60
# Leaks whose examples name clips.
_OF_CLIPS = ("source", "overlap", "caption_set")
_WIDTH = 320
_SOURCES = ("source_a", "source_b")
# What an audit may lack.
_DETAILS = ("offset_seconds", "speed", "start_seconds", "overlap_seconds", "mirrored", "rotation", "similarity")


class Side(NamedTuple):
    """One of the things that are alike: words, the picture that is wanted, and the number of its clip."""

    caption: str
    still: Still | None
    clip: int | None


class LeakExample(NamedTuple):
    """Things that are alike: in how far, their sides, and whether they are near-duplicates in different splits."""

    text: str
    sides: list[Side]
    crosses: bool = False


def read_audit(report: ReportInput, figures: ClipFigures) -> JsonObject:
    """Return the audit that the build stored, or audit the dataset; empty without clips, of which none can leak."""
    if not figures.clips:
        return {}
    audit = report.account.get("audit")
    return audit if isinstance(audit, dict) else audit_files(report.files, media=report.dataset).as_json()


def read_pairs(report: ReportInput, figures: ClipFigures, audit: JsonObject) -> list[JsonObject]:
    """Return near-duplicates as rows, those across splits first, then the most alike.

    To the columns of the stage `copies`, or to the examples of the audit without one, come ``splits`` (a text for each
    side), ``clips`` (the first clip of each side, or None) and ``crosses``.
    """
    table = report.stage_table("copies")
    examples = audit.get("examples", {}).get("near_duplicate", [])
    if table is not None:
        pairs = list(read_parquet_rows([table], (*_SOURCES, *_DETAILS)))
    else:
        pairs = [_as_pair(each) for each in examples]
    names = dict.fromkeys(pair[key] for pair in pairs for key in _SOURCES)
    rows = figures.rows_of(figures.source_ids, [*names])
    for pair in pairs:
        sides = [rows.get(pair[key], []) for key in _SOURCES]
        splits = [figures.splits_of(side) for side in sides]
        pair["splits"] = [", ".join(split) or "in no split" for split in splits]
        pair["clips"] = [side[0] if side else None for side in sides]
        pair["crosses"] = len({*splits[0], *splits[1]}) > 1
    return sorted(
        pairs, key=lambda pair: (not pair["crosses"], -(pair["similarity"] or 0), pair["source_a"], pair["source_b"])
    )


def _as_pair(example: JsonObject) -> JsonObject:
    """Return a pair of an audit, which names two sources, as a row of the stage `copies`; what it lacks is None."""
    return dict(zip(_SOURCES, example["sources"], strict=True)) | {name: example.get(name) for name in _DETAILS}


def show_leaks(
    report: ReportInput,
    figures: ClipFigures,
    audit: JsonObject,
    pairs: Sequence[JsonObject],
    pictures: PictureFolder,
) -> PageSection | None:
    """Return the section; None where there are neither clips nor pairs."""
    if not audit and not pairs:
        return None
    rows, clips = _read_examples(report, figures, audit)
    examples: JsonObject = audit.get("examples", {})

    def side(video_id: str) -> Side:
        if video_id not in rows:
            return Side(video_id, None, None)
        clip = clips[rows[video_id]]
        span = f", {clip['start']:.2f} to {clip['end']:.2f} s" if clip.get("start") is not None else ""
        return Side(f"{video_id}, {clip['split']}{span}", report.still_of_clip(clip), rows[video_id])

    groups = {
        LEAKS[leak][0].capitalize(): [
            LeakExample(example_text(leak, each), [side(video_id) for video_id in clips_of_example(leak, each)])
            for each in examples.get(leak, ())
        ]
        for leak in _OF_CLIPS
    }
    groups["Near-duplicates"] = [_match_sources(report, pair) for pair in pairs[:_PAIRS]]
    closest = audit.get("closest")
    if isinstance(closest, dict) and not any(pair["crosses"] for pair in pairs):
        pair = _as_pair(closest)
        sides = figures.rows_of(figures.source_ids, list(closest["sources"]))
        pair["splits"] = [", ".join(names) for names in closest["splits"]]
        pair["clips"] = [sides.get(source, [None])[0] for source in closest["sources"]]
        groups["Closest sources of different splits"] = [_match_sources(report, pair)]
    pictures.inline(side.still for likenesses in groups.values() for each in likenesses for side in each.sides)
    splits = list(audit.get("splits", {}))
    counts = [
        [LEAKS[name][0], leak[LEAKS[name][1]], *(leak["clips"].get(split, 0) for split in splits)]
        for name, leak in audit.get("leaks", {}).items()
    ]
    body = render(
        "leaks.html",
        table=ResultTable(
            ("leak", "found", *(f"{split} clips" for split in splits)), counts, "What splits share with each other"
        ),
        groups={
            title: [(each, [pictures.address(side.still) for side in each.sides]) for each in likenesses]
            for title, likenesses in groups.items()
            if likenesses
        },
        pairs=len(pairs),
        captions=[
            (each["caption"], [(split, number, rows.get(each["clips"][split])) for split, number in counted.items()])
            for each in examples.get("caption", ())
            for counted in [each["captions"]]
        ],
    )
    note = "A clip leaks where another split has its source, its time, its captions, or a near-duplicate of its source."
    return PageSection("leaks", "Leaks and copies", body, note)


def _read_examples(
    report: ReportInput, figures: ClipFigures, audit: JsonObject
) -> tuple[dict[str, int], dict[int, JsonObject]]:
    """Return video id -> number of the clips that examples of an audit name, and number -> row of those clips."""
    examples = audit.get("examples", {})
    named = [name for leak in _OF_CLIPS for each in examples.get(leak, ()) for name in clips_of_example(leak, each)]
    named += [video_id for each in examples.get("caption", ()) for video_id in each["clips"].values()]
    rows = {video_id: numbers[0] for video_id, numbers in figures.rows_of(figures.video_ids, named).items()}
    return rows, read_clip_rows(report, rows.values())


def _match_sources(report: ReportInput, pair: JsonObject) -> LeakExample:
    """Return two sources at the same moment of what they share, as far as the pair tells it."""
    offset, overlap, start = (pair[f"{name}_seconds"] or 0.0 for name in ("offset", "overlap", "start"))
    names = [pair["source_a"], pair["source_b"]]
    if pair["start_seconds"] is None:
        # What both show begins no earlier than either of them.
        start = max(-offset, 0.0)
    time = start + overlap / 2
    times = (time, max(time * (pair["speed"] or 1.0) + offset, 0.0))
    sides = []
    for name, moment, split, clip in zip(names, times, pair["splits"], pair["clips"], strict=True):
        still = report.still_of_source(name, moment)
        file = f" ({report.videos[name].path.name})" if name in report.videos else ""
        words = f"{name}{file} at {format_number(round(moment, 2))} s, {split}"
        sides.append(Side(words, still._replace(width=_WIDTH) if still is not None else None, clip))
    sign = "+" if offset >= 0 else "\u2212"
    shift = f"the second at t {sign} {format_number(abs(offset))} s" if round(offset, 2) else "at the same time"
    parts = [
        f"Both show the same{f' for {format_number(overlap)} s' if overlap else ''}, {shift}",
        f"similarity {format_number(pair['similarity'])}, where 1 makes near-duplicates",
        *(["mirrored"] if pair["mirrored"] else []),
        *([f"turned by {pair['rotation']}\u00b0"] if pair["rotation"] else []),
    ]
    return LeakExample("; ".join(parts) + ".", sides, bool(pair.get("crosses")))
