"""Run yt-dlp as a subprocess, with the options that all calls share, and retry it.

The user's configuration, plugins and caches are ignored, and no address is ever read as an option.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from vttdata.collect.settings import CollectSettings
from vttdata.collect.ytdlp_errors import TRANSIENT_REASONS, FetchError, fetch_error
from vttdata.errors import VttdataError
from vttdata.ids import MAX_EXTERNAL_ID_LENGTH, is_safe_id
from vttdata.subprocesses import Completed, run

_PROGRAM = Path(__file__).with_name("ytdlp_program.py")
_COOKIES = "cookies.txt"
_MAX_TEXT_CHARACTERS = 1000
# What yt-dlp and a JavaScript runtime take for themselves.
BASE_MEMORY = 2**29
# The text of Python's MemoryError is empty.
_OUT_OF_MEMORY = re.compile(r"^ERROR:\s*$|\bMemoryError\b|Cannot allocate memory", re.MULTILINE)

MEGABYTE = 1_000_000
"""Unit of ``megabytes_per_item``."""
_COMMON_OPTIONS = (
    "--ignore-config",
    "--no-plugin-dirs",
    "--no-cache-dir",
    "--no-update",
    "--no-exec",
    "--no-warnings",
    "--no-progress",
    "--color=never",
    # A geo restriction is recorded, not circumvented.
    "--xff=never",
)

Result = TypeVar("Result")


def run_ytdlp(
    options: list[str],
    address: str,
    *,
    folder: Path,
    settings: CollectSettings,
    seconds: float,
    max_bytes: int | None = None,
) -> Completed:
    """Run yt-dlp once in `folder`.

    Args:
        options: options in addition to those that all calls share.
        address: a URL or a search; passed after ``--`` and therefore never an option.
        folder: a private folder, which is the working folder and gets a copy of the cookies.
        settings: cookies, proxy, timeouts and retries to pass on.
        seconds: wall-clock limit.
        max_bytes: limit for the size of everything in the folder.

    Raises:
        FetchError: with the reason of yt-dlp's error, ``timeout`` or ``too_large``.
        VttdataError: if yt-dlp is not installed or the cookie file cannot be read.
    """
    if importlib.util.find_spec("yt_dlp") is None:
        raise VttdataError("yt-dlp is not installed; run `pip install 'vttdata[build]'`.")
    program = [sys.executable, "-P", "-X", "utf8", str(_PROGRAM)]
    command = [*program, *_COMMON_OPTIONS, *_connection_options(settings, folder), *options, "--", address]
    max_memory = BASE_MEMORY + int(settings.limits.megabytes_per_item * MEGABYTE)
    done = run(command, seconds=seconds, folder=folder, max_bytes=max_bytes, max_memory=max_memory)
    if done.stopped == "timeout":
        limit = settings.limits.seconds_per_item
        raise FetchError("timeout", f"not finished within the limit of {limit:g} s.", retry=True)
    if done.stopped == "too_large" or (done.code != 0 and _OUT_OF_MEMORY.search(done.stderr)):
        raise too_large(settings)
    if done.code != 0:
        raise fetch_error(done.stderr, done.code)
    return done


def too_large(settings: CollectSettings) -> FetchError:
    """Return the error for a video above the size limit."""
    limit = settings.limits.megabytes_per_item
    return FetchError("too_large", f"larger than the limit of {limit:g} MB.", retry=True)


def retry_download(action: Callable[[float], Result], settings: CollectSettings) -> Result:
    """Call `action` with the seconds left until it succeeds, fails permanently or the time of one item is over.

    The settings give the number of retries, the first pause (each further one is twice as long) and the limit.
    """
    deadline = time.monotonic() + settings.limits.seconds_per_item
    left, pause = settings.retries, settings.backoff_seconds
    while True:
        try:
            return action(deadline - time.monotonic())
        except FetchError as error:
            exhausted = left == 0 or time.monotonic() + pause >= deadline
            if exhausted or error.reason not in TRANSIENT_REASONS:
                raise
        time.sleep(pause)
        left, pause = left - 1, pause * 2


def site_source_id(extractor: object, identifier: object) -> str | None:
    """Return a source id made of the site's name and the site's id, as in ``youtube-dQw4w9WgXcQ``.

    None for direct links and unknown sites, where yt-dlp's id is only a file name, and for ids that are no valid file
    names.
    """
    if not isinstance(extractor, str) or not isinstance(identifier, str) or extractor.lower() in ("generic", "html5"):
        return None
    source_id = f"{extractor.lower()}-{identifier}"
    return source_id if is_safe_id(source_id, MAX_EXTERNAL_ID_LENGTH) else None


def clean_field(value: Any) -> str | None:
    """Return a site's text for use in a table: at most 1000 characters, without surrogates, None if empty."""
    if not isinstance(value, str):
        return None
    return value.encode("utf-8", "replace").decode().strip()[:_MAX_TEXT_CHARACTERS] or None


def _connection_options(settings: CollectSettings, folder: Path) -> list[str]:
    options = [
        f"--socket-timeout={settings.socket_timeout_seconds:g}",
        # `retry_download` resumes a broken transfer.
        "--retries=0",
        f"--fragment-retries={settings.retries}",
        f"--extractor-retries={settings.retries}",
    ]
    if settings.backoff_seconds:
        wait = f"exp={settings.backoff_seconds:g}:{settings.limits.seconds_per_item:g}"
        options += [f"--retry-sleep=fragment:{wait}", f"--retry-sleep=extractor:{wait}"]
    if settings.kilobytes_per_second:
        options.append(f"--limit-rate={max(int(settings.kilobytes_per_second * 1000), 1)}")
    if settings.cookies:
        # yt-dlp writes its cookie file at the end, which parallel downloads must not do to the user's.
        try:
            shutil.copyfile(settings.cookies, folder / _COOKIES)
        except OSError as error:
            reason = error.strerror or error
            raise VttdataError(f"{settings.cookies}: the cookie file cannot be read ({reason}).") from error
        options.append(f"--cookies={_COOKIES}")
    for name in ("cookies_from_browser", "proxy"):
        if getattr(settings, name):
            options.append(f"--{name.replace('_', '-')}={getattr(settings, name)}")
    if settings.js_runtime:
        options.append(f"--js-runtimes={settings.js_runtime}")
    return options
