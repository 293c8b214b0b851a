"""Turn a candidate into a source: read a listed file where it is, or download a URL into the build's folder.

Success means that a file exists, is complete as far as the server says, and is not empty. Whether it can be decoded is
checked by a later stage.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import stat
import tempfile
import time
from pathlib import Path

from vttdata.collect.settings import CollectSettings
from vttdata.collect.video_list import MISSING, parse_day
from vttdata.collect.ytdlp import (
    MEGABYTE,
    FetchError,
    clean_field,
    retry_download,
    run_ytdlp,
    site_source_id,
    too_large,
)
from vttdata.errors import HaltError, UnavailableError
from vttdata.files.addresses import without_secrets
from vttdata.files.reading import file_sha256
from vttdata.media.ffmpeg_program import ffmpeg_path
from vttdata.records import Candidate, Source
from vttdata.subprocesses import Completed

_UNFINISHED_PREFIX = ".fetch-"
_NAME = "video"
_AUXILIARY_SUFFIXES = (".part", ".ytdl", ".json", ".temp")


def fetch(candidate: Candidate, *, originals: Path, store: Path, settings: CollectSettings) -> Source:
    """Fetch the video of one candidate.

    Args:
        candidate: what was listed. Its id, title, category, query, licence and spans take precedence over the site's.
        originals: the listed folder, to which the locators of files are relative.
        store: folder for downloaded videos, named ``<source_id>-<start of sha256>.<extension>``.
        settings: limits, retries and options of yt-dlp.

    Returns:
        A `Source` without probe and measure. Its id is the candidate's; else the site's (``youtube-...``); else, for
        files and direct links, ``v`` and the first 16 hexadecimal digits of the file's sha256.

    Raises:
        FetchError: if the video cannot be fetched, with a reason.
        UnavailableError: if a listed file was there when it was listed and cannot be read any more.
        HaltError: if no video can be fetched, because yt-dlp, ffmpeg or a setting is of no use.
        OSError: if the store cannot be written.
    """
    if candidate.kind == "file":
        return _read_listed_file(candidate, originals)
    time.sleep(settings.sleep_seconds)
    store.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=_UNFINISHED_PREFIX, dir=store, ignore_cleanup_errors=True) as temporary:
        folder = Path(temporary)
        done = retry_download(lambda seconds: _download(candidate.locator, folder, settings, seconds), settings)
        return _store(candidate, _find_download(folder, done, settings), store)


def remove_unfinished(store: Path) -> None:
    """Delete what interrupted downloads left in `store`; nothing else may be downloading into it."""
    for folder in store.glob(f"{_UNFINISHED_PREFIX}*"):
        shutil.rmtree(folder, ignore_errors=True)


def format_selector(max_height: int) -> str:
    """Return the yt-dlp format expression: H.264 up to `max_height` first, then other codecs, then larger frames.

    AV1, which yt-dlp prefers by default, is never selected: some decoders open it and decode no frame (measured with
    the OpenCV wheel). Above the height limit the smallest video is selected.
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


def _read_listed_file(candidate: Candidate, originals: Path) -> Source:
    path = originals / candidate.locator
    try:
        status = path.stat()
        # Opening a pipe would block.
        if not stat.S_ISREG(status.st_mode):
            raise FetchError("missing", "the listed path is not a regular file.", retry=False)
        sha256 = file_sha256(path)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        if isinstance(error, OSError) and candidate.stamp not in ("", MISSING):
            raise UnavailableError("io_error", f"the listed file cannot be read any more: {reason}.") from error
        raise FetchError("missing", f"the listed file cannot be read: {reason}.", retry=False) from error
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
        uploader=candidate.uploader,
        uploaded=candidate.uploaded,
        synthetic=candidate.synthetic,
    )


def _download(url: str, folder: Path, settings: CollectSettings, seconds: float) -> Completed:
    limit = int(settings.limits.megabytes_per_item * MEGABYTE)
    options = [
        "--no-playlist",
        # Two items are enough to recognise a playlist, which the filter then rejects.
        "--playlist-items=1:2",
        "--match-filters=!is_live & n_entries<?2",
        f"--format={format_selector(settings.max_height)}",
        f"--max-filesize={limit}",
        "--abort-on-unavailable-fragments",
        "--no-mtime",
        "--write-info-json",
        "--no-write-playlist-metafiles",
        f"--output={_NAME}.%(ext)s",
        f"--ffmpeg-location={ffmpeg_path()}",
    ]
    # While video and audio are merged, both are on the disk twice.
    max_bytes = 2 * limit + MEGABYTE
    return run_ytdlp(options, url, folder=folder, settings=settings, seconds=seconds, max_bytes=max_bytes)


def _find_download(folder: Path, done: Completed, settings: CollectSettings) -> Path:
    """Return the complete file that yt-dlp left, since it also exits with 0 when it skips a video."""
    if "larger than max-filesize" in done.stdout:
        raise too_large(settings)
    if "does not pass filter" in done.stdout:
        raise FetchError("unsupported", "the address is a list of videos or a live stream, not one video.", retry=False)
    files = [path for path in folder.glob(f"{_NAME}.*") if path.suffix not in _AUXILIARY_SUFFIXES]
    if len(files) > 1:
        raise HaltError(f"No video can be fetched, since yt-dlp could not merge video and audio with {ffmpeg_path()}.")
    if not files or files[0].stat().st_size == 0:
        raise FetchError("other", "yt-dlp reported success but left no video.", retry=True)
    if files[0].stat().st_size > settings.limits.megabytes_per_item * MEGABYTE:
        raise too_large(settings)
    return files[0]


def _store(candidate: Candidate, video: Path, store: Path) -> Source:
    """Move a download into the store, and describe it by the candidate and by what yt-dlp says of it."""
    info = None
    with contextlib.suppress(OSError, ValueError, RecursionError):
        info = json.loads(video.with_name(f"{_NAME}.info.json").read_bytes())
    info = info if isinstance(info, dict) else {}
    sha256, size = file_sha256(video), video.stat().st_size
    site_id = site_source_id(info.get("extractor_key"), info.get("id"))
    source_id = candidate.source_id or site_id or _content_id(sha256)
    suffix = video.suffix.lower()
    name = f"{source_id}-{sha256[:8]}{suffix if re.fullmatch(r'[.][a-z0-9]{1,5}', suffix) else '.media'}"
    os.replace(video, store / name)
    return Source(
        source_id=source_id,
        file=name,
        stored="fetched",
        sha256=sha256,
        bytes=size,
        url=without_secrets(candidate.locator),
        title=candidate.title or clean_field(info.get("title")),
        uploader=candidate.uploader or clean_field(info.get("uploader")) or clean_field(info.get("channel")),
        category=candidate.category,
        query=candidate.query,
        licence=candidate.licence or clean_field(info.get("license")),
        format=clean_field(info.get("format_id")),
        spans=candidate.spans,
        uploaded=candidate.uploaded or parse_day(info.get("upload_date")),
        synthetic=candidate.synthetic,
    )


def _content_id(sha256: str) -> str:
    return f"v{sha256[:16]}"
