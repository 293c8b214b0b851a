"""Run yt-dlp as a subprocess, with the options that all calls share, retry it, and classify its errors.

The user's configuration, plugins and caches are ignored, and no address is ever read as an option. Error messages fall
into a closed list of reasons: by yt-dlp's class of error where it has one, and else by words. To recognise another
message, add a line to `_MESSAGES`.
"""

from __future__ import annotations

import email.utils
import errno
import importlib.util
import os
import re
import shutil
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from vttdata.collect.settings import CollectSettings
from vttdata.collect.ytdlp_program import ERROR_CLASS, EXTERNAL, RETRY_AFTER
from vttdata.errors import DISK_ERRORS, HaltError, VttdataError
from vttdata.files.addresses import ADDRESS, hide_secrets
from vttdata.ids import MAX_EXTERNAL_ID_LENGTH, is_safe_id
from vttdata.public_hosts import NOT_PUBLIC
from vttdata.subprocesses import Completed, run

_PROGRAM = Path(__file__).with_name("ytdlp_program.py")
_COOKIES = "cookies.txt"
# What yt-dlp and a JavaScript runtime take for themselves.
BASE_MEMORY = 2**29
# The text of Python's MemoryError is empty.
_OUT_OF_MEMORY = re.compile(
    rf"^ERROR:\s*$|\bMemoryError\b|\[Errno {errno.ENOMEM}\]|{re.escape(os.strerror(errno.ENOMEM))}", re.MULTILINE
)

# What fails here whatever the video: yt-dlp's exit code for options, its class for cookies, and words.
_BAD_OPTIONS = 2
_COOKIE_ERROR = "CookieLoadError"
_LOCAL_ERRORS = "|".join(str(number) for number in (*DISK_ERRORS, errno.ENAMETOOLONG))
_LOCAL = re.compile(rf"\[Errno ({_LOCAL_ERRORS})\]|\bffmpeg not found", re.IGNORECASE)

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

BREAKER_REASONS = frozenset({"bot_check", "rate_limit"})
"""Reasons that concern the client rather than the video; further requests would make them worse."""

UNREACHABLE = "unreachable"
"""Reason for a host to which there is no connection: several in a row may come from this machine's network."""

TRANSIENT_REASONS = frozenset({"network", "timeout", UNREACHABLE})
"""Reasons for which the same download is retried at once."""

_MAX_DETAIL_CHARACTERS = 600

# Numbers of an `OSError` that mean that there is no connection to a host.
_NO_CONNECTION = "|".join(
    str(number)
    for number in (
        *(errno.ECONNREFUSED, errno.EHOSTUNREACH, errno.ENETUNREACH, errno.ENETDOWN),
        *(socket.EAI_NONAME, socket.EAI_AGAIN, socket.EAI_FAIL),
    )
)

# Class of error of yt-dlp -> reason, and whether it is permanent.
_CLASSES = {"GeoRestrictedError": ("geo_blocked", True), "UserNotLive": ("not_yet", False)}

# Where a site says that a video may be seen: words before "country", and the whole in other languages.
_PLACE = r"(current )?(countr(y|ies)|regions?|locations?|territor(y|ies)|areas?)"
_FOREIGN_PLACE = (
    r"in (deinem|ihrem) (land|gebiet)|in (deiner|ihrer) region|(dans )?(votre|ton) (pays|région|zone)|zone géographique"
    r"|en (tu|su) (país|región|zona|ubicación)|(no|em|na) (seu|teu|sua|tua) (país|região)|nel tuo paese"
    r"|nella tua (zona|area)|area geografica|in (jouw|uw|je) (land|regio)|(w|na) twoi[mc]h? kraju|i (ditt|dit) land"
    r"|maassasi|sijaintisi|вашей? (стран|регион)|вашем регионе"
    r"|地域(で|から|に)|お住まいの|(所在的?|您的)(国家|地区|地區)"
)

# Reason, whether it is permanent, and a pattern of the message; the first match wins.
_MESSAGES: tuple[tuple[str, bool, str], ...] = (
    ("forbidden", True, NOT_PUBLIC),
    ("unsupported", True, EXTERNAL),
    # Which of both it is, nobody says; that of the client would stop the build.
    ("private", False, r"rate.?limit.{0,30}\bor\b.{0,30}log.?in|log.?in.{0,30}\bor\b.{0,30}rate.?limit"),
    ("rate_limit", False, r"HTTP Error 429|too many requests|rate.?limit|content isn.t available, try again later"),
    ("rate_limit", False, r"blocked by server \(\d+\)|rejected by server \(\d+\)"),
    ("bot_check", False, r"not a bot\b|anti-bot|captcha|unusual traffic"),
    ("age", True, r"confirm your age|age.?(restrict|gate|limit|verif)|inappropriate for some users|mature audience"),
    ("geo_blocked", True, rf"geo.?(restrict|block)|geographic|\b(your|this|certain|some|the following) {_PLACE}\b"),
    ("geo_blocked", True, r"HTTP Error 451|(available|accessible|viewable) outside|by decision of the .* government"),
    ("geo_blocked", True, r"(available|licensed) in (?!HD|high)[\w .]{3,30} only\b|" + _FOREIGN_PLACE),
    ("geo_blocked", True, r"only (available|licensed|viewable) (to users )?(with)?in (?!HD|high|your|an? |the app)"),
    (
        "removed",
        True,
        r"ended.{0,20}(no archive|replay is disabled|VOD is not)|neither archive|(stream|link) (has|is) expired",
    ),
    ("removed", True, r"offline (because|due)|most likely expired|content not found"),
    (
        "not_yet",
        False,
        r"\bpremier(e|ing)s?\b.{0,20}\b(in|will|on|at|begin|shortly)\b|(not|n't) (yet )?(started|begun)",
    ),
    (
        "not_yet",
        False,
        r"(live|event|stream|broadcast|program|premiere|episode|video).{0,30}\bwill (begin|start|be avail)",
    ),
    (
        "not_yet",
        False,
        r"scheduled (for|to start)|time .{0,40}left before|only available after|not (yet available|available yet)",
    ),
    ("not_yet", False, r"(is|are|re|still|currently|be) (being )?(uploading|processing|processed)\b"),
    (
        "not_yet",
        False,
        r"(not (currently )?|n't (currently )?|find on-air .*)(live|channel)\b(?! recording)|\bauto-playing",
    ),
    (
        "not_yet",
        False,
        r"\bis (now )?offline|(live|stream|event|broadcast)\w*( event)? (has|was|have) ended|not downloadable yet",
    ),
    ("not_yet", False, r"ended.{0,30}available shortly|no active streams|livestream is not available"),
    ("private", True, r"private video|is private|been granted access|join this channel|members.only|channel.s members"),
    ("private", True, r"log ?in required|need to log in|logged.in|registered users|requires? (payment|authentication)"),
    ("private", True, r"premium members|supporter.only|for subscribers|password|HTTP Error 40[12]\b"),
    ("removed", False, r"video unavailable\. this content isn.t available"),
    ("removed", True, r"(been|was) (removed|deleted|taken down|terminated)|copyright claim"),
    ("removed", True, r"no longer (available|exists)"),
    ("removed", True, r"(video|tweet|post|media|event|episode) (is |#\d+ is )?(unavailable|not available)"),
    ("removed", True, r"does(n.t| not) exist|(video|page|post|space) not found|HTTP Error 4(04|10)\b"),
    ("too_large", True, r"larger than max-filesize"),
    ("forbidden", False, r"HTTP Error 403|access denied|IP (address )?(may be|is) blocked"),
    ("unsupported", True, r"unsupported url|is not a valid url|redirect loop|does not pass filter|\bDRM\b"),
    ("unsupported", True, r"no video formats found|requested format is not available|only images are available"),
    ("unsupported", True, r"no video (in|could be found)|is not a video"),
    (UNREACHABLE, False, rf"\[Errno ({_NO_CONNECTION})\]"),
    (UNREACHABLE, False, r"connect timeout|connection refused|failed to resolve|name or service not known"),
    (UNREACHABLE, False, r"name resolution|getaddrinfo|no address associated|unreachable|no route to host"),
    ("timeout", False, r"timed? ?out"),
    ("network", False, r"HTTP Error (5\d\d|408)|connection (reset|aborted|broken)|remote end closed"),
    ("network", False, r"more expected|incompleteread|did not get any data|\bSSL\b|certificate|\bproxy\b"),
    ("network", False, r"TransportError|new connection|got error|content too short|unable to download json metadata"),
    ("network", False, r"error on server.side|temporarily unavailable|network error|error occurred while receiving"),
    # Wide nets, after all that is certain.
    ("forbidden", False, r"\bIP (address )?is (likely )?(being )?(blocked|unable)|TLS fingerprint|suspected"),
    (
        "private",
        True,
        r"log ?in (is )?(required|needed)|(unable to|failed to|asks you to) log ?in|login failed|\blocked\b",
    ),
    (
        "private",
        True,
        r"\bpremium\b|for (members|\w+ members)|subscri(be|bed|ption)\b|purchas|\bpaid\b|pay for|tickets?\b",
    ),
    (
        "private",
        True,
        r"(not|n't) have (access|permission)|not (authori[sz]ed|subscribed)|private (show|subreddit|playlist)",
    ),
    ("private", True, r"(account|authentication|cookies) (is|are) (needed|required)|log ?in to (view|access|watch)"),
    ("private", True, r"(requires?|may need) (a )?(log ?in|account)|log ?in details|opted in|use --(cookies|username)"),
    (
        "private",
        True,
        r"tokens? .{0,20}(expired|invalid)|expired token|authorization lost|participating TV|invalid user ?name",
    ),
    ("removed", True, r"(show|track|channel|stream|clip|content)\b.{0,20} not (found|available)|expired or no episode"),
    (
        "removed",
        True,
        r"\bno such\b|no .{1,40} exists|is (currently )?un(available|playable)|video \S+ is not available",
    ),
    ("unsupported", True, r"not a video|(\b(no|not|find|without)|n't) .{0,30}(video|audio|media|download|source)s?\b"),
    (
        "unsupported",
        True,
        r"\b(is|are|not) (no longer |and will not be )?(not )?supported|invalid url|not a file|embed",
    ),
)
_PATTERNS = tuple((reason, permanent, re.compile(pattern, re.IGNORECASE)) for reason, permanent, pattern in _MESSAGES)
_ERROR = re.compile(r"^ERROR:(.*?)(?=^(?:ERROR|WARNING):|\Z)", re.DOTALL | re.MULTILINE)
_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_REPORT = re.compile(r"[;.,]? *please report this issue on .*", re.IGNORECASE | re.DOTALL)
_ADDRESS_IN_MEMORY = re.compile(r" at 0x[0-9a-f]+", re.IGNORECASE)
_ORIGIN = re.compile(r"^\[[\w:+. -]+\] .*?: ")
_RETRY_AFTER, _CLASS = (re.compile(rf"^{name}'(.+)'$", re.MULTILINE) for name in (RETRY_AFTER, ERROR_CLASS))

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
    """Run yt-dlp once in a private folder, which is its working folder and gets a copy of the cookies.

    The address, a URL or a search, is passed after ``--`` and therefore never an option. The limits are wall-clock
    seconds, and bytes of everything in the folder.

    Raises:
        FetchError: with the reason of yt-dlp's error, ``timeout`` or ``too_large``.
        HaltError: if yt-dlp cannot fetch any video here, because it, ffmpeg, or a setting such as the cookies is of no
            use, or files cannot be written.
    """
    if importlib.util.find_spec("yt_dlp") is None:
        raise HaltError("yt-dlp is not installed; run `pip install 'vttdata[build]'`.")
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
        error = fetch_error(done.stderr, done.code)
        is_local = done.code == _BAD_OPTIONS or error_class(done.stderr) == _COOKIE_ERROR
        if is_local or _LOCAL.search(message_of(error.detail)):
            raise HaltError(f"No video can be fetched, since yt-dlp ended with '{error.detail.rstrip('.')}'.")
        raise error
    return done


def too_large(settings: CollectSettings) -> FetchError:
    """Return the error for a video above the size limit."""
    limit = settings.limits.megabytes_per_item
    return FetchError("too_large", f"larger than the limit of {limit:g} MB.", retry=True)


def retry_download(action: Callable[[float], Result], settings: CollectSettings) -> Result:
    """Call `action` with the seconds left until it succeeds, fails permanently or the time of one item is over.

    The settings give the number of retries, the first pause (each further one is twice as long) and the limit. A server
    that says how long to wait is asked again after that time, whatever its reason.
    """
    deadline = time.monotonic() + settings.limits.seconds_per_item
    left, pause = settings.retries, settings.backoff_seconds
    while True:
        try:
            return action(deadline - time.monotonic())
        except FetchError as error:
            wait = max(pause, error.wait or 0.0)
            exhausted = left == 0 or time.monotonic() + wait >= deadline
            if exhausted or (error.reason not in TRANSIENT_REASONS and error.wait is None):
                raise
        time.sleep(wait)
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


def clean_field(value: object) -> str | None:
    """Return a site's text for use in a table: at most 1000 characters, without surrogates, None if empty."""
    if not isinstance(value, str):
        return None
    return value.encode("utf-8", "replace").decode().strip()[:1000] or None


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
            (folder / _COOKIES).touch(mode=0o600)
            shutil.copyfile(settings.cookies, folder / _COOKIES)
        except OSError as error:
            reason = error.strerror or error
            raise HaltError(f"{settings.cookies}: the cookie file cannot be read ({reason}).") from error
        options.append(f"--cookies={_COOKIES}")
    for name in ("cookies_from_browser", "proxy"):
        if getattr(settings, name):
            options.append(f"--{name.replace('_', '-')}={getattr(settings, name)}")
    if settings.js_runtime:
        options.append(f"--js-runtimes={settings.js_runtime}")
    return options


class FetchError(VttdataError):
    """Video that could not be fetched.

    Args:
        reason: ``removed``, ``private``, ``geo_blocked``, ``age``, ``not_yet`` (a premiere or stream before its start,
            after its end or while it is processed), ``bot_check``, ``rate_limit``, ``forbidden`` (HTTP 403, or a link
            to an address inside of the user's network), ``unreachable`` (no connection to the host), ``network``,
            ``unsupported``, ``too_large``, ``timeout``, ``missing`` (a listed file that does not exist) or ``other``.
        detail: description of what happened; yt-dlp's error message where there is one.
        retry: whether a later attempt may succeed; for ``too_large``, with another limit.
        wait: seconds after which the server wants to be asked again, if it says so.
    """

    def __init__(self, reason: str, detail: str, retry: bool, wait: float | None = None) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail
        self.retry = retry
        self.wait = wait

    def __reduce__(self) -> tuple[type[FetchError], tuple[str, str, bool, float | None]]:
        """Keep all fields when the error is sent to another process."""
        return type(self), (self.reason, self.detail, self.retry, self.wait)


def message_of(text: str) -> str:
    """Return an error message of yt-dlp without the video's id and addresses.

    A file called ``private video.mp4`` is not private, and the same fault of another video has the same message.
    """
    return ADDRESS.sub("", _ORIGIN.sub("", text))


def classify(text: str) -> tuple[str, bool]:
    """Return the reason for an error message of yt-dlp, and whether it is permanent."""
    message = message_of(text)
    for reason, permanent, pattern in _PATTERNS:
        if pattern.search(message):
            return reason, permanent
    return "other", False


def last_error(stderr: str) -> str:
    """Return yt-dlp's last error on one line, without colours, bug-report advice and memory addresses.

    Addresses in it lose what signs or authorises them. Without an error this is the last line of `stderr`; without any
    line it is empty.
    """
    plain = _CLASS.sub("", _RETRY_AFTER.sub("", _COLOUR.sub("", stderr)))
    errors = _ERROR.findall(plain)
    lines = plain.strip().splitlines()
    text = errors[-1] if errors else (lines[-1] if lines else "")
    text = hide_secrets(_ADDRESS_IN_MEMORY.sub("", _REPORT.sub("", text)))
    return " ".join(text.split())[:_MAX_DETAIL_CHARACTERS].removeprefix("[download] ")


def fetch_error(stderr: str, code: int) -> FetchError:
    """Return the error to raise after yt-dlp ended with an exit code other than 0."""
    text = last_error(stderr)
    reason, permanent = _CLASSES.get(error_class(stderr)) or classify(text)
    detail = text or f"yt-dlp ended with exit code {code} and no message."
    return FetchError(reason, detail, retry=not permanent, wait=seconds_to_wait(stderr))


def error_class(stderr: str) -> str:
    """Return the name of the class of yt-dlp's last error; empty for an error that is no exception."""
    return next(reversed(_CLASS.findall(stderr)), "")


def seconds_to_wait(stderr: str) -> float | None:
    """Return the seconds of the last ``Retry-After`` header (RFC 9110, section 10.2.3) that was printed, if any."""
    values = _RETRY_AFTER.findall(stderr)
    if not values:
        return None
    if re.fullmatch(r"[0-9]{1,9}", values[-1]):
        return float(values[-1])
    try:
        return max(email.utils.parsedate_to_datetime(values[-1]).timestamp() - time.time(), 0.0)
    except (ValueError, OverflowError):
        return None
