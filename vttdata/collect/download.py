"""Turns a candidate into a source: reads a listed file where it lies, or fetches a URL into the build's store.

Success means that a file exists, is complete as far as the server says and is not empty. Whether it can be decoded
is for a later step to find out.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from vttdata.collect.settings import CollectSettings
from vttdata.collect.ytdlp import call, retrying, site_id, text_of, too_large
from vttdata.collect.ytdlp_errors import FetchError
from vttdata.media.ffmpeg import ffmpeg_path
from vttdata.records import Candidate, Source
from vttdata.subprocesses import Completed

_PREFIX = ".fetch-"
_NAME = "video"
_INFO = f"{_NAME}.info.json"
_UNFINISHED = (".part", ".ytdl", ".json", ".temp")
_EXTENSION = re.compile(r"\.[a-z0-9]{1,5}")
_MEGABYTE = 1_000_000
_ONE_VIDEO = "!is_live & n_entries<?2"


def fetch(candidate: Candidate, *, originals: Path, store: Path, settings: CollectSettings) -> Source:
    """Get hold of one candidate's video.

    Args:
        candidate: what was listed. Its own id, title, category, query, licence and spans go before the site's.
        originals: the folder that was listed, to which the locators of files are relative.
        store: the folder where fetched videos are kept, as ``<source_id>-<start of its sha256>.<extension>``.
        settings: limits, retries and what yt-dlp is to be told.

    Returns:
        A `Source` without probe and measure. Its id is the candidate's; else the site's (``youtube-...``); else, for
        files and direct links, ``v`` and the first 16 hexadecimal digits of the file's sha256.

    Raises:
        FetchError: when there is no video to be had, with a reason.
        VttdataError: when nothing can be fetched at all: no yt-dlp, no ffmpeg or no cookie file.
        OSError: when the store cannot be written.
    """
    if candidate.kind == "file":
        return _listed(candidate, originals)
    time.sleep(settings.sleep_seconds)
    with _private_folder(store) as folder:
        done = retrying(lambda seconds: _download(candidate.locator, folder, settings, seconds), settings)
        video = _downloaded(folder, done, settings)
        return _stored(candidate, video, _information(folder), store)


def sweep(store: Path) -> None:
    """Delete what killed downloads left behind in `store`; nobody else may be fetching into it meanwhile."""
    for folder in store.glob(f"{_PREFIX}*"):
        shutil.rmtree(folder, ignore_errors=True)


def format_choice(max_height: int) -> str:
    """The yt-dlp format expression: H.264 up to `max_height` first, then other codecs, then greater heights.

    AV1 is never taken. yt-dlp prefers it by default, and some decoders open it and see no frame at all (measured with
    the OpenCV wheel). Above the height limit the smallest picture is taken.
    """
    h264 = "[vcodec~='^(?:avc|h264)']"
    no_av1 = "[vcodec!~=?'^(?:av01|av1)']"
    height = f"[height<=?{max_height}]"
    return "/".join(
        (
            f"bv*{h264}{height}+ba[ext=m4a]",
            f"bv*{h264}{height}+ba",
            f"b{h264}{height}",
            f"bv*{no_av1}{height}+ba",
            f"b{no_av1}{height}",
            f"wv*{h264}+ba[ext=m4a]",
            f"w{h264}",
            f"wv*{no_av1}+ba",
            f"w{no_av1}",
        )
    )


def _listed(candidate: Candidate, originals: Path) -> Source:
    path = originals / candidate.locator
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise FetchError("missing", "what was listed is not a regular file.", retry=False)
        sha256 = _sha256(path)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise FetchError("missing", f"the listed file cannot be read: {why}.", retry=False) from error
    return Source(
        source_id=candidate.source_id or _content_id(sha256),
        file=candidate.locator,
        stored="listed",
        sha256=sha256,
        bytes=status.st_size,
        title=candidate.title,
        category=candidate.category,
        query=candidate.query,
        licence=candidate.licence,
        spans=candidate.spans,
    )


@contextlib.contextmanager
def _private_folder(store: Path) -> Iterator[Path]:
    store.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=store))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _download(url: str, folder: Path, settings: CollectSettings, seconds: float) -> Completed:
    limit = int(settings.limits.megabytes_per_item * _MEGABYTE)
    options = [
        "--no-playlist",
        "--playlist-items=1:2",  # enough to notice a list, which the filter then refuses
        f"--match-filters={_ONE_VIDEO}",
        f"--format={format_choice(settings.max_height)}",
        f"--max-filesize={limit}",
        "--abort-on-unavailable-fragments",
        "--no-mtime",
        "--write-info-json",
        "--no-write-playlist-metafiles",
        f"--output={_NAME}.%(ext)s",
        f"--ffmpeg-location={ffmpeg_path()}",
    ]
    room = 2 * limit + _MEGABYTE  # while picture and sound are joined, both lie there twice
    return call(options, url, folder=folder, settings=settings, seconds=seconds, max_bytes=room)


def _downloaded(folder: Path, done: Completed, settings: CollectSettings) -> Path:
    """The one complete file that yt-dlp left; its exit code alone says little."""
    if "larger than max-filesize" in done.stdout:
        raise too_large(settings)
    if "does not pass filter" in done.stdout:
        raise FetchError("unsupported", "the address is a list of videos or a live stream, not one video.", retry=False)
    found = [path for path in folder.glob(f"{_NAME}.*") if path.suffix not in _UNFINISHED]
    if len(found) != 1 or found[0].stat().st_size == 0:
        raise FetchError("other", "yt-dlp reported success but left no video.", retry=True)
    if found[0].stat().st_size > settings.limits.megabytes_per_item * _MEGABYTE:
        raise too_large(settings)
    return found[0]


def _information(folder: Path) -> dict[str, Any]:
    try:
        value = json.loads((folder / _INFO).read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _stored(candidate: Candidate, video: Path, info: dict[str, Any], store: Path) -> Source:
    sha256, size = _sha256(video), video.stat().st_size
    found = site_id(info.get("extractor_key"), info.get("id"))
    source_id = candidate.source_id or found or _content_id(sha256)
    suffix = video.suffix.lower()
    name = f"{source_id}-{sha256[:8]}{suffix if _EXTENSION.fullmatch(suffix) else '.media'}"
    os.replace(video, store / name)
    return Source(
        source_id=source_id,
        file=name,
        stored="fetched",
        sha256=sha256,
        bytes=size,
        url=candidate.locator,
        title=candidate.title or text_of(info.get("title")),
        uploader=text_of(info.get("uploader")) or text_of(info.get("channel")),
        category=candidate.category,
        query=candidate.query,
        licence=candidate.licence or text_of(info.get("license")),
        format=text_of(info.get("format_id")),
        spans=candidate.spans,
    )


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _content_id(sha256: str) -> str:
    return f"v{sha256[:16]}"
