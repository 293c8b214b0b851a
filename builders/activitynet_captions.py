"""ActivityNet Captions (Krishna et al., ICCV 2017): paragraphs about YouTube videos, each sentence with its segment.

A clip is one described segment. Videos of the validation and test splits have two paragraphs by different annotators,
and both are kept. Splits and concepts may come from ActivityNet-Entities (Zhou et al., CVPR 2019); the concepts are
read in `vttdata.annotations.activitynet_entities`.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pydantic

from vttdata.annotations.activitynet_entities import CONCEPT_FILE, read_concepts
from vttdata.annotations.files import SHAPE, OfficialFile, OfficialObject, Seconds, list_files, read_json
from vttdata.annotations.findings import Findings
from vttdata.annotations.model import SPLITS, Annotations, check_captions, check_spans, checked_id, sources_of
from vttdata.compose.official_benchmark import OfficialRecipe, official_builder
from vttdata.errors import VttdataError
from vttdata.ids import is_split_name, youtube_url
from vttdata.records import Caption, Clip

_SPLIT_IDS = "split_ids_anet_entities.json"
_VIDEO = re.compile(r"v_[\w-]{11}", re.ASCII)
_PARAGRAPHS = re.compile(r"train\.json|(?:anet_entities_)?(val|test)_([12])\.json")


@dataclass(frozen=True, slots=True)
class _Video(OfficialObject):
    duration: Annotated[Seconds, pydantic.Field(ge=0)]
    timestamps: list[tuple[Seconds, Seconds]]
    sentences: list[str]

    def __post_init__(self) -> None:
        if len(self.timestamps) != len(self.sentences):
            numbers = f"{len(self.timestamps)} timestamps and {len(self.sentences)} sentences"
            raise ValueError(f"it should have as many timestamps as sentences, not {numbers}")


_SHAPE: pydantic.TypeAdapter[dict[str, _Video]] = pydantic.TypeAdapter(dict[str, _Video])
_SPLIT_SHAPE: pydantic.TypeAdapter[dict[str, list[str]]] = pydantic.TypeAdapter(dict[str, list[str]], config=SHAPE)


@dataclass(frozen=True, slots=True)
class _Paragraph:
    """Text of an annotator about a video."""

    video: str
    annotator: str
    file: OfficialFile
    content: _Video


def segment_id(video: str, annotator: str, index: int) -> str:
    """Return the id of a clip: official id of its video, annotator (1 or 2), and position in the paragraph from 0."""
    return f"{video}_{annotator}_{index}"


def read(folder: Path, *, language: str = "en") -> Annotations:
    """Read a folder, or a zip archive in it, with the official JSON files.

    These are ``train.json``, both ``val_1.json`` and ``val_2.json`` or both ``anet_entities_test_1.json`` and
    ``anet_entities_test_2.json`` (or all of them); optionally ``split_ids_anet_entities.json``, which then decides the
    splits, and the concepts of ActivityNet-Entities.

    Returns:
        One clip for each segment, in the order of the files. `source_id` is the official id of the video, `sen_id` the
        position of the sentence in its paragraph, `annotator` 1 or 2; each annotator is also a protocol.

    Raises:
        VttdataError: when a file is missing, damaged, of another shape, or two files contradict each other.
    """
    findings = Findings()
    checksums: dict[str, str] = {}
    available = {file.name: file for file in reversed(list_files(folder, {".json"}))}
    files = _choose(folder, available)
    paragraphs = _paragraphs(files, findings, checksums)
    splits = _splits(paragraphs, available.get(_SPLIT_IDS), findings, checksums)
    clips, captions = _records(paragraphs, splits, findings, language)
    concept_files = [file for name, file in sorted(available.items()) if CONCEPT_FILE.fullmatch(name)]
    spans = {clip.video_id: (clip.start, clip.end) for clip in clips}
    concepts, classes = read_concepts(concept_files, spans, findings, checksums)
    return Annotations(
        sources=sources_of(clips, {paragraph.video: paragraph.content.duration for paragraph in paragraphs}),
        clips=tuple(clips),
        captions=tuple(captions),
        findings=findings.result(),
        files=checksums,
        protocols=_by_annotator(clips, captions),
        concepts=concepts,
        classes=classes,
    )


Recipe = OfficialRecipe
build = official_builder(read, files_by="source_id")


def _choose(folder: Path, available: Mapping[str, OfficialFile]) -> list[OfficialFile]:
    """Return the files of paragraphs: the training set, then the first annotator's, then the second's."""
    names = [name for name in available if _PARAGRAPHS.fullmatch(name)]
    if "train.json" not in names:
        raise VttdataError(f"{folder}: train.json, the training paragraphs of ActivityNet Captions, is missing.")
    if len(names) == 1:
        pairs = "val_1.json and val_2.json, or anet_entities_test_1.json and anet_entities_test_2.json"
        raise VttdataError(f"{folder}: holds only train.json; add {pairs}.")
    for name in names:
        twin = name.translate(str.maketrans("12", "21"))
        if twin not in names:
            raise VttdataError(f"{folder}: holds {name} but not {twin}; each video has two annotators.")
    return [available[name] for name in sorted(names, key=lambda name: (_annotator(name), name != "train.json", name))]


def _annotator(name: str) -> str:
    match = _PARAGRAPHS.fullmatch(name)
    return (match and match[2]) or "1"


def _paragraphs(files: list[OfficialFile], findings: Findings, checksums: dict[str, str]) -> list[_Paragraph]:
    known: dict[tuple[str, str], _Paragraph] = {}
    for file in files:
        videos: dict[str, _Video] = read_json(file, _SHAPE, checksums)
        for name, content in videos.items():
            paragraph = _Paragraph(checked_id(name, str(file)), _annotator(file.name), file, content)
            first = known.setdefault((name, paragraph.annotator), paragraph)
            if first.content != content:
                raise VttdataError(
                    f"{file}: {name} is not the same as in {first.file.name}; keep one of the two files."
                )
            if first is not paragraph:
                findings.add("repeated_paragraph", file.name, name)
    return list(known.values())


def _splits(
    paragraphs: list[_Paragraph], file: OfficialFile | None, findings: Findings, checksums: dict[str, str]
) -> dict[str, list[str]]:
    """Return the splits of each video: those of the official list of ids, or else that of its paragraph's file."""
    splits: dict[str, list[str]] = {}
    listed: dict[str, list[str]] = read_json(file, _SPLIT_SHAPE, checksums) if file is not None else {}
    for name, videos in listed.items():
        if not is_split_name(name):
            raise VttdataError(f"{file}: {name[:60]!a} cannot name a split.")
        for video in videos:
            splits.setdefault(video, []).append(SPLITS.get(name, name))
    described = {paragraph.video for paragraph in paragraphs}
    for video, names in splits.items():
        if file is not None and len(names) > 1:
            findings.add("several_splits", file.name, video)
        if file is not None and video not in described:
            findings.add("no_paragraph", file.name, video)
    for paragraph in paragraphs:
        if paragraph.video not in splits:
            match = _PARAGRAPHS.fullmatch(paragraph.file.name)
            splits[paragraph.video] = [SPLITS[(match and match[1]) or "train"]]
            if file is not None:
                findings.add("no_split", paragraph.file.name, paragraph.video)
    return splits


def _records(
    paragraphs: list[_Paragraph], splits: Mapping[str, list[str]], findings: Findings, language: str
) -> tuple[list[Clip], list[Caption]]:
    clips: list[Clip] = []
    captions: list[Caption] = []
    for paragraph in paragraphs:
        video, file, content = paragraph.video, paragraph.file.name, paragraph.content
        url = youtube_url(video.removeprefix("v_")) if _VIDEO.fullmatch(video) else None
        video_ids = [segment_id(video, paragraph.annotator, index) for index in range(len(content.sentences))]
        if not video_ids:
            findings.add("no_caption", file, video)
        for video_id, span in zip(video_ids, content.timestamps, strict=True):
            clip = Clip(video_id, video, *span, None, None, None, url)
            check_spans(findings, file, clip, content.duration)
            clips += [dataclasses.replace(clip, split=split) for split in splits[video]]
        written = [
            Caption(video_id, index, sentence, paragraph.annotator, language)
            for index, (video_id, sentence) in enumerate(zip(video_ids, content.sentences, strict=True))
        ]
        check_captions(findings, file, written)
        captions += written
    return clips, captions


def _by_annotator(clips: list[Clip], captions: list[Caption]) -> dict[str, dict[str, list[str]]]:
    """Return each annotator's segments by split, so that users can load one paragraph for each video."""
    annotator = {caption.video_id: caption.annotator for caption in captions}
    protocols: dict[str, dict[str, list[str]]] = {}
    for clip in clips:
        splits = protocols.setdefault(f"annotator-{annotator[clip.video_id]}", {})
        splits.setdefault(clip.split or "", []).append(clip.video_id)
    return protocols
