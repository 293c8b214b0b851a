"""Classify yt-dlp's error messages into a closed list of reasons.

To recognise another message, add a line to `_MESSAGES`.
"""

from __future__ import annotations

import re

from vttdata.errors import VttdataError

BREAKER_REASONS = frozenset({"bot_check", "rate_limit"})
"""Reasons that concern the client rather than the video; further requests would make them worse."""

UNREACHABLE = "unreachable"
"""Reason for a host to which there is no connection: several in a row may come from this machine's network."""

TRANSIENT_REASONS = frozenset({"network", "timeout", UNREACHABLE})
"""Reasons for which the same download is retried at once."""

_MAX_DETAIL_CHARACTERS = 600

# Reason, whether it is permanent, and a pattern of the message; the first match wins.
_MESSAGES: tuple[tuple[str, bool, str], ...] = (
    ("forbidden", True, r"is not a public address"),
    ("rate_limit", False, r"HTTP Error 429|too many requests|rate.?limit|content isn.t available, try again later"),
    ("rate_limit", False, r"blocked by server \(\d+\)|rejected by server \(\d+\)"),
    ("bot_check", False, r"not a bot\b|anti-bot|captcha|unusual traffic"),
    ("age", True, r"confirm your age|age.?(restrict|gate|limit|verif)|inappropriate for some users|mature audience"),
    ("geo_blocked", True, r"geo.?(restrict|block)|your (current )?(country|region|location|territory)"),
    ("geo_blocked", True, r"HTTP Error 451|not available outside"),
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
    (UNREACHABLE, False, r"connect timeout|connection refused|failed to resolve|name or service not known"),
    (UNREACHABLE, False, r"name resolution|getaddrinfo|no address associated|unreachable|no route to host"),
    ("timeout", False, r"timed? ?out"),
    ("network", False, r"HTTP Error (5\d\d|408)|connection (reset|aborted|broken)|remote end closed"),
    ("network", False, r"more expected|incompleteread|did not get any data|\bSSL\b|certificate|\bproxy\b"),
    ("network", False, r"TransportError|new connection|got error|content too short|unable to download json metadata"),
)
_PATTERNS = tuple((reason, permanent, re.compile(pattern, re.IGNORECASE)) for reason, permanent, pattern in _MESSAGES)
_ERROR = re.compile(r"^ERROR:(.*?)(?=^(?:ERROR|WARNING):|\Z)", re.DOTALL | re.MULTILINE)
_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_REPORT = re.compile(r"[;.,]? *please report this issue on .*", re.IGNORECASE | re.DOTALL)
_ADDRESS_IN_MEMORY = re.compile(r" at 0x[0-9a-f]+", re.IGNORECASE)
_ORIGIN = re.compile(r"^\[[\w:+. -]+\] .*?: ")
_URL = re.compile(r"https?://\S+", re.IGNORECASE)


class FetchError(VttdataError):
    """Video that could not be fetched.

    Args:
        reason: ``removed``, ``private``, ``geo_blocked``, ``age``, ``bot_check``, ``rate_limit``, ``forbidden`` (HTTP
            403, or a link to an address inside of the user's network), ``unreachable`` (no connection to the host),
            ``network``, ``unsupported``, ``too_large``, ``timeout``, ``missing`` (a listed file that does not exist)
            or ``other``.
        detail: description of what happened; yt-dlp's error message where there is one.
        retry: whether a later attempt may succeed; for ``too_large``, with another limit.
    """

    def __init__(self, reason: str, detail: str, retry: bool) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail
        self.retry = retry

    def __reduce__(self) -> tuple[type[FetchError], tuple[str, str, bool]]:
        """Keep all fields when the error is sent to another process."""
        return type(self), (self.reason, self.detail, self.retry)


def classify(text: str) -> tuple[str, bool]:
    """Return the reason for an error message of yt-dlp, and whether it is permanent.

    The video's address and id are ignored: a file called ``private video.mp4`` is not private.
    """
    message = _URL.sub("", _ORIGIN.sub("", text))
    for reason, permanent, pattern in _PATTERNS:
        if pattern.search(message):
            return reason, permanent
    return "other", False


def last_error(stderr: str) -> str:
    """Return yt-dlp's last error on one line, without colours, bug-report advice and memory addresses.

    Without an error this is the last line of `stderr`; without any line it is empty.
    """
    plain = _COLOUR.sub("", stderr)
    errors = _ERROR.findall(plain)
    lines = plain.strip().splitlines()
    text = errors[-1] if errors else (lines[-1] if lines else "")
    text = _ADDRESS_IN_MEMORY.sub("", _REPORT.sub("", text))
    return " ".join(text.split())[:_MAX_DETAIL_CHARACTERS].removeprefix("[download] ")


def fetch_error(stderr: str, code: int) -> FetchError:
    """Return the error to raise after yt-dlp ended with an exit code other than 0."""
    text = last_error(stderr)
    reason, permanent = classify(text)
    return FetchError(reason, text or f"yt-dlp ended with exit code {code} and no message.", retry=not permanent)
