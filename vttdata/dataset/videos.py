"""How the clips' video files go into a dataset: not at all, as files beside the tables, or as bytes in a table.

Tables of annotations never hold videos, so that reading them needs no decoder. The files beside the tables are a folder
that the reader ``videofolder`` of `datasets` opens by itself.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from vttdata.dataset.replace_folder import link_or_copy
from vttdata.errors import VttdataError
from vttdata.ids import is_safe_id
from vttdata.records import Clip
from vttdata.settings import STRICT

MediaMode = Literal["none", "files", "embedded"]
LISTING = "videos/metadata.jsonl"


@dataclass(frozen=True, slots=True)
class PublishSettings:
    """What of the videos a dataset holds.

    Fields:
        media: ``none``: links and times, and checksums of the files that were there; ``files``: the clips' files in
            the folder ``videos``, which `datasets` also opens as a ``videofolder``; ``embedded``: their bytes in a
            configuration ``videos``. None means ``files`` for videos of one's own (a folder, a list, drawn scenes),
            ``none`` for those of others (a search, an official benchmark).
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    media: MediaMode | None = None


def bring_files(dataset: Path, media: Path, clips: Iterable[Clip]) -> dict[str, dict[str, Any]]:
    """Link or copy the clips' files into ``videos/`` beside a list of them; return what the manifest says of them.

    Raises:
        VttdataError: when a file has another name than its clip, is missing, or has changed.
    """
    (dataset / "videos").mkdir()
    files: dict[str, dict[str, Any]] = {}
    with (dataset / LISTING).open("w", encoding="utf-8") as listing:
        for clip, name in _named(clips):
            link_or_copy(media / name, dataset / "videos" / name, clip.media.sha256)
            files[clip.media.video] = {"sha256": clip.media.sha256, "bytes": clip.media.bytes}
            line = {"file_name": name, "video_id": clip.video_id, "split": clip.split or "train"}
            listing.write(json.dumps(line) + "\n")
    return files


def video_rows(media: Path, clips: Iterable[Clip]) -> Iterator[dict[str, Any]]:
    """The rows of the configuration ``videos``; one file at a time is in memory.

    Raises:
        VttdataError: as `bring_files`.
    """
    for clip, name in _named(clips):
        try:
            content = (media / name).read_bytes()
        except OSError as error:
            raise VttdataError(
                f"{media / name}: the clip's file cannot be read ({error.strerror or error})."
            ) from error
        if hashlib.sha256(content).hexdigest() != clip.media.sha256:
            raise VttdataError(f"{media / name}: the clip's content has changed; delete the file and build again.")
        yield {"video_id": clip.video_id, "video": {"bytes": content, "path": name}}


def _named(clips: Iterable[Clip]) -> Iterator[tuple[Any, str]]:
    """The clips that have a file, each file once, with the file's name."""
    seen: set[str] = set()
    for clip in clips:
        if clip.media is None or clip.media.video in seen:
            continue
        seen.add(clip.media.video)
        folder, _, name = clip.media.video.partition("/")
        if folder != "videos" or not is_safe_id(name) or not name.startswith(f"{clip.video_id}."):
            raise VttdataError(f"Clip {clip.video_id}: its file is called {clip.media.video!r}.")
        yield clip, name
