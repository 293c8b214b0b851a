"""Calls yt-dlp as a program of its own: the options that every call shares, retries, and what it says of a video.

No user configuration, plugin or cache takes part, and no address is ever read as an option.
"""

from __future__ import annotations

import importlib.util
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from vttdata.collect.settings import CollectSettings
from vttdata.collect.ytdlp_errors import TRANSIENT_REASONS, FetchError, failure
from vttdata.errors import VttdataError
from vttdata.ids import MAX_EXTERNAL_ID_LENGTH, is_safe_id
from vttdata.subprocesses import Completed, run

_COOKIES = "cookies.txt"
_TEXT_CHARACTERS = 1000
_ALWAYS = (
    "--ignore-config",
    "--no-plugin-dirs",
    "--no-cache-dir",
    "--no-update",
    "--no-exec",
    "--no-warnings",
    "--no-progress",
    "--color=never",
    "--xff=never",  # a site's geo restriction is recorded, not walked around
)

Result = TypeVar("Result")


def call(
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
        options: what this call adds to the shared options.
        address: a URL or a search; it stands behind ``--`` and so is never an option.
        folder: a private folder, where it works and where its copy of the cookies goes.
        settings: cookies, proxy, timeouts and retries to pass on.
        seconds: wall-clock limit.
        max_bytes: limit for all that it writes.

    Raises:
        FetchError: with the reason that yt-dlp gave, ``timeout`` or ``too_large``.
        VttdataError: when yt-dlp is not installed or the cookie file is missing.
    """
    command = [*_program(), *_ALWAYS, *_connection(settings, folder), *options, "--", address]
    done = run(command, seconds=seconds, folder=folder, max_bytes=max_bytes)
    if done.stopped == "timeout":
        limit = settings.limits.seconds_per_item
        raise FetchError("timeout", f"not finished within the limit of {limit:g} s.", retry=True)
    if done.stopped == "too_large":
        raise too_large(settings)
    if done.code != 0:
        raise failure(done.stderr, done.code)
    return done


def too_large(settings: CollectSettings) -> FetchError:
    """The error for a video above the size limit, which may be another one next time."""
    limit = settings.limits.megabytes_per_item
    return FetchError("too_large", f"larger than the limit of {limit:g} MB.", retry=True)


def retrying(action: Callable[[float], Result], settings: CollectSettings) -> Result:
    """Call `action` until it succeeds, fails for good or the wall-clock limit of one item is used up.

    Args:
        action: is given the seconds that are left.
        settings: number of retries, first pause (each further one is twice as long) and wall-clock limit.
    """
    deadline = time.monotonic() + settings.limits.seconds_per_item
    left, pause = settings.retries, settings.backoff_seconds
    while True:
        try:
            return action(deadline - time.monotonic())
        except FetchError as error:
            hopeless = left == 0 or time.monotonic() + pause >= deadline
            if hopeless or error.reason not in TRANSIENT_REASONS:
                raise
        time.sleep(pause)
        left, pause = left - 1, pause * 2


def site_id(extractor: object, identifier: object) -> str | None:
    """A source's id from the site's name and the site's own id, as in ``youtube-dQw4w9WgXcQ``.

    None for direct links and unknown sites, whose ids are mere file names, and for ids that could not be file names.
    """
    if not isinstance(extractor, str) or not isinstance(identifier, str) or extractor.lower() in ("generic", "html5"):
        return None
    joined = f"{extractor.lower()}-{identifier}"
    return joined if is_safe_id(joined, MAX_EXTERNAL_ID_LENGTH) else None


def text_of(value: Any) -> str | None:
    """A text that a site gave, fit for a table: at most 1000 characters, without surrogates, None where empty."""
    if not isinstance(value, str):
        return None
    return value.encode("utf-8", "replace").decode().strip()[:_TEXT_CHARACTERS] or None


def _program() -> list[str]:
    if importlib.util.find_spec("yt_dlp") is None:
        raise VttdataError("yt-dlp is not installed; run `pip install 'vttdata[build]'`.")
    return [sys.executable, "-P", "-X", "utf8", "-m", "yt_dlp"]


def _connection(settings: CollectSettings, folder: Path) -> list[str]:
    options = [
        f"--socket-timeout={settings.socket_timeout_seconds:g}",
        "--retries=0",  # a broken transfer is taken up again by `retrying`
        f"--fragment-retries={settings.retries}",
        f"--extractor-retries={settings.retries}",
    ]
    if settings.backoff_seconds:
        wait = f"exp={settings.backoff_seconds:g}:{settings.limits.seconds_per_item:g}"
        options += [f"--retry-sleep=fragment:{wait}", f"--retry-sleep=extractor:{wait}"]
    if settings.kilobytes_per_second:
        options.append(f"--limit-rate={max(int(settings.kilobytes_per_second * 1000), 1)}")
    if settings.cookies:
        options.append(f"--cookies={_copied_cookies(Path(settings.cookies), folder)}")
    for name in ("cookies_from_browser", "proxy"):
        if getattr(settings, name):
            options.append(f"--{name.replace('_', '-')}={getattr(settings, name)}")
    if settings.js_runtime:
        options.append(f"--js-runtimes={settings.js_runtime}")
    return options


def _copied_cookies(cookies: Path, folder: Path) -> str:
    """yt-dlp writes its cookie file back at the end, which parallel downloads must not do to the user's."""
    try:
        shutil.copyfile(cookies, folder / _COOKIES)
    except OSError as error:
        raise VttdataError(f"{cookies}: the cookie file cannot be read ({error.strerror or error}).") from error
    return _COOKIES
