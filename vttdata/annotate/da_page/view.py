"""What an assessor gets to see of a HIT, and the one HTML file that shows it.

The page needs nothing but itself and its videos: markup, style and scripts are put together from the files beside this
module, and its security policy names them by their hashes, so that no text of a caption can ever run.
"""

from __future__ import annotations

import functools
import hashlib
import html
import json
import os
import re
from base64 import b64encode
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from urllib.parse import quote, urlsplit

from vttdata.errors import VttdataError

DEFAULT_QUESTION = "How adequately does the caption describe what took place in the video?"
"""What assessors are asked (Graham, Awad and Smeaton, PLOS ONE 2018, section on Direct Assessment of captions)."""

DEFAULT_ENDS = ("Not at all", "Perfectly")
"""What the scale's ends, 0 and 100, are called."""

_STYLES = ("page.css", "task.css")
_SCRIPTS = ("answers.js", "scale.js", "screens.js", "page.js")
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,99}")
_ABSOLUTE = re.compile(r"https?://", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ItemView:
    """One assessment.

    Fields:
        item: its id; must say nothing of what kind of item it is.
        video: an ``http(s)`` URL, taken as it is, or a path relative to the page (not quoted).
        caption: any text; shown as it is.

    Raises:
        VttdataError: when the id is none (see `HitView`), or the video neither a URL nor a path that a page can name.
    """

    item: str
    video: str
    caption: str

    def __post_init__(self) -> None:
        _check_id("item", self.item)
        _address(self.video)


@dataclass(frozen=True, slots=True)
class HitView:
    """One HIT.

    Fields:
        hit: its id. Ids are letters, digits, ``_``, ``.``, ``:`` and ``-``, beginning with a letter or digit, at most
            100: they stand in results that are opened in spreadsheets and joined with ``|``.
        items: in the order shown, each id once.
        question: asked for every item.
        ends: what the lower and the upper end of the scale are called.

    Raises:
        VttdataError: when an id is none or stands twice, or there are no items.
    """

    hit: str
    items: tuple[ItemView, ...]
    question: str = DEFAULT_QUESTION
    ends: tuple[str, str] = DEFAULT_ENDS

    def __post_init__(self) -> None:
        _check_id("HIT", self.hit)
        if not self.items:
            raise VttdataError(f"The HIT {self.hit!a} has no items.")
        seen: set[str] = set()
        for view in self.items:
            if view.item in seen:
                raise VttdataError(f"The item {view.item!a} of HIT {self.hit!a} stands twice.")
            seen.add(view.item)


def write_page(path: Path, hit: HitView, *, submit_url: str | None = None) -> None:
    """Write the page of a HIT; see `page_text`.

    Raises:
        VttdataError: when it cannot be written.
    """
    text = page_text(hit, submit_url=submit_url)
    try:
        path.write_text(text, encoding="ascii", newline="\n")
    except OSError as error:
        raise VttdataError(f"{path}: cannot be written ({error.strerror or error}).") from error


def page_text(hit: HitView, *, submit_url: str | None = None) -> str:
    """The HTML of the page of a HIT, pure ASCII, the same for the same HIT.

    Args:
        hit: what it shows.
        submit_url: where the page posts the answers as JSON when all are given: an ``http(s)`` URL, or a path on the
            server that the page comes from. The page can send nothing anywhere else, but to Mechanical Turk's own form
            when that opened it.

    Raises:
        VttdataError: when `submit_url` is no such address.
    """
    data = _embedded(hit, submit_url)
    parts = {
        "policy": html.escape(_policy(hit.items, submit_url)),
        "style": _style(),
        "script": _script(),
        "data": data,
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], _source("page.html"))


def _embedded(hit: HitView, submit_url: str | None) -> str:
    """What the page reads, as JSON that cannot end its element: `print` tells pages of different contents apart."""
    view = {
        "hit": hit.hit,
        "question": hit.question,
        "ends": list(hit.ends),
        "items": [{"item": v.item, "video": _address(v.video), "caption": v.caption} for v in hit.items],
    }
    print_ = hashlib.sha256(json.dumps(view).encode("ascii")).hexdigest()[:16]
    text = json.dumps(view | {"print": print_, "submit": submit_url}, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _policy(items: Iterable[ItemView], submit_url: str | None) -> str:
    """The Content-Security-Policy: our own script and style, the hosts of the videos, and where answers may go."""
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src '{_digest(_script())}'",
            f"style-src '{_digest(_style())}'",
            "img-src data:",
            f"media-src {' '.join(sorted({_origin(view.video) for view in items}))} file:",
            f"connect-src {_submit_origin(submit_url)}",
            "form-action https://*.mturk.com",
            "base-uri 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        ]
    )


@functools.cache
def _script() -> str:
    return "\n".join(['"use strict";', "{", *(_source(name) for name in _SCRIPTS), "}", ""])


@functools.cache
def _style() -> str:
    return "\n".join(_source(name) for name in _STYLES)


@functools.cache
def _digest(text: str) -> str:
    return "sha256-" + b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def _origin(video: str) -> str:
    """The host of a video as the policy names it."""
    if not _ABSOLUTE.match(video):
        return "'self'"
    parts = urlsplit(video)
    return f"{parts.scheme.lower()}://{parts.netloc.rpartition('@')[2].lower()}"


def _submit_origin(url: str | None) -> str:
    if url is None:
        return "'none'"
    try:
        _address(url)
    except VttdataError as error:
        raise VttdataError(
            f"Answers cannot be sent to {url[:80]!a}: a URL or a path on the server is needed."
        ) from error
    return _origin(url)


def _address(video: str) -> str:
    """The URL of a video, relative where it was a path.

    Raises:
        VttdataError: when a page cannot name it, or it could mean something else than it says.
    """
    told = f"The video {video[:80]!a} is neither an http(s) URL nor a path relative to the page."
    if _ABSOLUTE.match(video):
        try:
            parts = urlsplit(video)
            hosted = bool(parts.hostname) and (parts.port is None or parts.port >= 0)
        except ValueError as error:
            raise VttdataError(told) from error
        if not hosted or re.fullmatch(r"[\w.:\[\]-]+", parts.netloc.rpartition("@")[2], re.ASCII) is None:
            raise VttdataError(told)
        return video
    if (
        not video.strip()
        or video.startswith(("//", "\\\\"))
        or re.search(r"[\x00-\x1f]|^[A-Za-z][A-Za-z0-9+.-]*:", video)
    ):
        raise VttdataError(told)
    try:
        return quote(os.fsencode(video), safe="/")
    except UnicodeEncodeError as error:
        raise VttdataError(told) from error


def _check_id(what: str, name: str) -> None:
    if _ID.fullmatch(name) is None:
        raise VttdataError(
            f"The {what} id {name[:80]!a} must be letters, digits, '_', '.', ':' and '-' (at most 100), "
            "beginning with a letter or digit."
        )


@functools.cache
def _source(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
