"""Clips with their videos and captions as tar shards for WebDataset.

Shards are tar files of whole clips in the order of the dataset. The same dataset gives the same bytes.
"""

from __future__ import annotations

import contextlib
import io
import tarfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from vttdata.errors import DescribeOSErrors, VttdataError
from vttdata.export.files import as_json
from vttdata.export.format import ExportRequest, Format, Written
from vttdata.export.reader import ClipFacts, ClipReferences, DatasetReader
from vttdata.files.reading import is_inside, links_out
from vttdata.ids import VIDEO_EXTENSIONS

# A shard ends before the clip with which it would exceed one of these.
MAX_BYTES = 500 * 10**6
MAX_CLIPS = 10_000

RULES = (
    "Each clip is its video file and a JSON file of the same key with `video_id`, `source_id`, `url`, `start`, `end`, "
    "`category`, `split`, `captions`, a list of all its human captions, and `video`, its extension or null. "
    "A key is the id of the clip with `_` for `.`, at which WebDataset ends keys, and `-2` after one that is there "
    f"already. A clip that occurs twice in a split is written once. A shard holds at most {MAX_CLIPS:,} clips, and at "
    f"most {MAX_BYTES // 10**6:,} MB unless one clip is larger."
)
_USAGE = """\
```python
import json

import webdataset

for clip in webdataset.WebDataset("{pattern}", shardshuffle=False):
    facts = json.loads(clip["json"])
    video = clip.get(facts["video"])
```"""


class VideoContent(NamedTuple):
    """Video file: its extension without a dot, and its content."""

    extension: str
    content: bytes


def write_webdataset(request: ExportRequest) -> Written:
    """Write ``<split>-000000.tar`` and further shards of each split.

    Raises:
        VttdataError: If a video is missing or leads out of the dataset, or there is no clip.
    """
    dataset, config = request.dataset, request.clip_config
    patterns, clips, without_video = [], 0, 0
    for split in request.splits():
        with contextlib.closing(_Shards(request.folder, split)) as shards:
            videos = EmbeddedVideos(dataset, config, split) if "videos" in dataset.configs else None
            for reference in dataset.references(config, split, request.folder, request.counts):
                if reference.repeated:
                    continue
                video = _read_video(dataset, reference.clip) if videos is None else videos.take(reference.clip)
                clips, without_video = clips + 1, without_video + (video is None)
                shards.add(reference.clip["video_id"], video, _facts(dataset, reference, split))
        if shards.number >= 0:
            numbers = f"{{000000..{shards.number:06}}}" if shards.number else "000000"
            patterns.append(f"{split}-{numbers}.tar")
    if not patterns:
        raise VttdataError(f"{dataset.folder}: has no clips to write.")
    notes = [f"Clips without a video file: {without_video:,} of {clips:,}."] if without_video else []
    return Written(_USAGE.format(pattern=patterns[0]), notes)


def _facts(dataset: DatasetReader, reference: ClipReferences, split: str) -> dict[str, object]:
    """Return what is written about a clip."""
    facts: dict[str, object] = {name: value for name, value in reference.clip.items() if name != "video"}
    if isinstance(label := facts["category"], int):
        facts["category"] = dataset.categories[label] if 0 <= label < len(dataset.categories) else None
    return facts | {"split": split, "captions": [text for _, text in reference.references]}


def shipped_video(dataset: DatasetReader, clip: ClipFacts) -> Path | None:
    """Return the path of a clip's video file beside the tables; None where it has none.

    Raises:
        VttdataError: If it leads out of the dataset, or has not the name of a video.
    """
    if (name := clip["video"]) is None:
        return None
    path = dataset.folder / name
    if not is_inside(name) or links_out(dataset.folder, path):
        raise VttdataError(f"{dataset.folder}: the video {name!a} leads out of the dataset.")
    _extension(dataset, name)
    return path


def _read_video(dataset: DatasetReader, clip: ClipFacts) -> VideoContent | None:
    """Read the video file of a clip beside the tables; None where it has none."""
    if (path := shipped_video(dataset, clip)) is None:
        return None
    with DescribeOSErrors(f"{path}: cannot be read"):
        return VideoContent(path.suffix.lower()[1:], path.read_bytes())


class EmbeddedVideos:
    """Rows of the configuration ``videos``, which are in the order of the clips."""

    def __init__(self, dataset: DatasetReader, config: str, split: str) -> None:
        if config != "clips":
            raise VttdataError(f"{dataset.folder}: embedded videos are in the order of 'clips'; leave out --config.")
        self._dataset = dataset
        self._rows = dataset.rows("videos", split) if split in dataset.configs["videos"] else iter(())
        self._next = next(self._rows, None)

    def take(self, clip: ClipFacts) -> VideoContent | None:
        """Return the video of the next clip; None where it has none."""
        row = self._next
        if row is None or row["video_id"] != clip["video_id"]:
            return None
        self._next = next(self._rows, None)
        return VideoContent(_extension(self._dataset, row["video"]["path"]), row["video"]["bytes"])


def _extension(dataset: DatasetReader, name: object) -> str:
    """Return the extension of a video file without its dot, by which readers find the video."""
    extension = PurePosixPath(str(name)).suffix.lower()
    if extension not in VIDEO_EXTENSIONS:
        raise VttdataError(f"{dataset.folder}: {str(name)!a} is not the name of a video.")
    return extension[1:]


class _Shards:
    """Tar files of one split; `number` is that of the current one, -1 before the first."""

    def __init__(self, folder: Path, split: str) -> None:
        self.number = -1
        self._folder, self._split = folder, split
        self._tar: tarfile.TarFile | None = None
        self._clips = self._bytes = 0
        self._keys: set[str] = set()

    def add(self, video_id: str, video: VideoContent | None, facts: Mapping[str, object]) -> None:
        """Write a clip: its video and its facts."""
        try:
            text = as_json({**facts, "video": video.extension if video else None}).encode()
        except ValueError as error:
            raise VttdataError(f"Clip {video_id} cannot be written as JSON ({error}).") from error
        key = self._key(video_id)
        members = [*([(f"{key}.{video.extension}", video.content)] if video else []), (f"{key}.json", text)]
        size = sum(len(content) for _, content in members)
        if self._tar is None or self._clips == MAX_CLIPS or (self._clips and self._bytes + size > MAX_BYTES):
            self.close()
            self.number += 1
            self._clips = self._bytes = 0
            path = self._folder / f"{self._split}-{self.number:06}.tar"
            self._tar = tarfile.open(path, "w", format=tarfile.GNU_FORMAT)  # noqa: SIM115
        for name, content in members:
            # Neither time nor owner, so that the same clips give the same bytes.
            member = tarfile.TarInfo(name)
            member.size = len(content)
            self._tar.addfile(member, io.BytesIO(content))
        self._clips, self._bytes = self._clips + 1, self._bytes + size

    def close(self) -> None:
        """Complete the current file."""
        if self._tar is not None:
            self._tar.close()

    def _key(self, video_id: str) -> str:
        """Return a name that no other clip of the split has."""
        key = base = video_id.replace(".", "_")
        number = 1
        while key in self._keys:
            number += 1
            key = f"{base}-{number}"
        self._keys.add(key)
        return key


LIMITS = "shards have no videos to decode, only JSON"

FORMAT = Format(write_webdataset, RULES, takes_videos=True, shows_videos=LIMITS)
