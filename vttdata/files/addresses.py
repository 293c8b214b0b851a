"""Reduce web addresses to what identifies a video, before they are published, noted or printed.

Names of parameters that sign or authorise a request cannot be listed. So the parts that are known to identify something
are listed here, and all others are left out.
"""

from __future__ import annotations

import hashlib
import re
import urllib.parse

# Names of parameters, without "-" and "_", and the form of their values: ids of most sites; YouTube (v, list), Facebook
# (fbid), Bilibili (bvid, aid, cid, p), VK (oid, z), OneDrive (resid), Tencent (vid); files of scripts; moments as in
# https://www.w3.org/TR/media-frags; what the search fills into an engine's address.
_IDENTIFYING = (
    (
        "((video|clip|media|movie|film|episode|season|series|playlist|item|content|programm?e?|story|asset|entry|post"
        "|article|file|gif|modal|recording|stream)?id|id(video|clip|media)|v|vid|list|(story)?fbid|[abco]v?id|epid|resid"
        "|file|filename|video|clip|media|recording|movie|film|episode|playlist|watch)",
        r"[\w.,!~ +/-]{1,47}",
    ),
    ("p|page|part|no|number", r"\d{1,9}"),
    ("t|start|end|starttime|endtime|timecontinue", r"(npt:)?[\d.:,hms]{1,20}"),
    ("z", r"(video|clip)-?\d{1,12}_\d{1,12}(/\w{1,40})?"),
    ("[a-z]+", r"\{[a-z]+\}"),
)
# Paths that identify a video by a text that looks random, after the end of their host.
_IDENTIFYING_PATHS = re.compile(
    # PeerTube's UUIDs in base 58 are short; Twitch's clips are words and 16 characters.
    r"[^/]*/w/(p/)?[1-9A-HJ-NP-Za-km-z]{20,22}/?"
    r"|(drive|docs)\.google\.com/file/d/[\w-]{25,44}(/\w+)?"
    r"|([\w.]+\.)?twitch\.tv/(\w{1,40}/clip/)?[A-Za-z]{8,70}(-[\w-]{16})?"
    r"|([\w.]+\.)?youku\.com/v_show/id_\w{8,30}=*\.html",
    re.ASCII,
)
# Sites whose parameters are long random texts that are no secrets, such as those of lists.
_RANDOM_IDS = re.compile(r"([\w-]+\.)*(youtube(-nocookie)?|facebook|(drive|docs)\.google)\.com")
_HOST = re.compile(r"([\w.-]+|\[[0-9a-f:.]+\])(:\d{0,5})?", re.IGNORECASE)
# A user name and a password before a host; the letter of a drive is none.
_LOGIN = r"(?![A-Za-z]:[\\/])[^\s/:'\"<>]*(?::|%(?:25)*3[Aa])(?!//)[^\s'\"<>]*(?:@|%(?:25)*40)"
# Schemes that need a host, without one.
_NO_HOST = re.compile(r"(https?|ftps?|sftp|s3|gs|rtmps?|data):", re.IGNORECASE)
# RFC 4122, section 6, forbids UUIDs as security capabilities. Numbers with a unit or a prefix: 1080p60, h264, IMG0123.
_NO_TOKENS = re.compile(
    "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?<![a-z0-9])([0-9]+[a-z]{1,3}[0-9]{0,3}|[a-z]{1,4}[0-9]+)(?![a-z0-9])",
    re.IGNORECASE,
)
# Files may be named by the digest of their content; digests that sign a path are folders in it.
_DIGEST_FILE = re.compile(
    r"([0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64})\.(mp4|m4v|webm|mkv|mov|avi|ogv|gif)", re.IGNORECASE
)
# Of 6,052 addresses in the tests of yt-dlp's extractors, 461 have a segment that looks random, nearly all an id; of
# drawn tokens, 1 in 40 of 22 characters in base 64 and 1 in 1,000 of 32 hexadecimal digits do not.
_WINDOW, _MIN_CHANGES = 20, 5
_MIN_RUN_CHANGES, _LONG_RUN = 3, 40
_CHANGE = re.compile("(?=[a-z][A-Z0-9]|[A-Z][0-9]|[0-9][A-Za-z])")
_RUN = re.compile(f"[A-Za-z0-9]{{{_WINDOW},}}")

_DIGEST = "sha256=[0-9a-f]{64}"
# A quote or bracket that something of the address follows does not end it.
_CHARACTERS = r"(?:[^\s'\"<>]|['\"<>](?=[\w%+=/-]))+"
ADDRESS = re.compile(f"[a-z][a-z0-9+.-]*://{_CHARACTERS}", re.IGNORECASE)
# What servers and clients repeat of a request: an address without its scheme, or without its host.
_REQUEST = re.compile(rf"[^\s'\"<>?#]*[/.][^\s'\"<>?#]*(?:\?(?=[\w%&=.])|#(?=[\w.-]+=)){_CHARACTERS}")
_HIDDEN = re.compile(rf"(?P<address>(?i:{ADDRESS.pattern}))|(?P<login>(?<!\w)(//)?{_LOGIN}(?=\w))|{_REQUEST.pattern}")
_ANY_HOST = "any://host.any/"


def without_secrets(url: str) -> str:
    """Return a web address with only those parts that identify a video; what is no address is returned unchanged.

    Scheme, host and path are kept; so are parameters in the query and the fragment that are known to identify a video
    or a moment of it, such as ``v=``, ``id=`` and ``t=``. A path or a value that contains another address, other
    parameters or a long random text, which may be a token, is replaced by a digest: ``https://HOST/#sha256=DIGEST``.
    Where it cannot be told where the host begins, only the scheme is left. A secret that is no longer than most ids, in
    the path or as the value of such a parameter, is not recognised.
    """
    try:
        parts = urllib.parse.urlsplit(url)
    except ValueError:
        return f"{url.partition(':')[0]}:"
    if not parts.scheme or not parts.netloc:
        if match := _NO_HOST.match(url):
            return match[0]
        text = re.sub(rf"^(//)?{_LOGIN}(?=[\w.:-]+/)", "", url)
        # An address without a host, such as `file:///a.mp4`, is all there is.
        return ADDRESS.sub(lambda match: match[0] if match[0] == url else without_secrets(match[0]), text)
    host = _decoded(parts.netloc).rpartition("@")[2]
    path = re.sub(";[^/]*", "", parts.path)
    # A password may contain what ends a host.
    may_end_early = ":" in parts.netloc or "." not in host
    if not _HOST.fullmatch(host) or (may_end_early and re.search("[^/]@", _decoded("".join(parts[2:])))):
        return f"{parts.scheme}:"
    if path == "/" and not parts.query and re.fullmatch(_DIGEST, parts.fragment):
        return parts._replace(netloc=host).geturl()
    query, fragment = _identifying(parts.query), _identifying(parts.fragment)
    if _may_hold_token(host, path, f"{query}&{fragment}"):
        # The password of an address in the path may be short enough to be guessed from the digest.
        text = re.sub("[^/@]+@", "", f"{_decoded(path)}?{query}")
        path, query, fragment = "/", "", f"sha256={hashlib.sha256(text.encode(errors='replace')).hexdigest()}"
    public = parts._replace(netloc=host, path=path, query=query, fragment=fragment)
    return url if public == parts else public.geturl()


def hide_secrets(text: str) -> str:
    """Return a text with its addresses as `without_secrets` returns them, and those that lack a scheme or a host."""

    def hide(match: re.Match[str]) -> str:
        if match["login"]:
            return ""
        if match["address"]:
            address = match[0].rstrip(".,;:!?)")
            return without_secrets(address) + match[0][len(address) :]
        return without_secrets(_ANY_HOST + match[0]).removeprefix(_ANY_HOST)

    return _HIDDEN.sub(hide, text)


def _identifying(parameters: str) -> str:
    separator = next(iter(re.findall("[&;]", parameters)), "&")
    return separator.join(filter(_identifies, re.split("[&;]", parameters)))


def _identifies(parameter: str) -> bool:
    name, _, value = parameter.partition("=")
    name, value = re.sub("[-_]", "", urllib.parse.unquote(name).lower()), urllib.parse.unquote(value)
    return any(re.fullmatch(names, name) and re.fullmatch(values, value) for names, values in _IDENTIFYING)


def _may_hold_token(host: str, path: str, parameters: str) -> bool:
    values = [part for each in re.split("[&;]", parameters) for part in _decoded(each).partition("=")[2].split("/")]
    if any(map(_may_be_token, values)) and not _RANDOM_IDS.fullmatch(host.lower()):
        return True
    if _IDENTIFYING_PATHS.fullmatch(host.lower() + path):
        return False
    text = _decoded(path)
    return re.search(":/|[?#|]|[^/]@", text) is not None or any(map(_may_be_token, text.split("/")))


def _may_be_token(segment: str) -> bool:
    if "=" in segment:
        return not _identifies(segment)
    if _DIGEST_FILE.fullmatch(segment):
        return False
    segment = _NO_TOKENS.sub(lambda match: "." * len(match[0]), segment)
    changes = [match.start() for match in _CHANGE.finditer(segment)]
    in_window = zip(changes, changes[_MIN_CHANGES - 1 :], strict=False)
    if len(segment) >= _WINDOW and any(last - first < _WINDOW - 1 for first, last in in_window):
        return True
    return any(len(run) >= _LONG_RUN or len(_CHANGE.findall(run)) >= _MIN_RUN_CHANGES for run in _RUN.findall(segment))


def _decoded(path: str) -> str:
    for _ in range(3):
        path = urllib.parse.unquote(path)
    return path
