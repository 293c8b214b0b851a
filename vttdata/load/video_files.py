"""Put the paths of a dataset's video files into the rows that `datasets` loaded, where the files can be found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypedDict, TypeVar

import datasets

from vttdata.files.reading import is_inside, links_out
from vttdata.ids import VIDEO_EXTENSIONS
from vttdata.load.local_builds import folder_of_videos

# Decoding at each access to a row would need torchcodec, and open a file for every caption that is read.
_FEATURE = datasets.Video(decode=False)
_TEXT = datasets.Value("string")

Rows = TypeVar("Rows", datasets.Dataset, datasets.IterableDataset)
Loaded = TypeVar(
    "Loaded",
    datasets.Dataset,
    datasets.IterableDataset,
    datasets.DatasetDict,
    datasets.IterableDatasetDict,
)


class VideoPath(TypedDict):
    """Value of a `datasets.Video` that is not decoded; `bytes` is None."""

    path: str
    bytes: None


@dataclass(frozen=True, slots=True)
class VideoFiles:
    """Where the video files of a dataset are.

    Fields:
        folder: folder of the dataset, to which names of videos are relative.
        by_id: files of a folder of videos, ``<video_id>.<extension>`` or ``<source_id>.<extension>``, by these ids.
        addresses: addresses in remote storage by names of videos; they stand for all files if there are some.
    """

    folder: Path
    by_id: Mapping[str, Path]
    addresses: Mapping[str, str] = field(default_factory=dict)

    def find(self, video: str | None, video_id: str, source_id: str) -> VideoPath | None:
        """Return the file of a row, from its columns; None where there is none."""
        if self.addresses:
            address = self.addresses.get(video) if video is not None else None
            return None if address is None else {"path": address, "bytes": None}
        if video is None:
            path = self.by_id.get(video_id, self.by_id.get(source_id))
        else:
            path = self.folder / video
            # Tables may come from anybody, and must name no other file of this machine.
            if not is_inside(video) or links_out(self.folder, path):
                return None
        return {"path": str(path.resolve()), "bytes": None} if path is not None and path.is_file() else None

    def find_for(self, row: Mapping[str, str]) -> dict[str, VideoPath | None]:
        """Return the new value of the column ``video`` of a row."""
        return {"video": self.find(row["video"], row["video_id"], row["source_id"])}

    def add_to(self, rows: Rows) -> Rows:
        """Return rows with the files in the column ``video``; other tables are returned as they are."""
        features = rows.features
        if features is None or any(features.get(name) != _TEXT for name in ("video", "video_id", "source_id")):
            return rows
        if isinstance(rows, datasets.IterableDataset):
            return rows.map(self.find_for, features=datasets.Features(features | {"video": _FEATURE}))
        columns = rows.select_columns(["video", "video_id", "source_id"]).to_dict()
        files = list(map(self.find, columns["video"], columns["video_id"], columns["source_id"]))
        with_files = rows.remove_columns("video").add_column("video", files, feature=_FEATURE)
        return with_files.select_columns(list(features))


def add_videos(loaded: Loaded, folder: Path, addresses: Mapping[str, str] | None = None) -> Loaded:
    """Return what `datasets.load_dataset` gave with the paths of video files, if the dataset has files.

    Files are those in the dataset, or in the folder of videos that its build used. Addresses in remote storage, by
    names of videos in the dataset, stand for paths.

    Returns:
        The same rows, in which ``video`` is ``{"path": ..., "bytes": None}`` or None instead of a relative path. Tables
        without this column, and those of a dataset without files, are returned as they are.
    """
    beside = folder_of_videos(folder)
    paths = sorted(beside.iterdir()) if beside is not None and beside.is_dir() else []
    by_id = {path.stem: path for path in paths if path.suffix.lower() in VIDEO_EXTENSIONS}
    if not by_id and not addresses and next((folder / "videos").rglob("metadata.jsonl"), None) is None:
        return loaded
    files = VideoFiles(folder, by_id, addresses or {})
    if isinstance(loaded, datasets.DatasetDict | datasets.IterableDatasetDict):
        return type(loaded)({split: files.add_to(rows) for split, rows in loaded.items()})
    if isinstance(loaded, list):
        return type(loaded)(files.add_to(rows) for rows in loaded)
    return files.add_to(loaded)
