"""Reads the human judgments of TRECVID's video-to-text task as BERTHA published them (Lebron et al., LREC 2022).

The files number captions by line, but not as they say: the line is found by `vttdata.annotations.trecvid.id_offsets`
and never
taken on trust. Judgments by multiple annotators are about a part of the videos of the same year, in the same order, and
are brought back to these.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from vttdata.annotations.findings import Findings
from vttdata.annotations.model import Annotations, check_captions, source_of, sources_of
from vttdata.annotations.trecvid.id_offsets import OffsetScan, can_tell, peak, scan_offsets
from vttdata.annotations.trecvid.lists import JudgedSet, human_letter, read_set
from vttdata.annotations.trecvid.places import Placed, place_among, video_name
from vttdata.errors import VttdataError
from vttdata.records import Caption, CaptionScore, Clip

PUBLISHED_OFFSET = -1
"""What is added to a published id to get a line counted from 0."""

_FOLDERS = {"single": "single-annotator", "multiple": "multiple-annotator"}
_YEAR = re.compile(r"(?:19|20)\d\d", re.ASCII)


def read_trecvid(folder: Path, *, language: str = "en") -> Annotations:
    """Read ``single-annotator/YEAR`` and ``multiple-annotator/YEAR`` in a folder, as many years as there are.

    Args:
        folder: each year has ``ad-seg-scores-en-en.csv``, captions in ``systems/``, human ones in ``references/``, and
            the addresses of the videos in ``url`` or ``urls``.
        language: of the captions.

    Returns:
        One clip a video, ``vtt<year>_<line from 1>``, in the split ``year<year>``. Captions are by people (`annotator`
        is their letter) and by systems; `scores` has the judgments, `alignment` the scans that placed them.

    Raises:
        VttdataError: when a file is missing, damaged or of another shape, or judgments cannot be matched with captions.
    """
    findings = Findings()
    checksums: dict[str, str] = {}
    clips: list[Clip] = []
    captions: list[Caption] = []
    scores: list[CaptionScore] = []
    scans: list[OffsetScan] = []
    for sets in _years(folder, findings, checksums):
        placed = [place_among(own, sets[0], findings) for own in sets]
        own_clips = list(_clips(sets, findings))
        lines = _captions(placed, findings)
        captions += _caption_records(own_clips, lines, language)
        check_captions(findings, sets[0].year, captions[-sum(len(own) for own in lines.values()) :])
        for own in placed:
            found = _scan(own, lines)
            scans += found
            scores += _scores(own, lines, own_clips, _offset(own.own, found, findings), findings)
        clips += own_clips
    years: dict[str, set[str | None]] = {}
    for clip in clips:
        years.setdefault(clip.source_id, set()).add(clip.split)
    for clip in clips:
        if len(years[clip.source_id]) > 1:
            findings.add("video_of_several_years", "urls", clip.video_id)
    return Annotations(
        sources_of(clips),
        tuple(clips),
        tuple(captions),
        findings.result(),
        checksums,
        scores=tuple(scores),
        alignment=tuple(scans),
    )


def _years(folder: Path, findings: Findings, checksums: dict[str, str]) -> Iterator[list[JudgedSet]]:
    """The sets of each year, that of single annotators first."""
    found: dict[str, list[JudgedSet]] = {}
    for annotators, name in _FOLDERS.items():
        there = sorted((folder / name).iterdir()) if (folder / name).is_dir() else []
        for path in there:
            if path.is_dir() and _YEAR.fullmatch(path.name):
                found.setdefault(path.name, []).append(read_set(path, annotators, findings, checksums))
    if not found:
        raise VttdataError(f"{folder}: holds neither single-annotator/YEAR nor multiple-annotator/YEAR.")
    for year in sorted(found):
        yield found[year]


def _clips(sets: Sequence[JudgedSet], findings: Findings) -> Iterator[Clip]:
    """The year's videos. How long they are is not in the files, so that each ends where it starts."""
    base = sets[0]
    urls = base.urls or next((own.urls for own in sets if len(own.urls) == base.size), [])
    for place in range(base.size):
        video_id = video_name(base.year, place)
        url = urls[place] if urls and urls[place] else None
        if url is None:
            findings.add("no_url", base.name, video_id)
        findings.add("unknown_length", base.name, video_id)
        source_id = source_of(url) if url else video_id
        yield Clip(video_id, source_id, 0.0, 0.0, None, None, None, url, split=f"year{base.year}")


Lines = dict[tuple[str, str], dict[int, str]]
"""(author, letter of a human annotator or nothing) -> place in the year -> caption."""


def _captions(placed: Sequence[Placed], findings: Findings) -> Lines:
    """All captions of a year: by people in the order of their letters, then by systems in the order of their names."""
    lines: Lines = {}
    for own in placed:
        texts: list[tuple[tuple[str, str], Sequence[str]]] = [
            (("human", letter), _at_size(own, letter, placed[0].own.size)) for letter in own.own.references
        ]
        texts += [(_author(system), own.own.systems[system]) for system in own.own.systems]
        for author, captions in texts:
            places = own.places if len(captions) == len(own.places) else range(len(captions))
            if places is not own.places:
                findings.add("longer_references", own.own.name, f"{len(captions)} lines for {len(own.places)} videos")
            known = lines.setdefault(author, {})
            for place, text in zip(places, captions, strict=True):
                if known.setdefault(place, text).strip() != text.strip():
                    findings.add("differing_caption", own.own.name, f"{video_name(own.own.year, place)}/{author[1]}")
    return dict(sorted(lines.items(), key=lambda item: (item[0][0] != "human", item[0])))


def _at_size(own: Placed, letter: str, size: int) -> Sequence[str]:
    """The references of a letter: as many as the set's videos, or as the year's.

    Raises:
        VttdataError: when there are neither.
    """
    captions = own.own.references[letter]
    if len(captions) not in (own.own.size, size):
        folder = own.own.file.path.parent / "references"
        raise VttdataError(f"{folder}: {len(captions)} captions of annotator {letter} for {own.own.size} videos.")
    return captions


def _author(system: str) -> tuple[str, str]:
    letter = human_letter(system)
    return ("human", letter) if letter else (system, "")


def _caption_records(clips: Sequence[Clip], lines: Lines, language: str) -> Iterator[Caption]:
    for place, clip in enumerate(clips):
        for sen_id, ((author, letter), own) in enumerate(lines.items()):
            if place in own:
                yield Caption(clip.video_id, sen_id, own[place], letter or None, language, author)


def _scan(own: Placed, lines: Lines) -> list[OffsetScan]:
    """Scan with the references of the set's own letters, in the order of the set."""
    captions = {system: own.own.systems[system] for system in own.own.systems if not human_letter(system)}
    references = [
        [lines["human", letter][place] for letter in own.own.references if place in lines["human", letter]]
        for place in own.places
    ]
    return scan_offsets(own.own.name, captions, references, ((row.system, row.number, row.z) for row in own.own.rows))


def _offset(own: JudgedSet, scans: Sequence[OffsetScan], findings: Findings) -> int:
    """The offset that the scan shows, or the published one where there are too few judgments to see any.

    Raises:
        VttdataError: when there are enough, and none stands out.
    """
    found = peak(scans)
    if found is None and can_tell(scans):
        highest = max((scan.correlation for scan in scans if scan.correlation == scan.correlation), default=0.0)
        raise VttdataError(
            f"{own.file}: at no offset from {scans[0].offset} to {scans[-1].offset} do judgments fit the captions "
            f"(highest correlation {highest:.3f}), so the ids do not lead to these lines."
        )
    if found is None:
        findings.add("alignment_unknown", own.name, f"{len(own.rows)} judgments")
    elif found != PUBLISHED_OFFSET:
        findings.add("shifted_ids", own.name, f"line = id {found:+d}")
    return PUBLISHED_OFFSET if found is None else found


def _scores(
    own: Placed, lines: Lines, clips: Sequence[Clip], offset: int, findings: Findings
) -> Iterator[CaptionScore]:
    order = {author: sen_id for sen_id, author in enumerate(lines)}
    for row in own.own.rows:
        line = row.number + offset
        if not 0 <= line < own.own.size:
            findings.add("wrapped_id", own.own.name, f"{row.system}/{row.number}")
        place = own.places[line % own.own.size]
        sen_id = order.get(_author(row.system))
        if sen_id is None:
            findings.add("score_without_caption", own.own.name, f"{row.system}/{row.number}")
        yield CaptionScore(
            clips[place].video_id, row.system, row.raw, row.z, row.assessments, own.own.name, row.hit, sen_id
        )
