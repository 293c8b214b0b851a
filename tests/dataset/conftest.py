"""A small dataset to publish: three splits, two categories, clips of which some share a source."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import datasets
import pytest

from vttdata.dataset import Metadata, Statistics, write_dataset
from vttdata.dataset.foils.write import FoilSet, Paragraph, write_foils
from vttdata.dataset.videos import MediaFiles, MediaMode
from vttdata.generate.blind.accuracy import PairAccuracy
from vttdata.generate.blind.shortcuts import Attack
from vttdata.generate.foils.documents import FoilPair
from vttdata.generate.foils.swaps import Swap
from vttdata.records import Caption, Clip, ClipMedia, Measure, Probe, Source

PROBE = Probe("mp4", "h264", "aac", "yuv420p", 320, 240, 0, 25.0, 0.0, 60.0, 1500, 0, 1, *[None] * 5)
MEASURE = Measure(1500, 60.0, 0.0, False, {"dark": 0.1, "frozen": 0.0, "blur": 0.2, "blocky": 0.3})
SPLITS = ["train", "train", "train", "validation", "test", "test"]


@dataclasses.dataclass
class Material:
    """Everything that `write_dataset` takes."""

    clips: list[Clip]
    captions: list[Caption]
    sources: list[Source]
    metadata: Metadata
    media: Path | None = None

    def write(self, folder: Path, *, mode: MediaMode = "files", **changes: Any) -> Statistics:
        own = {name: getattr(self, name) for name in self.__slots()} | {"media": MediaFiles.chosen(self.media, mode)}
        return write_dataset(folder, **(own | changes))

    def __slots(self) -> Sequence[str]:
        return [field.name for field in dataclasses.fields(self)]


def load(folder: Path, cache: Path, name: str | None = None, **more: object) -> datasets.DatasetDict:
    return datasets.load_dataset(str(folder), name, cache_dir=str(cache), **more)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def written_foils(folder: Path, about: Metadata | None = None) -> Path:
    """A set of one foil in one paragraph."""
    swap = Swap(2, 5, "cat", "dog", "cat", "animal", "dog", "cat", 0)
    pairs = [FoilPair("v1", "v1_0", 0, "a dog runs", "a cat runs", swap, 10.5, 20.25, "test")]
    paragraph = Paragraph(
        "v1", "1", 2.5, ("v1_0",), ("a dog runs",), ((0.0, 2.5),), ("it runs", "fast"), ((0.0, 1.0), (1.0, 2.0))
    )
    attack = Attack("ensemble", "all of them", PairAccuracy(1, 0, 0), (0.0, 1.0))
    foils = FoilSet(pairs, "balanced", 3, "1", "ngram", [paragraph], {"foils": [attack], "paragraphs": [attack]})
    write_foils(folder, foils, about or Metadata("vttdata/some-foil", licence="mit"))
    return folder


@pytest.fixture
def material() -> Material:
    clips, captions = [], []
    for number, split in enumerate(SPLITS, 7):
        source = f"source{number - number % 2}"
        category = "music" if number % 2 else "sport"
        start = 10.0 * number + 0.1
        clips.append(
            Clip(
                f"video{number}",
                source,
                start,
                start + 12.5,
                0,
                311,
                2,
                f"https://x.org/{source}",
                category,
                split=split,
            )
        )
        for index in range(3):
            text = f"a person does thing {number} for time {index}"
            captions.append(Caption(f"video{number}", 100 * number + index, text, f"w{index}"))
    sources = [
        Source(name, f"{name}.mp4", "listed", "0" * 64, 9, f"https://x.org/{name}", category="music", probe=PROBE)
        for name in sorted({clip.source_id for clip in clips} | {"unused"})
    ]
    sources[0] = dataclasses.replace(sources[0], measure=MEASURE, stored="fetched")
    ratios = {"train": 0.5, "validation": 0.2, "test": 0.3}
    return Material(clips, captions, sources, Metadata("vttdata/small", split_ratios=ratios, together=("source",)))


@pytest.fixture
def with_media(material: Material, tmp_path: Path) -> Material:
    """The same with a file for each clip but the last."""
    material.media = tmp_path / "cut"
    material.media.mkdir()
    for index, clip in enumerate(material.clips[:-1]):
        content = f"film of {clip.video_id}".encode()
        (material.media / f"{clip.video_id}.mp4").write_bytes(content)
        checksum = hashlib.sha256(content).hexdigest()
        media = ClipMedia(f"videos/{clip.video_id}.mp4", checksum, len(content), 312, 12.48, 320, 240, 12.5)
        material.clips[index] = dataclasses.replace(clip, media=media)
    return material
