"""Test the classification of messages that yt-dlp wrote in public reports or that are in its source code."""

from __future__ import annotations

import email.utils
import errno
import pickle
import socket
import sys
import time
from pathlib import Path

import pytest

from vttdata.collect import BREAKER_REASONS, FetchError, classify
from vttdata.collect.ytdlp import fetch_error, last_error, seconds_to_wait
from vttdata.subprocesses import run

PERMANENT = {
    "removed": [
        "[youtube] aaa: Video unavailable. This video has been removed by the uploader",
        "[youtube] aaa: Video unavailable",
        "[youtube] aaa: Video unavailable. This video is no longer available because the YouTube account associated "
        "with this video has been terminated.",
        "[youtube] aaa: This video has been removed for violating YouTube's Terms of Service",
        "[youtube] aaa: Video unavailable. This video contains content from X, who has blocked it on copyright grounds",
        "[youtube] aaa: This video is not available",
        "[generic] gone: Unable to download webpage: HTTP Error 404: Not Found (caused by <HTTPError 404: Not Found>)",
        "[vimeo] 126813964: Unable to download JSON metadata: HTTP Error 410: Gone (caused by <HTTPError 410: Gone>)",
        "[twitter:broadcast] 1: Broadcast no longer exists",
        "[vimeo:event] 1: This event video is unavailable",
    ],
    "private": [
        "[youtube] aaa: Private video. Sign in if you've been granted access to this video. Use --cookies-from-browser "
        "or --cookies for the authentication.",
        "[youtube] aaa: This video is private",
        "[youtube] aaa: Join this channel to get access to members-only content like this video, and other exclusive "
        "perks.",
        "[youtube] aaa: This video is available to this channel's members on level: Gold (or any higher level).",
        "[vimeo] 1: This video is only available for registered users. Use --cookies, --cookies-from-browser, "
        "--username and --password, --netrc-cmd, or --netrc (vimeo) to provide account credentials",
        "[vimeo] 1: This video is protected by a password, use the --video-password option",
        "[youtube] aaa: This video requires payment to watch",
        "[generic] x: Unable to download webpage: HTTP Error 401: Unauthorized (caused by <HTTPError 401>)",
    ],
    "geo_blocked": [
        "[youtube] aaa: Video unavailable. The uploader has not made this video available in your country",
        "[youtube] aaa: The uploader has not made this video available in your country. This video is available in "
        "France. You might want to use a VPN or a proxy server (with --proxy) to bypass this restriction",
        "[youtube] aaa: Video unavailable. This video contains content from X, who has blocked it in your country on "
        "copyright grounds",
        "[bbc] aaa: This video is not available from your location due to geo restriction",
        "[generic] x: Unable to download webpage: HTTP Error 451: Unavailable For Legal Reasons",
        "[lnk] 1: Streaming is not available in your area",
        "[tf1] 1: Ce programme n'est malheureusement pas disponible pour votre zone géographique.",
        "[zdf] 1: Dieses Video ist in deinem Land nicht verfügbar",
        "[youku] 1: Youku said: Sorry, this video is available in China only",
        "[svt] 1: This video is only available in Sweden",
    ],
    "age": [
        "[youtube] aaa: Sign in to confirm your age. This video may be inappropriate for some users. Use "
        "--cookies-from-browser or --cookies for the authentication.",
        "[youtube] aaa: Sign in to confirm your age. The video you have requested has been rated TV-14 and may contain "
        "content intended for mature audiences.",
        "[x] 1: This video is age-restricted",
    ],
    "unsupported": [
        "Unsupported URL: http://127.0.0.1:35237/private-video-removed.html",
        "[youtube] 9rdJJMAd-PA: Requested format is not available. Use --list-formats for a list of available formats",
        "[netflix] 1: This video is DRM protected",
        "[twitter] 1: No video could be found in this tweet",
        "[x] 1: No video formats found!",
        "[generic] loop: Unable to download webpage: HTTP Error 302: Found (redirect loop detected) (caused by "
        "<HTTPError 302: Found>)",
    ],
}
TRANSIENT = {
    "bot_check": [
        "[youtube] qo6eAP-kiu4: Sign in to confirm you\u2019re not a bot. Use --cookies-from-browser or --cookies for "
        "the authentication. See  https://github.com/yt-dlp/yt-dlp/wiki/FAQ#how-do-i-pass-cookies-to-yt-dlp  for how "
        "to manually pass cookies.",
        "[youtube] aaa: Sign in to confirm you're not a bot.",
        "[generic] Got HTTP Error 403 caused by Cloudflare anti-bot challenge; try again with  --extractor-args "
        '"generic:impersonate"',
        "[youtube] aaa: Video unavailable. YouTube is requiring a captcha challenge before playback",
    ],
    "rate_limit": [
        "[youtube] 8NxoMpXM2oI: Video unavailable. This content isn't available, try again later. The current session "
        "has been rate-limited by YouTube for up to an hour. It is recommended to use `-t sleep` to add a delay",
        "[generic] busy: Unable to download webpage: HTTP Error 429: Too Many Requests (caused by <HTTPError 429>)",
        "[facebook] x: You have exceeded the rate limit. Try again later",
        "[BiliBili] 1: Request is blocked by server (412), please wait and try later.",
    ],
    "forbidden": [
        "[generic] x: Unable to download webpage: HTTP Error 403: Forbidden (caused by <HTTPError 403: Forbidden>)",
        "unable to download video data: HTTP Error 403: Forbidden",
        "[vimeo] Got HTTP Error 403. If you are using a data center IP or VPN/proxy, your IP may be blocked",
        "[TikTok] 1: Your IP address is blocked from accessing this post",
    ],
    "timeout": [
        "[download] Got error: HTTPSConnectionPool(host='rr7---sn-pouxgn8t51-jx3z.googlevideo.com', port=443): Read "
        "timed out. (read timeout=20.0)",
    ],
    "unreachable": [
        "[youtube] a: Unable to download API page: (<HTTPSConnection(host='www.youtube.com', port=443)>, 'Connection "
        "to www.youtube.com timed out. (connect timeout=20.0)')",
        "[generic] x: Unable to download webpage: HTTPConnection(host='nosuch.invalid', port=80): Failed to resolve "
        "'nosuch.invalid' ([Errno -2] Name or service not known)",
        "[generic] Unable to download webpage: [Errno -3] Temporary failure in name resolution (caused by "
        "TransportError('[Errno -3] Temporary failure in name resolution'))",
        "[generic] x: Unable to download webpage: HTTPConnection(host='127.0.0.1', port=9): Failed to establish a new "
        "connection: [Errno 111] Connection refused (caused by TransportError(...))",
        "[generic] x: Unable to download webpage: [Errno 101] Network is unreachable",
        "[generic] x: Unable to download webpage: [Errno 113] No route to host",
        *(f"[generic] x: [Errno {number}] other words" for number in (errno.ECONNREFUSED, socket.EAI_NONAME)),
    ],
    "network": [
        "[generic] down: Unable to download webpage: HTTP Error 503: Service Unavailable (caused by <HTTPError 503>)",
        "Unable to download webpage: [Errno 104] Connection reset by peer",
        "[download] Got error: 3056 bytes read, 3056 more expected",
        "Did not get any data blocks",
        "[x] 1: Unable to download webpage: [SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed",
    ],
    "removed": ["[youtube] qaImFO_DgAM: Video unavailable. This content isn\u2019t available."],
    "private": [
        "[Instagram] x: Requested content is not available, rate-limit reached or login required. Use --cookies",
    ],
    "not_yet": [
        "[youtube] aaa: Premieres in 2 hours",
        "[youtube] aaa: This live event will begin in 3 days.",
        "[youtube] aaa: This live event has ended.",
        "[youtube] aaa: We're processing this video. Check back later.",
        "[vk] 1: This live broadcast has not yet started",
        "[rutube] f: There is still time 2026-04-19T10:00:00 left before the broadcast starts",
        "[udemy] 1: This video is currently unavailable. It may still be uploading or processing.",
    ],
    "other": [
        "[x] 1: Unable to extract uploader id",
    ],
}
CASES = [
    (text, reason, permanent)
    for permanent, table in ((True, PERMANENT), (False, TRANSIENT))
    for reason, texts in table.items()
    for text in texts
]


@pytest.mark.parametrize(("text", "reason", "permanent"), CASES)
def test_messages_of_sites_are_classified(text: str, reason: str, permanent: bool) -> None:
    assert classify(text) == (reason, permanent)


@pytest.mark.parametrize(
    ("call", "reason"),
    [("raise_geo_restricted('In Lummerland')", "geo_blocked"), ("_raise(UserNotLive(msg='Bis gleich'))", "not_yet")],
)
def test_class_of_an_error_decides_before_its_words(call: str, reason: str, tmp_path: Path) -> None:
    """An extractor of yt-dlp's own raises the error, in the process that downloads."""
    script = (
        "import sys, yt_dlp\nfrom yt_dlp.extractor.generic import GenericIE\nfrom yt_dlp.utils import UserNotLive\n"
        "from vttdata.collect.ytdlp_program import run_guarded\n"
        "def _raise(error): raise error\n"
        "GenericIE._raise = staticmethod(_raise)\n"
        f"GenericIE._real_extract = lambda self, url: self.{call}\n"
        "sys.argv = ['x', '--ignore-config', '--no-plugin-dirs', '--', 'http://127.0.0.1:9/a']\nrun_guarded()\n"
    )
    done = run([sys.executable, "-c", script], seconds=60, folder=tmp_path)
    error = fetch_error(done.stderr, done.code)
    assert (error.reason, error.retry) == (reason, reason == "not_yet")
    assert "\n" not in error.detail
    assert "Class:" not in error.detail


@pytest.mark.parametrize("name", ["private video", "removed", "captcha", "HTTP Error 429", "login required"])
def test_name_of_a_video_does_not_affect_the_reason(name: str) -> None:
    text = f"[generic] {name}: Unable to download webpage: HTTP Error 503: Service Unavailable"
    assert classify(text) == ("network", False)


def test_breaker_trips_only_on_reasons_that_concern_the_client() -> None:
    tripping = {classify(text)[0] for text, _, _ in CASES} & BREAKER_REASONS
    assert tripping == {"bot_check", "rate_limit"}


def test_last_error_is_kept_verbatim_on_one_line() -> None:
    stderr = (
        "WARNING: [generic] Falling back\n"
        "ERROR: [a] 1: first\n"
        "\x1b[0;31mERROR:\x1b[0m [b] 2: Unable to reach\n<HTTPSConnection(host='x') at 0x1f029F5d150>; please report "
        "this issue on  https://github.com/yt-dlp/yt-dlp/issues?q= , filling out the template. Confirm you are on the "
        "latest version using  yt-dlp -U\nWARNING: later\n"
    )
    assert last_error(stderr) == "[b] 2: Unable to reach <HTTPSConnection(host='x')>"


def test_error_that_starts_on_the_next_line_is_found() -> None:
    assert last_error("ERROR: \n[download] Got error: 1 bytes read, 2 more expected\n") == (
        "Got error: 1 bytes read, 2 more expected"
    )


def test_crash_is_described_by_the_last_line_or_the_exit_code() -> None:
    crash = fetch_error("Traceback (most recent call last):\n  File x\nKeyError: 'formats'\n", 1)
    assert (crash.reason, crash.detail, crash.retry) == ("other", "KeyError: 'formats'", True)
    assert "exit code 9" in fetch_error("", 9).detail


def test_error_names_no_signature() -> None:
    text = "ERROR: [generic] HTTP Error 403 at 'https://a.org/x.mp4?id=7&Signature=hidden', http://me:hidden@b.org/y"
    assert last_error(text) == "[generic] HTTP Error 403 at 'https://a.org/x.mp4?id=7', http://b.org/y"


def test_time_to_wait_is_read_as_seconds_or_a_date() -> None:
    date = email.utils.formatdate(time.time() + 100, usegmt=True)
    assert seconds_to_wait("ERROR: x\nRetry-After: '7'\n") == 7.0
    assert 60 < (seconds_to_wait(f"Retry-After: '{date}'\n") or 0) < 101
    assert seconds_to_wait("Retry-After: 'Thu, 01 Jan 1970 00:00:00 GMT'\n") == 0.0
    assert seconds_to_wait("Retry-After: 'soon'\nERROR: x") is None
    assert seconds_to_wait("ERROR: x") is None


def test_error_keeps_its_fields_when_pickled() -> None:
    error = pickle.loads(pickle.dumps(FetchError("removed", "It is gone.", retry=False)))
    assert (error.reason, error.detail, error.retry, str(error)) == ("removed", "It is gone.", False, "It is gone.")
