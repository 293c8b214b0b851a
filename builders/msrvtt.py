"""MSR-VTT (Xu et al., CVPR 2016): 10,000 clips of web videos in 20 categories, with about 20 sentences each.

The annotations are read as Microsoft released them. The release of 2016 is two zip archives; the JSON of 2017 and
translations have the same shape under other names. The shape is that of the release's ``readme.txt``: `videos` with a
category number, an address, ``start time`` and ``end time`` in seconds and a split, and `sentences` about them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pydantic

from vttdata.annotations.files import OfficialFile, OfficialObject, Seconds, list_files, read_json, read_text
from vttdata.annotations.findings import Findings
from vttdata.annotations.model import SPLITS, Annotations, check_captions, check_spans, checked_id, sources_of
from vttdata.compose.official_benchmark import OfficialRecipe, official_builder
from vttdata.errors import VttdataError
from vttdata.ids import is_split_name, source_of
from vttdata.records import Caption, Clip

# Files of the release, and the archives that contain them.
OFFICIAL = {
    "train_val_videodatainfo.json": "train_val_annotation.zip",
    "test_videodatainfo.json": "test_videodatainfo.json.zip",
}

_CATEGORIES = "category.txt"


@dataclass(frozen=True, slots=True)
class _Video(OfficialObject):
    video_id: str
    url: str
    start: Annotated[Seconds, pydantic.Field(validation_alias="start time")]
    end: Annotated[Seconds, pydantic.Field(validation_alias="end time")]
    split: str
    category: int | None = None


@dataclass(frozen=True, slots=True)
class _Sentence(OfficialObject):
    video_id: str
    sen_id: Annotated[int, pydantic.Field(ge=0, lt=2**63)]
    caption: str


@dataclass(frozen=True, slots=True)
class _Info(OfficialObject):
    videos: Annotated[list[_Video], pydantic.FailFast()]
    sentences: Annotated[list[_Sentence] | None, pydantic.FailFast()] = None


_SHAPE: pydantic.TypeAdapter[_Info] = pydantic.TypeAdapter(_Info)


def read(folder: Path, *, language: str = "en") -> Annotations:
    """Read a folder that holds the two archives, what is in them, or JSON files of the same shape.

    If one file has an official name, both must be present, and only these are read; otherwise all JSON files are.
    ``category.txt`` names the categories; without it numbers stand for them.

    Returns:
        Clips and captions in the order of the files, under their official ids; `validate` and `val` are `validation`.

    Raises:
        VttdataError: when a file is missing, damaged or of another shape.
    """
    findings = Findings()
    checksums: dict[str, str] = {}
    available = list_files(folder, {".json", ".txt"})
    infos = [(file, read_json(file, _SHAPE, checksums)) for file in _choose(folder, available, findings)]
    names = _category_names(available, checksums)
    clips = [clip for file, info in infos for clip in _clips(file, info.videos, names, findings)]
    captions = [caption for file, info in infos for caption in _captions(file, info, language)]
    _check_clips(infos, findings)
    _check_sentences(infos, {clip.video_id for clip in clips}, findings)
    if not clips:
        raise VttdataError(f"{folder}: its files list no video.")
    return Annotations(
        sources=sources_of(clips),
        clips=tuple(clips),
        captions=tuple(captions),
        findings=findings.result(),
        files=checksums,
        categories=tuple(names[number] for number in sorted(names)),
    )


Recipe = OfficialRecipe
build = official_builder(read)


def _choose(folder: Path, available: list[OfficialFile], findings: Findings) -> list[OfficialFile]:
    """Return the files to read: the official two, or else all; of files with the same name the first."""
    by_name: dict[str, OfficialFile] = {}
    for file in available:
        if file.name.lower().endswith(".json") and by_name.setdefault(file.name, file) is not file:
            findings.add("file_not_read", file.name, str(file.path.name))
    official = [by_name[name] for name in OFFICIAL if name in by_name]
    if len(official) == 1:
        missing = next(name for name in OFFICIAL if name not in by_name)
        raise VttdataError(f"{folder}: holds {official[0].name} but not {missing} (in {OFFICIAL[missing]}); get both.")
    if official:
        for name in by_name.keys() - OFFICIAL.keys():
            findings.add("file_not_read", name, name)
        return official
    if not by_name:
        archives = " and ".join(OFFICIAL.values())
        raise VttdataError(f"{folder}: holds no annotations of MSR-VTT; put {archives} or their files there.")
    return list(by_name.values())


def _category_names(available: list[OfficialFile], checksums: dict[str, str]) -> dict[int, str]:
    """Return the names of categories by number, from lines of name, tab, number."""
    file = next((file for file in available if file.name == _CATEGORIES), None)
    names: dict[int, str] = {}
    for number, line in enumerate(read_text(file, checksums).splitlines(), 1) if file is not None else ():
        name, _, category = line.rpartition("\t")
        if not line.strip():
            continue
        if not name.strip() or not category.strip().isdecimal() or len(category.strip()) > 9:
            raise VttdataError(f"{file}: line {number}: a name, a tab and a number are expected, not {line[:60]!a}.")
        if int(category) in names or name.strip() in names.values():
            raise VttdataError(f"{file}: line {number}: {line.strip()!a} has a duplicate name or number.")
        names[int(category)] = name.strip()
    return names


def _clips(file: OfficialFile, videos: list[_Video], names: dict[int, str], findings: Findings) -> Iterable[Clip]:
    for index, video in enumerate(videos):
        video_id = checked_id(video.video_id, f'{file}: videos[{index}]["video_id"]')
        split = SPLITS.get(video.split)
        if split is None:
            if not is_split_name(video.split):
                key = f'{file}: videos[{index}]["split"]'
                raise VttdataError(f"{key}: {video.split[:60]!a} cannot name a split; use letters, digits and _.")
            findings.add("unknown_split", file.name, video_id)
        if video.category is not None and names and video.category not in names:
            findings.add("unknown_category", file.name, video_id)
        category = None if video.category is None else names.get(video.category, str(video.category))
        span = (video.start, video.end, None, None, None)
        clip = Clip(video_id, source_of(video.url), *span, video.url, category, split=split or video.split)
        check_spans(findings, file.name, clip)
        yield clip


def _captions(file: OfficialFile, info: _Info, language: str) -> Iterable[Caption]:
    if info.sentences is None and any(SPLITS.get(video.split) != "test" for video in info.videos):
        raise VttdataError(f"{file}: sentences is missing; only a test set may come without.")
    for sentence in info.sentences or ():
        yield Caption(sentence.video_id, sentence.sen_id, sentence.caption, language=language)


def _check_clips(infos: list[tuple[OfficialFile, _Info]], findings: Findings) -> None:
    """Add findings about clips that are listed twice in any files, and that have no sentence."""
    splits: dict[str, list[str]] = defaultdict(list)
    for _, info in infos:
        for video in info.videos:
            splits[video.video_id].append(SPLITS.get(video.split, video.split))
    described = {sentence.video_id for _, info in infos for sentence in info.sentences or ()}
    for file, info in infos:
        for video in info.videos:
            if len(splits[video.video_id]) > 1:
                findings.add("doubled_video", file.name, video.video_id)
        for video_id in dict.fromkeys(video.video_id for video in info.videos):
            if len(set(splits[video_id])) > 1:
                findings.add("several_splits", file.name, video_id)
            if video_id not in described:
                findings.add("no_caption", file.name, video_id)


def _check_sentences(infos: list[tuple[OfficialFile, _Info]], known: set[str], findings: Findings) -> None:
    """Add findings about texts, clips that are not listed, and numbers that are twice in one file."""
    for file, info in infos:
        numbers = Counter(sentence.sen_id for sentence in info.sentences or ())
        for sentence in info.sentences or ():
            name = f"{sentence.video_id}/{sentence.sen_id}"
            if numbers[sentence.sen_id] > 1:
                findings.add("doubled_sentence", file.name, name)
            if sentence.video_id not in known:
                findings.add("unknown_video", file.name, name)
        check_captions(findings, file.name, _captions(file, info, ""))
