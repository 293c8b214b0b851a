"""Annotated concepts of ActivityNet-Entities (Zhou et al., CVPR 2019): which words name which things.

A file holds the vocabulary of classes, and for each segment its words and its annotated objects; each object has a
class and the index of a word for every mention. Boxes are not read: the public test files have none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated

import pydantic

from vttdata.annotations.files import OfficialFile, OfficialObject, Seconds, read_json
from vttdata.annotations.findings import Findings
from vttdata.errors import VttdataError
from vttdata.records import Concepts

# Names of the files of concepts.
CONCEPT_FILE = re.compile(r"anet_entities_cleaned_class_thresh50_\w+\.json")

_MAX_DEVIATION_SECONDS = 0.01


@dataclass(frozen=True, slots=True)
class _Segment(OfficialObject):
    tokens: list[str]
    timestamps: tuple[Seconds, Seconds]
    classes: Annotated[list[list[str]], pydantic.Field(validation_alias="process_clss")]
    word_indices: Annotated[list[list[int]], pydantic.Field(validation_alias="process_idx")]

    def __post_init__(self) -> None:
        if [len(names) for names in self.classes] != [len(indices) for indices in self.word_indices]:
            raise ValueError("it should have as many entries in process_idx as in process_clss")
        if any(not 0 <= index < len(self.tokens) for indices in self.word_indices for index in indices):
            raise ValueError(f"it should have only indices from 0 to {len(self.tokens) - 1} in process_idx")


@dataclass(frozen=True, slots=True)
class _Video(OfficialObject):
    segments: dict[str, _Segment]


@dataclass(frozen=True, slots=True)
class _Content(OfficialObject):
    vocab: list[str]
    annotations: dict[str, _Video]


_SHAPE: pydantic.TypeAdapter[_Content] = pydantic.TypeAdapter(_Content)


def read_concepts(
    files: Iterable[OfficialFile],
    spans: Mapping[str, tuple[float, float]],
    findings: Findings,
    checksums: dict[str, str],
) -> tuple[tuple[Concepts, ...], tuple[str, ...]]:
    """Return the concepts of all segments that are clips, in the order of the files, and all classes.

    Segment i of a video is about the i-th sentence of the first annotator's paragraph. Segments that are not clips, or
    have other times than the `spans` of the clips in seconds, become findings; `checksums` gets the SHA-256 of each
    file.

    Raises:
        VttdataError: when a file is damaged, of another shape, or names a class that its vocabulary does not have.
    """
    annotated: list[Concepts] = []
    classes: dict[str, None] = {}
    for file in files:
        content: _Content = read_json(file, _SHAPE, checksums)
        vocabulary = set(content.vocab)
        for concepts in _concepts(file, content, spans, findings):
            unknown = next((name for name in concepts.classes if name not in vocabulary), None)
            if unknown is not None:
                raise VttdataError(f"{file}: {concepts.video_id}: the class {unknown!a} is not in the vocabulary.")
            annotated.append(concepts)
        classes |= dict.fromkeys(content.vocab)
    return tuple(annotated), tuple(classes)


def _concepts(
    file: OfficialFile, content: _Content, spans: Mapping[str, tuple[float, float]], findings: Findings
) -> Iterator[Concepts]:
    for video_name, video in content.annotations.items():
        # The keys are numbers without leading zeros.
        for index in sorted(video.segments, key=lambda key: (len(key), key)):
            segment, video_id = video.segments[index], f"{video_name}_1_{index}"
            span = spans.get(video_id)
            if span is None:
                findings.add("concepts_without_clip", file.name, video_id)
                continue
            if any(abs(a - b) > _MAX_DEVIATION_SECONDS for a, b in zip(span, segment.timestamps, strict=True)):
                findings.add("misaligned_concepts", file.name, video_id)
            yield Concepts(
                video_id,
                tuple(segment.tokens),
                tuple(number for number, names in enumerate(segment.classes) for _ in names),
                tuple(name for names in segment.classes for name in names),
                tuple(index for indices in segment.word_indices for index in indices),
            )
