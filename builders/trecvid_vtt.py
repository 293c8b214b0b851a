"""Human judgments of captions from TRECVID's video-to-text task, as BERTHA published them.

Lebron et al., LREC 2022; the judgments were collected by Direct Assessment (Graham et al., PLOS ONE 2018). For 2016 to
2020 there are 64,003 scores of captions by systems and people, by single and by multiple annotators; the videos are not
part of the files. Nothing is left out, and irregularities in the files become findings.

The files number captions by line, but not as they say: the line is found by
`vttdata.annotations.trecvid.id_offsets` and never taken on trust. Judgments by multiple annotators are about a part
of the videos of the same year, in the same order, and are brought back to these.
"""

from __future__ import annotations

import re
import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Literal

import pydantic

from vttdata.annotations import Annotations, Findings
from vttdata.annotations.model import check_captions, sources_of
from vttdata.annotations.trecvid.id_offsets import OffsetScan, can_tell, peak, scan_offsets
from vttdata.annotations.trecvid.judgments import JudgedSet, MatchedSet, human_letter, match_videos, read_set, video_id
from vttdata.compose.package import Origin, package
from vttdata.dataset import OfficialLayout
from vttdata.dataset.metadata import PaperFigure
from vttdata.dataset.rows import JudgmentRow, judgment_row
from vttdata.errors import VttdataError
from vttdata.ids import source_of
from vttdata.pipeline.build_folder import Build
from vttdata.pipeline.stages.annotations import ALIGNMENT, CAPTIONS, CLIPS, FINDINGS, SCORES, SOURCES
from vttdata.recipe import BaseRecipe
from vttdata.recipe.load import Paths
from vttdata.records import Caption, CaptionScore, Clip

# Added to a published id to get a line counted from 0.
PUBLISHED_OFFSET = -1

_FOLDERS = {"single": "single-annotator", "multiple": "multiple-annotator"}
_YEAR = re.compile(r"(?:19|20)\d\d", re.ASCII)

JudgmentFigure = Literal["single_judgments", "multiple_judgments", "human_b_2016", "lowest_system_2016"]

# (author, letter of a human annotator or nothing) -> position in the year -> caption
Lines = dict[tuple[str, str], dict[int, str]]
Rows = list[JudgmentRow]


class Recipe(BaseRecipe):
    """Recipe for TRECVID's judgments.

    Fields:
        language: of the captions, ISO 639-1.
        annotations: folder that holds ``single-annotator`` and ``multiple-annotator``.
        paper: figures in the papers, which the card compares; see `count_judgments`.
    """

    paths: ClassVar[Paths] = {"annotations": "folder"}

    language: str = "en"
    annotations: str = pydantic.Field(description="a folder with the official files, such as --set annotations=FOLDER")
    paper: dict[JudgmentFigure, PaperFigure] = pydantic.Field(default_factory=dict)


def build(recipe: Recipe, run: Build) -> None:
    """Bring the build folder up to date with the recipe; the dataset is replaced in one step at the end."""
    official = read(Path(recipe.annotations), language=recipe.language)
    run.steps = 7
    sources = run.stage(SOURCES, official.sources)
    clips = list(run.stage(CLIPS, official.clips))
    captions = list(run.stage(CAPTIONS, official.captions))
    scores = run.stage(SCORES, official.scores)
    run.stage(ALIGNMENT, official.alignment)
    findings = run.stage(FINDINGS, official.findings, may_be_empty=True)
    layout = OfficialLayout(
        judgments=judgment_configurations(scores, clips, captions), counted=count_judgments(official.scores)
    )
    paper = {str(name): figure for name, figure in recipe.paper.items() if name in layout.counted}
    package(run, clips, captions, sources, origin=Origin(layout, findings, paper, official.files))


def count_judgments(scores: Sequence[CaptionScore]) -> dict[str, float]:
    """Return the number of judgments by single and by multiple annotators, and raw means of 2016 by the single ones.

    The means, 0..100, are those of the captions by the human annotator B and of the lowest system; only years that the
    files have are counted.
    """
    figures: dict[str, float] = {
        "single_judgments": sum(score.campaign.endswith("-single") for score in scores),
        "multiple_judgments": sum(score.campaign.endswith("-multiple") for score in scores),
    }
    raw: dict[str, list[float]] = defaultdict(list)
    for score in scores:
        if score.campaign == "2016-single":
            raw[score.system].append(score.raw)
    means = {system: statistics.fmean(values) for system, values in raw.items()}
    people = {human_letter(system): mean for system, mean in means.items() if human_letter(system)}
    systems = [mean for system, mean in means.items() if not human_letter(system)]
    if "B" in people and systems:
        figures |= {"human_b_2016": people["B"], "lowest_system_2016": min(systems)}
    return figures


def judgment_configurations(
    scores: Iterable[CaptionScore], clips: Sequence[Clip], captions: Iterable[Caption]
) -> Mapping[str, Mapping[str, Rows]]:
    """Return the rows of judgments by configuration and split.

    ``judgments`` has a split for each year; for each year, ``judgments-without-YEAR`` trains on the others and tests
    on this one.
    """
    clip_by_id = {clip.video_id: clip for clip in clips}
    texts: dict[str, list[Caption]] = {}
    for caption in captions:
        texts.setdefault(caption.video_id, []).append(caption)
    by_year: dict[str, Rows] = {}
    for score in scores:
        clip = clip_by_id[score.video_id]
        by_year.setdefault(clip.split or "", []).append(judgment_row(score, clip.source_id, texts[score.video_id]))
    configurations = {"judgments": dict(by_year)}
    for year, tested in by_year.items() if len(by_year) > 1 else ():
        train = [row for trained, rows in by_year.items() if trained != year for row in rows]
        configurations[f"judgments-without-{year.removeprefix('year')}"] = {"train": train, "test": tested}
    return configurations


def read(folder: Path, *, language: str = "en") -> Annotations:
    """Read ``single-annotator/YEAR`` and ``multiple-annotator/YEAR`` in a folder, as many years as there are.

    Each year has ``ad-seg-scores-en-en.csv``, captions in ``systems/``, human ones in ``references/``, and the
    addresses of the videos in ``url`` or ``urls``.

    Returns:
        One clip for each video, ``vtt<year>_<line from 1>``, in the split ``year<year>``. Captions are by people
        (`annotator` is their letter) and by systems; `scores` has the judgments, `alignment` the scans that place them.

    Raises:
        VttdataError: when a file is missing, damaged or of another shape, or judgments cannot be matched with captions.
    """
    findings = Findings()
    checksums: dict[str, str] = {}
    clips: list[Clip] = []
    captions: list[Caption] = []
    scores: list[CaptionScore] = []
    scans: list[OffsetScan] = []
    for judged_sets in _sets_by_year(folder, findings, checksums):
        matched_sets = [match_videos(judged, judged_sets[0], findings) for judged in judged_sets]
        year_clips = list(_clips(judged_sets, findings))
        lines = _captions_by_author(matched_sets, findings)
        year_captions = [
            Caption(clip.video_id, sen_id, texts[position], letter or None, language, author)
            for position, clip in enumerate(year_clips)
            for sen_id, ((author, letter), texts) in enumerate(lines.items())
            if position in texts
        ]
        check_captions(findings, judged_sets[0].year, year_captions)
        for matched in matched_sets:
            set_scans = _scan(matched, lines)
            offset = _choose_offset(matched.judged, set_scans, findings)
            scores += _score_records(matched, lines, year_clips, offset, findings)
            scans += set_scans
        clips += year_clips
        captions += year_captions
    years: dict[str, set[str | None]] = defaultdict(set)
    for clip in clips:
        years[clip.source_id].add(clip.split)
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


def _sets_by_year(folder: Path, findings: Findings, checksums: dict[str, str]) -> Iterator[list[JudgedSet]]:
    """Yield the sets of each year, that of single annotators first."""
    sets: dict[str, list[JudgedSet]] = {}
    for annotators, name in _FOLDERS.items():
        paths = sorted((folder / name).iterdir()) if (folder / name).is_dir() else []
        for path in paths:
            if path.is_dir() and _YEAR.fullmatch(path.name):
                sets.setdefault(path.name, []).append(read_set(path, annotators, findings, checksums))
    if not sets:
        raise VttdataError(f"{folder}: holds neither single-annotator/YEAR nor multiple-annotator/YEAR.")
    for year in sorted(sets):
        yield sets[year]


def _clips(judged_sets: Sequence[JudgedSet], findings: Findings) -> Iterator[Clip]:
    """Yield the year's videos; their length is not in the files, so each clip ends where it starts."""
    base = judged_sets[0]
    urls = base.urls or next((judged.urls for judged in judged_sets if len(judged.urls) == base.size), [])
    for position in range(base.size):
        name = video_id(base.year, position)
        url = urls[position] if urls and urls[position] else None
        if url is None:
            findings.add("no_url", base.name, name)
        findings.add("unknown_length", base.name, name)
        source_id = source_of(url) if url else name
        yield Clip(name, source_id, 0.0, 0.0, None, None, None, url, split=f"year{base.year}")


def _captions_by_author(matched_sets: Sequence[MatchedSet], findings: Findings) -> Lines:
    """Return all captions of a year: people in the order of their letters, then systems in that of their names."""
    year_size = matched_sets[0].judged.size
    lines: Lines = {}
    for matched in matched_sets:
        judged = matched.judged
        for letter, captions in judged.references.items():
            if len(captions) not in (judged.size, year_size):
                folder = judged.file.path.parent
                single = folder.parent.parent / "single-annotator" / folder.name
                # Those of multiple annotators are the lines of all videos of the year, which only the other set has.
                also = (
                    "" if single.is_dir() else f" The videos of the lines may be those of '{single}', which is missing."
                )
                raise VttdataError(
                    f"{folder / 'references'}: {len(captions)} captions of annotator {letter} for {judged.size} videos."
                    + also
                )
        texts = [(("human", letter), captions) for letter, captions in judged.references.items()]
        texts += [(_author(system), captions) for system, captions in judged.systems.items()]
        for author, captions in texts:
            positions = matched.positions if len(captions) == judged.size else range(len(captions))
            if positions is not matched.positions:
                findings.add("longer_references", judged.name, f"{len(captions)} lines for {judged.size} videos")
            known = lines.setdefault(author, {})
            for position, text in zip(positions, captions, strict=True):
                if known.setdefault(position, text).strip() != text.strip():
                    findings.add("differing_caption", judged.name, f"{video_id(judged.year, position)}/{author[1]}")
    return dict(sorted(lines.items(), key=lambda item: (item[0][0] != "human", item[0])))


def _author(system: str) -> tuple[str, str]:
    letter = human_letter(system)
    return ("human", letter) if letter else (system, "")


def _scan(matched: MatchedSet, lines: Lines) -> list[OffsetScan]:
    """Scan with the references of the set's own human annotators, in the order of the set."""
    judged = matched.judged
    captions = {system: texts for system, texts in judged.systems.items() if not human_letter(system)}
    references = [
        [lines["human", letter][position] for letter in judged.references if position in lines["human", letter]]
        for position in matched.positions
    ]
    scores = ((row.system, row.caption_id, row.z) for row in judged.rows)
    return scan_offsets(judged.name, captions, references, scores)


def _choose_offset(judged: JudgedSet, scans: Sequence[OffsetScan], findings: Findings) -> int:
    """Return the offset that the scan shows, or the published one where there are too few judgments to see any.

    Raises:
        VttdataError: when there are enough, and none stands out.
    """
    offset = peak(scans)
    if offset is None and can_tell(scans):
        highest = max((scan.correlation for scan in scans if scan.correlation == scan.correlation), default=0.0)
        raise VttdataError(
            f"{judged.file}: at no offset from {scans[0].offset} to {scans[-1].offset} do judgments fit the captions "
            f"(highest correlation {highest:.3f}), so the ids do not lead to these lines."
        )
    if offset is None:
        findings.add("alignment_unknown", judged.name, f"{len(judged.rows)} judgments")
    elif offset != PUBLISHED_OFFSET:
        findings.add("shifted_ids", judged.name, f"line = id {offset:+d}")
    return PUBLISHED_OFFSET if offset is None else offset


def _score_records(
    matched: MatchedSet, lines: Lines, clips: Sequence[Clip], offset: int, findings: Findings
) -> Iterator[CaptionScore]:
    judged = matched.judged
    sen_ids = {author: sen_id for sen_id, author in enumerate(lines)}
    for row in judged.rows:
        line = row.caption_id + offset
        if not 0 <= line < judged.size:
            findings.add("wrapped_id", judged.name, f"{row.system}/{row.caption_id}")
        clip = clips[matched.positions[line % judged.size]]
        sen_id = sen_ids.get(_author(row.system))
        if sen_id is None:
            findings.add("score_without_caption", judged.name, f"{row.system}/{row.caption_id}")
        yield CaptionScore(clip.video_id, row.system, row.raw, row.z, row.assessments, judged.name, row.hit, sen_id)
