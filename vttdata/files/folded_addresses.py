"""Compare web addresses of videos, which are written in many forms."""

from __future__ import annotations

import re
import urllib.parse

from vttdata.ids import fold_id, is_placeholder, youtube_id

# Parameters that say where to start, who shared a link and who may follow it, and not which video it is.
_INCIDENTAL = re.compile(
    r"(utm_\w+|t|start|end|time_continue|si|feature|ab_channel|autoplay|controls|loop|mute|rel|hl|gl|igsh\w*"
    r"|\w{1,3}clk?id|[gw]braid|li_fat_id|mc_[ce]id|_ga|_gl|spm(_id_from)?|vd_source|share(_\w+)?|ref(_\w+|err?er)?"
    r"|x-(amz|goog|oss|cos)-.*|.*(sig|signature|token|session(id)?|hmac)|expires?|policy|key-pair-id|hdne[at])",
    re.IGNORECASE,
)
_ARCHIVE = re.compile(r"(?:https?://)?web\.archive\.org/(?:web/)?(?:\w+\*?/)?(?=https?:|www\.)", re.IGNORECASE)
# Parameters that name a video.
_NAMING = re.compile("v|.*(id|video|file|clip)", re.IGNORECASE)
# One of these has many videos.
_PACKED = re.compile(r".*\.(zip|tar|tgz|gz|bz2|xz|zst|7z|rar)(\.\d+)?", re.IGNORECASE)
_HOST = re.compile(r"[a-z0-9](?:[a-z0-9.-]*\.)[a-z][a-z0-9-]+", re.IGNORECASE)
# Site, which begins the ids of its videos but for YouTube's; its hosts; where the id is in ``path?query#fragment``. An
# address of these hosts without one is that of a channel, a list or the site itself.
_SITES = (
    (
        "",
        "youtube.com youtube-nocookie.com youtube.googleapis.com youtubekids.com ytimg.com img.youtube.com",
        r"(?:.*/)?(?:embed|v|vi|vi_webp|e|w|shorts|live|watch)/([\w-]{11})(?![\w-])|.*[?&#!]vi?=([\w-]{11})(?![\w-])"
        r"|user/.*#p/(?:.*/)?([\w-]{11})$",
    ),
    ("", "youtu.be", r"([\w-]{11})(?![\w-])"),
    (
        "vimeo:",
        "vimeo.com player.vimeo.com vimeopro.com",
        r"(?:.*/)?(\d{5,})(?:[/?#.]|$)|.*[?&]clip_id=(\d{5,})",
    ),
    (
        "dailymotion:",
        "dailymotion.com geo.dailymotion.com",
        r"(?:.*/)?video/([A-Za-z0-9]+)|swf/([A-Za-z0-9]+)|.*[?&#]video=([A-Za-z0-9]+)",
    ),
    ("dailymotion:", "dai.ly", r"([A-Za-z0-9]+)"),
    ("tiktok:", "tiktok.com", r"(?:.*/)?(?:video|v|embed|embed/v2|player/v1)/(\d{8,})"),
    (
        "bilibili:",
        "bilibili.com b23.tv",
        r"(?:.*/)?[bB][vV](1\w{9})(?!\w)|.*[?&]bvid=[bB][vV](1\w{9})(?!\w)"
        r"|(?:.*/)?[aA][vV](\d+)(?!\w)|.*[?&]aid=(\d+)",
    ),
    (
        "drive:",
        "drive.google.com docs.google.com drive.usercontent.google.com",
        r"file/(?:u/\d+/)?d/([\w-]{20,})|.*[?&]id=([\w-]{20,})",
    ),
    ("instagram:", "instagram.com instagr.am", r"(?:.*/)?(?:p|reel|reels|tv)/([\w-]{5,})"),
    (
        "facebook:",
        "facebook.com",
        r"(?:.*/)?(?:videos|reel)/(?:.*/)?(\d{6,})|(?:watch/?|video\.php)\?(?:.*&)?v=(\d{6,})",
    ),
    (
        "flickr:",
        "flickr.com staticflickr.com",
        r"photos/[^/]+/(\d{5,})|video_download\.gne\?(?:.*&)?id=(\d{5,})|(?:\d+/)?(\d{5,})_[0-9a-f]{8,}(?:_\w+)?\.\w+$",
    ),
    ("twitch:", "twitch.tv", r"(?:.*/)?(?:videos?|v)/v?(\d{6,})|.*[?&]video=v?(\d{6,})"),
    ("twitter:", "twitter.com x.com", r"(?:.*/)?status(?:es)?/(\d{6,})"),
)
_PLATFORMS = {host: (site, re.compile(pattern, re.ASCII)) for site, hosts, pattern in _SITES for host in hosts.split()}
PLATFORM = "|".join(map(re.escape, _PLATFORMS))
"""Pattern of the hosts of sites whose addresses have several forms."""


def fold_address(address: str) -> str | None:
    """Return the address of a video in the one form in which addresses are compared; None if it names no video.

    A YouTube video is its id as `vttdata.ids.fold_id` folds it, so that it equals a source that is named by this id; a
    video of other platforms is ``site:id``. Of other addresses scheme, ``www``, user, port, fragment, order of
    parameters, and parameters that say nothing of the video do not count. An address of nothing but a host, of a
    channel or list of a platform, or with a placeholder for the id, names no video.
    """
    # Most are plain, and a corpus has millions.
    if (video := youtube_id(address)) is not None:
        return _site_id("", video)
    text = _ARCHIVE.sub("", address.strip().strip("<>\"'").replace("&amp;", "&"))
    try:
        parts = urllib.parse.urlsplit(text if "://" in text else f"//{text.removeprefix('//')}")
        host = re.sub(r"^(www\.)?(m\.|mobile\.)?|\.$", "", parts.hostname or "")
    except ValueError:
        return None
    path = re.sub("/+", "/", urllib.parse.unquote(parts.path)).strip("/")
    platform = _PLATFORMS.get(host.removeprefix("music.")) or _PLATFORMS.get(host.partition(".")[2])
    if platform is not None:
        query = "".join(mark + urllib.parse.unquote(part) for mark, part in zip("?#", parts[3:], strict=True) if part)
        site, pattern = platform
        match = pattern.match(path + query)
        return _site_id(site, next(filter(None, match.groups()))) if match else None
    if not path or _PACKED.fullmatch(path) or (parts.scheme in ("", "http", "https") and not _HOST.fullmatch(host)):
        return None
    kept = [
        urllib.parse.unquote(piece)
        for piece in re.split("[&;]", parts.query)
        if piece and not _INCIDENTAL.fullmatch(piece.partition("=")[0])
    ]
    if any(map(_lacks_id, (re.split("/(?!a$)", path, flags=re.IGNORECASE)[-1], *kept))):
        return None
    # Pages of one address may show a video each by the fragment.
    fragment = f"#{parts.fragment}" if parts.fragment.startswith(("/", "!")) else ""
    return "?".join(filter(None, [f"{host}/{path}", "&".join(sorted(kept))])) + fragment


def _site_id(site: str, video: str) -> str | None:
    folded = fold_id(video)
    if is_placeholder(folded) or not video.strip("0"):
        return None
    return f"{site}{video}" if site else folded


def _lacks_id(part: str) -> bool:
    """Return whether the last name of a path, or a parameter that names a video, is a placeholder, or empty."""
    name, mark, value = part.rpartition("=")
    return (not mark or _NAMING.fullmatch(name) is not None) and is_placeholder(fold_id(value))
