"""Reads the annotated concepts of ActivityNet-Entities (Zhou et al., CVPR 2019): which words name which things.

A file holds the vocabulary of classes, and for each segment its words and its annotated objects; each object has a
class and the place of a word for every mention. Boxes are not read: the public test files have none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import pydantic

from vttdata.annotations.files import SHAPE, OfficialFile, Seconds, read_json
from vttdata.annotations.findings import Findings
from vttdata.errors import VttdataError
from vttdata.records import Concepts

CONCEPT_FILE = re.compile(r"anet_entities_cleaned_class_thresh50_\w+\.json")
"""What the files of concepts are called."""

_CLOSE_SECONDS = 0.01


@dataclass(frozen=True, slots=True)
class Aligned:
    """The clips that concepts can be about: id -> start and end in seconds; and where to note what does not fit."""

    spans: Mapping[str, tuple[float, float]]
    findings: Findings


@dataclass(frozen=True, slots=True)
class _Segment:
    __pydantic_config__: ClassVar[pydantic.ConfigDict] = SHAPE

    tokens: list[str]
    timestamps: tuple[Seconds, Seconds]
    classes: Annotated[list[list[str]], pydantic.Field(validation_alias="process_clss")]
    places: Annotated[list[list[int]], pydantic.Field(validation_alias="process_idx")]

    def __post_init__(self) -> None:
        if [len(own) for own in self.classes] != [len(own) for own in self.places]:
            raise ValueError("it should have as many entries in process_idx as in process_clss")
        if any(not 0 <= place < len(self.tokens) for own in self.places for place in own):
            raise ValueError(f"it should have only places from 0 to {len(self.tokens) - 1} in process_idx")


@dataclass(frozen=True, slots=True)
class _Video:
    __pydantic_config__: ClassVar[pydantic.ConfigDict] = SHAPE

    segments: dict[str, _Segment]


@dataclass(frozen=True, slots=True)
class _Content:
    __pydantic_config__: ClassVar[pydantic.ConfigDict] = SHAPE

    vocab: list[str]
    annotations: dict[str, _Video]


_SHAPE: pydantic.TypeAdapter[Any] = pydantic.TypeAdapter(_Content)


def read_concepts(
    files: Iterable[OfficialFile], aligned: Aligned, checksums: dict[str, str]
) -> tuple[tuple[Concepts, ...], tuple[str, ...]]:
    """The concepts of all segments that are clips, in the order of the files, and all classes of the vocabularies.

    Segment i of a video is about the i-th sentence of the first annotator's paragraph.

    Raises:
        VttdataError: when a file is damaged, of another shape, or names a class that its vocabulary does not have.
    """
    found: list[Concepts] = []
    classes: dict[str, None] = {}
    for file in files:
        content: _Content = read_json(file, _SHAPE, checksums)
        vocabulary = set(content.vocab)
        for concepts in _rows(file, content, aligned):
            strange = next((name for name in concepts.classes if name not in vocabulary), None)
            if strange is not None:
                raise VttdataError(f"{file}: {concepts.video_id}: the class {strange!a} is not in the vocabulary.")
            found.append(concepts)
        classes |= dict.fromkeys(content.vocab)
    return tuple(found), tuple(classes)


def _rows(file: OfficialFile, content: _Content, aligned: Aligned) -> Iterator[Concepts]:
    for video, annotated in content.annotations.items():
        for index in sorted(annotated.segments, key=lambda key: (len(key), key)):
            segment, video_id = annotated.segments[index], f"{video}_1_{index}"
            span = aligned.spans.get(video_id)
            if span is None:
                aligned.findings.add("concepts_without_clip", file.name, video_id)
                continue
            if any(abs(a - b) > _CLOSE_SECONDS for a, b in zip(span, segment.timestamps, strict=True)):
                aligned.findings.add("misaligned_concepts", file.name, video_id)
            yield Concepts(
                video_id,
                tuple(segment.tokens),
                tuple(number for number, own in enumerate(segment.classes) for _ in own),
                tuple(name for own in segment.classes for name in own),
                tuple(place for own in segment.places for place in own),
            )
