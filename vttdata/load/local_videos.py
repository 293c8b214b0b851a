"""Give loaded rows the paths of their video files on this machine, as a column of the type `datasets.Video`.

Tables hold paths relative to their folder, which are the same on every machine. Nothing is decoded here.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import datasets

from vttdata.files.reading import is_inside, links_out
from vttdata.ids import VIDEO_EXTENSIONS
from vttdata.load.local_builds import folder_of_videos

_NAMES = ("video", "video_id", "source_id")
# Decoding at each access to a row would need torchcodec, and open a file for every caption that is read.
_FEATURE = datasets.Video(decode=False)


def add_local_videos(loaded: Any, folder: Path, addresses: Mapping[str, str] | None = None) -> Any:
    """Return what `datasets.load_dataset` gave with the paths of video files, if the dataset has files on this machine.

    If the build that the dataset lies in used a folder of `videos`, rows have its files ``<video_id>.<extension>`` or
    ``<source_id>.<extension>``. Addresses in remote storage, by names of videos in the dataset, stand for paths.

    Returns:
        The same rows, in which ``video`` is ``{"path": ..., "bytes": None}`` or None instead of a relative path. Tables
        without this column, and those of a dataset without files, are returned as they are.
    """
    beside = folder_of_videos(folder)
    paths = sorted(beside.iterdir()) if beside is not None and beside.is_dir() else []
    by_id = {path.stem: path for path in paths if path.suffix.lower() in VIDEO_EXTENSIONS}
    if not by_id and not addresses and next((folder / "videos").rglob("metadata.jsonl"), None) is None:
        return loaded

    def find_file(video: str | None, *ids: str) -> dict[str, Any] | None:
        if addresses:
            return {"path": addresses[video], "bytes": None} if video is not None and video in addresses else None
        path = folder / video if video is not None else next((by_id[name] for name in ids if name in by_id), None)
        # Tables may come from anybody, and must name no other file of this machine.
        is_own = path is not None and (video is None or (is_inside(video) and not links_out(folder, path)))
        is_video = path is not None and is_own and path.is_file()
        return {"path": str(path.resolve()), "bytes": None} if path is not None and is_video else None

    def add(rows: Any) -> Any:
        features = rows.features
        if features is None or any(features.get(name) != datasets.Value("string") for name in _NAMES):
            return rows
        if isinstance(rows, datasets.IterableDataset):
            playable = datasets.Features(features | {"video": _FEATURE})
            return rows.map(lambda row: {"video": find_file(*(row[name] for name in _NAMES))}, features=playable)
        columns = rows.select_columns(list(_NAMES)).to_dict()
        files = list(map(find_file, *(columns[name] for name in _NAMES)))
        return rows.remove_columns("video").add_column("video", files, feature=_FEATURE).select_columns(list(features))

    if isinstance(loaded, datasets.DatasetDict | datasets.IterableDatasetDict):
        return type(loaded)({split: add(rows) for split, rows in loaded.items()})
    return add(loaded)
