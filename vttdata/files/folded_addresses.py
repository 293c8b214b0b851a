"""Compare web addresses of videos, which are written in many forms."""

from __future__ import annotations

import re
import urllib.parse
from collections.abc import Mapping

from vttdata.ids import fold_id, youtube_id

# Parameters that say where to start, who shared a link and who may follow it, and not which video it is.
_INCIDENTAL = re.compile(
    r"(utm_\w+|t|start|end|time_continue|si|feature|ab_channel|autoplay|controls|loop|mute|fbclid|gclid|igsh\w*|hl|gl"
    r"|x-(amz|goog|oss|cos)-.*|.*(sig|signature|token|session(id)?|hmac)|expires?|policy|key-pair-id|hdne[at])",
    re.IGNORECASE,
)
_ARCHIVE = re.compile(r"(?:https?://)?web\.archive\.org/web/\w+/", re.IGNORECASE)
# One of these has many videos.
_PACKED = re.compile(r".*\.(zip|tar|tgz|gz|bz2|xz|zst|7z|rar)(\.\d+)?", re.IGNORECASE)
_HOST = re.compile(r"[a-z0-9](?:[a-z0-9.-]*\.)[a-z][a-z0-9-]+", re.IGNORECASE)
# Host -> where the id of a video is in path and query, as ``path?query``. An address of these hosts without one is that
# of a channel, a list or the site itself.
_PLATFORMS: Mapping[str, re.Pattern[str]] = {
    host: re.compile(pattern, re.ASCII)
    for hosts, pattern in (
        (
            "youtube.com youtube-nocookie.com youtube.googleapis.com ytimg.com img.youtube.com",
            r"(?:.*/)?(?:embed|v|vi|e|shorts|live|watch)/([\w-]{11})(?![\w-])|.*[?&#!]vi?=([\w-]{11})(?![\w-])",
        ),
        ("youtu.be", r"([\w-]{11})(?![\w-])"),
        ("vimeo.com player.vimeo.com", r"(?:.*/)?(\d{5,})(?:[/?#]|$)"),
        ("dailymotion.com geo.dailymotion.com", r"(?:embed/)?video/([A-Za-z0-9]+)|.*[?&]video=([A-Za-z0-9]+)"),
        ("dai.ly", r"([A-Za-z0-9]+)"),
        ("tiktok.com", r"(?:.*/)?(?:video|v|embed|embed/v2)/(\d{8,})"),
        ("bilibili.com", r"video/((?i:bv|av)\w+)"),
        ("drive.google.com", r"file/d/([\w-]{20,})|.*[?&]id=([\w-]{20,})"),
        ("instagram.com", r"(?:.*/)?(?:p|reel|reels|tv)/([\w-]{5,})"),
        ("facebook.com", r"(?:.*/)?videos/(?:.*/)?(\d{6,})|watch/?\?(?:.*&)?v=(\d{6,})"),
    )
    for host in hosts.split()
}
# Part of a host -> prefix of the ids of its site; ids of YouTube have none.
_SITES = {
    **dict.fromkeys(("youtu", "ytimg"), ""),
    **{site: site for site in ("vimeo", "dailymotion", "tiktok", "bilibili", "instagram", "facebook")},
    "dai.ly": "dailymotion",
    "google": "drive",
}


def fold_address(address: str) -> str | None:
    """Return the address of a video in the one form in which addresses are compared; None if it names no video.

    A YouTube video is its id as `vttdata.ids.fold_id` folds it, so that it equals a source that is named by this id; a
    video of other platforms is ``site:id``. Of other addresses scheme, ``www``, user, port, fragment, order of
    parameters, and parameters that say nothing of the video do not count. An address of nothing but a host, or of a
    channel or list of a platform, names no video.
    """
    # Most are plain, and a corpus has millions.
    if (video := youtube_id(address)) is not None:
        return fold_id(video)
    text = _ARCHIVE.sub("", address.strip().strip("<>\"'").replace("&amp;", "&"))
    try:
        parts = urllib.parse.urlsplit(text if "://" in text else f"//{text.removeprefix('//')}")
        host = (parts.hostname or "").removeprefix("www.").removeprefix("m.").removeprefix("mobile.")
    except ValueError:
        return None
    path = re.sub("/+", "/", urllib.parse.unquote(parts.path)).strip("/")
    platform = _PLATFORMS.get(host.removeprefix("music.")) or _PLATFORMS.get(host.partition(".")[2])
    if platform is not None:
        query = "".join(mark + urllib.parse.unquote(part) for mark, part in zip("?#", parts[3:], strict=True) if part)
        match = platform.match(path + query)
        if match is None:
            return None
        site, video = next(site for part, site in _SITES.items() if part in host), next(filter(None, match.groups()))
        return f"{site}:{video}" if site else fold_id(video)
    if not path or _PACKED.fullmatch(path) or (parts.scheme in ("", "http", "https") and not _HOST.fullmatch(host)):
        return None
    kept = [
        urllib.parse.unquote(piece)
        for piece in re.split("[&;]", parts.query)
        if piece and not _INCIDENTAL.fullmatch(piece.partition("=")[0])
    ]
    # Pages of one address may show a video each by the fragment.
    fragment = f"#{parts.fragment}" if parts.fragment.startswith(("/", "!")) else ""
    return "?".join(filter(None, [f"{host}/{path}", "&".join(sorted(kept))])) + fragment
