"""Put the clips' video files into a dataset: not at all, as files beside the tables, or as bytes in a table.

Tables of annotations never contain videos, so that they are read without a decoder. The files beside the tables are a
folder for each split, which the reader ``videofolder`` of `datasets` opens as splits. A picture of some clips is for
the card.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Literal, NamedTuple

from vttdata.dataset.parquet import read_parquet_rows
from vttdata.dataset.replace_folder import link_or_copy
from vttdata.dataset.rows import VideoRow
from vttdata.dataset.shards import SplitFiles
from vttdata.errors import DescribeOSErrors, MediaError, VttdataError
from vttdata.files.output_file import write_whole
from vttdata.ids import digest, is_safe_id
from vttdata.json_types import JsonObject
from vttdata.records import Clip
from vttdata.settings import Strict
from vttdata.subprocesses import call

MediaMode = Literal["none", "files", "embedded"]


class MediaFiles(NamedTuple):
    """Folder with the files of clips, and how they go into a dataset.

    A file has the ``<name>`` of ``videos/<name>`` in `Clip.media`.
    """

    folder: Path
    mode: Literal["files", "embedded"] = "files"

    @classmethod
    def chosen(cls, folder: Path | None, mode: MediaMode) -> MediaFiles | None:
        """Return the files that a dataset gets; None where there are none, or they stay out of it."""
        return None if folder is None or mode == "none" else cls(folder, mode)


# The list of a split's videos, beside them, as ``videofolder`` expects it.
VIDEO_LIST = "metadata.jsonl"

PREVIEW = "preview.jpg"
_PREVIEW_CLIPS = 12
_PREVIEW_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class PublishSettings(Strict):
    """Settings of what a dataset contains of the videos.

    Fields:
        media: ``none``: links and times, and checksums of the files that existed; ``files``: the clips' files in
            folders ``videos/SPLIT``, which `datasets` also opens as a ``videofolder``; ``embedded``: their bytes in a
            configuration ``videos``. None means ``files`` for own videos (a folder, a list, drawn scenes) and ``none``
            for those of others (a search, an official benchmark).
    """

    media: MediaMode | None = None


def add_video_files(dataset: Path, media: Path, clips: Iterable[Clip]) -> dict[str, JsonObject]:
    """Link or copy the clips' files into ``videos/SPLIT/``, and return their manifest entries.

    `media` is the folder of the clips' files; clips without a file are left out.

    Raises:
        VttdataError: If a file has another name than its clip, is missing, or has changed.
    """
    entries: dict[str, dict[str, object]] = {}
    (dataset / "videos").mkdir()
    for clip, name in _distinct_files(clips):
        target = dataset / video_path(clip)
        target.parent.mkdir(exist_ok=True)
        link_or_copy(media / name, target, clip.media.sha256)
        entries[video_path(clip)] = {"sha256": clip.media.sha256, "bytes": clip.media.bytes}
    return entries


def write_video_lists(dataset: Path, clips: Mapping[str, Sequence[Path]]) -> None:
    """Write the lists of a dataset's video files, each in the folder of its split, from the tables of clips."""
    for split, paths in clips.items():
        lines: dict[str, str] = {}
        for row in read_parquet_rows(paths, ("video_id", "video", "captions")):
            if row["video"] is not None and row["video"] not in lines:
                facts = {"video_id": row["video_id"], "split": split, "captions": row["captions"]}
                lines[row["video"]] = json.dumps({"file_name": PurePosixPath(row["video"]).name, **facts}) + "\n"
        if lines:
            write_whole(dataset / "videos" / split / VIDEO_LIST, "".join(lines.values()))


def count_shipped_videos(dataset: Path, tables: Mapping[str, Sequence[SplitFiles]]) -> int:
    """Return the number of clips whose video is in a dataset, as a file or embedded in a table."""
    files = sum(path.name != VIDEO_LIST for path in (dataset / "videos").glob("*/*"))
    return files + sum(split.rows for split in tables.get("videos", ()))


def video_path(clip: Clip) -> str:
    """Return the path of a clip's file in a dataset: ``videos/SPLIT/NAME``."""
    assert clip.media is not None
    return f"videos/{clip.split or 'train'}/{PurePosixPath(clip.media.video).name}"


def video_rows(media: Path, clips: Iterable[Clip]) -> Iterator[VideoRow]:
    """Yield the rows of the configuration ``videos``, with one file at a time in memory.

    Raises:
        VttdataError: As `add_video_files`.
    """
    for clip, name in _distinct_files(clips):
        path = media / name
        with DescribeOSErrors(f"{path}: the clip's file cannot be read"):
            content = path.read_bytes()
        if hashlib.sha256(content).hexdigest() != clip.media.sha256:
            raise VttdataError(f"{path}: the clip's content has changed; build again.")
        yield VideoRow(clip.video_id, {"bytes": content, "path": name})


def _distinct_files(clips: Iterable[Clip]) -> Iterator[tuple[Any, str]]:
    """Yield the clips that have a file with its name, each file once in a split.

    Raises:
        VttdataError: If a file has another name than its clip, or one that differs from another only by case.
    """
    seen: dict[str, str] = {}
    for clip in clips:
        if clip.media is None:
            continue
        path = video_path(clip)
        if path.lower() in seen:
            if (earlier := seen[path.lower()]) != path:
                raise VttdataError(
                    f"{path} and {earlier} differ only by case, and macOS and Windows take them for one file; give a "
                    "clip another id."
                )
            continue
        seen[path.lower()] = path
        folder, _, name = clip.media.video.partition("/")
        if folder != "videos" or not is_safe_id(name) or not name.startswith(f"{clip.video_id}."):
            raise VttdataError(f"Clip {clip.video_id}: its file is called {clip.media.video!r}.")
        yield clip, name


def add_preview(dataset: Path, media: Path, clips: Iterable[Clip]) -> None:
    """Draw one frame each of clips of as many sources as possible into ``preview.jpg``; nothing if none can be read.

    The choice follows from the ids alone. Videos, in the folder `media`, are decoded in a process of its own.
    """
    from vttdata.media.contact_sheet import draw_clips

    files: dict[str, list[Path]] = {}
    for clip in sorted(clips, key=lambda clip: digest(clip.video_id)):
        if clip.media is not None:
            files.setdefault(clip.source_id, []).append(media / PurePosixPath(clip.media.video).name)
    rounds = (
        source[number]
        for number in range(max(map(len, files.values()), default=0))
        for source in files.values()
        if number < len(source)
    )
    chosen = [path for path, _ in zip(rounds, range(_PREVIEW_CLIPS), strict=False)]
    if chosen:
        try:
            call(draw_clips, chosen, dataset / PREVIEW, seconds=_PREVIEW_SECONDS)
        except (MediaError, VttdataError, TimeoutError, ChildProcessError):
            # A dataset without a picture is complete.
            (dataset / PREVIEW).unlink(missing_ok=True)
