"""Put what an assessor sees of a HIT into a single HTML file.

The page needs only itself and its videos. Markup, style and scripts are assembled from the files beside this module,
and the page's security policy names style and scripts by their hashes, so that no text of a caption can ever run.
"""

from __future__ import annotations

import functools
import hashlib
import html
import json
import os
import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from urllib.parse import quote, urlsplit

from vttdata.assess.hits.hit_records import DEFAULT_QUESTION, Hit
from vttdata.assess.hits.write import PageWriter
from vttdata.errors import DescribeOSErrors, VttdataError

DEFAULT_SCALE_ENDS = ("Not at all", "Perfectly")
"""Labels of the ends of the scale, 0 and 100."""

_STYLES = ("page.css", "task.css")
_SCRIPTS = ("answers.js", "scale.js", "screens.js", "page.js")
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,99}")
_ABSOLUTE_URL = re.compile(r"https?://", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ItemView:
    """Item of a HIT as an assessor sees it.

    Fields:
        item: id of the item; must not reveal the kind of item.
        video: ``http(s)`` URL, used unchanged, or a path relative to the page, unquoted.
        caption: any text; shown literally.

    Raises:
        VttdataError: if the id is invalid (see `HitView`), or the video is neither a URL nor a path that a page can
            name.
    """

    item: str
    video: str
    caption: str

    def __post_init__(self) -> None:
        _check_id("item", self.item)
        _quote_address(self.video)


@dataclass(frozen=True, slots=True)
class HitView:
    """HIT as an assessor sees it.

    Fields:
        hit: id of the HIT. Ids are letters, digits, ``_``, ``.``, ``:`` and ``-``, begin with a letter or digit, and
            have at most 100 characters: results with them are opened in spreadsheets and joined with ``|``.
        items: items in the order shown, with unique ids.
        question: question of every item.
        ends: labels of the lower and the upper end of the scale.

    Raises:
        VttdataError: if an id is invalid or duplicated, or there are no items.
    """

    hit: str
    items: tuple[ItemView, ...]
    question: str = DEFAULT_QUESTION
    ends: tuple[str, str] = DEFAULT_SCALE_ENDS

    def __post_init__(self) -> None:
        _check_id("HIT", self.hit)
        if not self.items:
            raise VttdataError(f"The HIT {self.hit!a} has no items.")
        seen: set[str] = set()
        for view in self.items:
            if view.item in seen:
                raise VttdataError(f"The item {view.item!a} of HIT {self.hit!a} is duplicated.")
            seen.add(view.item)


def hit_view(hit: Hit, videos: Mapping[str, str], question: str = DEFAULT_QUESTION) -> HitView:
    """Return what an assessor sees of a HIT; `videos` is `video_id` -> URL, or path relative to the page."""
    items = (ItemView(item.item, videos[item.video_id], item.caption) for item in hit.items)
    return HitView(hit.hit, tuple(items), question)


def page_writer(videos: Mapping[str, str], question: str = DEFAULT_QUESTION) -> PageWriter:
    """Return a function that writes the page of a HIT, for `write_hits`; see `hit_view` for the arguments."""
    return lambda path, hit: write_page(path, hit_view(hit, videos, question))


def write_page(path: Path, hit: HitView, *, submit_url: str | None = None) -> None:
    """Write the page of a HIT; see `page_text`.

    Raises:
        VttdataError: if it cannot be written, or `submit_url` is not an address.
    """
    text = page_text(hit, submit_url=submit_url)
    with DescribeOSErrors(f"{path}: cannot be written"):
        path.write_text(text, encoding="ascii", newline="\n")


def page_text(hit: HitView, *, submit_url: str | None = None) -> str:
    """Return the HTML of a HIT's page in ASCII; the same HIT gives the same text.

    Args:
        hit: HIT to show.
        submit_url: address to which the page posts the answers as JSON once they are complete: an ``http(s)`` URL, or
            a path on the page's server. The page can send data nowhere else, except to Mechanical Turk's form if
            Mechanical Turk opened it.

    Raises:
        VttdataError: if `submit_url` is not such an address.
    """
    view = {
        "hit": hit.hit,
        "question": hit.question,
        "ends": list(hit.ends),
        "items": [{"item": v.item, "video": _quote_address(v.video), "caption": v.caption} for v in hit.items],
    }
    # The digest tells pages of the same HIT id with other contents apart, so that their answers are not mixed up.
    digest = hashlib.sha256(json.dumps(view).encode("ascii")).hexdigest()[:16]
    data = json.dumps(view | {"digest": digest, "submit": submit_url}, separators=(",", ":"))
    # No `</script>` in a caption can end the element that contains the data.
    data = data.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    parts = {
        "policy": html.escape(_security_policy(hit, submit_url)),
        "style": _style(),
        "script": _script(),
        "data": data,
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], _source("page.html"))


def _security_policy(hit: HitView, submit_url: str | None) -> str:
    """Return a Content-Security-Policy that allows our script and style, the videos' hosts, and the answers' target."""
    if submit_url is None:
        submit_origin = "'none'"
    else:
        try:
            _quote_address(submit_url)
        except VttdataError as error:
            raise VttdataError(
                f"Answers cannot be sent to {submit_url[:80]!a}; give a URL or a path on the server."
            ) from error
        submit_origin = _origin(submit_url)
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src '{_hash_source(_script())}'",
            f"style-src '{_hash_source(_style())}'",
            "img-src data:",
            # Pages that are opened from a folder load their videos by file URLs.
            f"media-src {' '.join(sorted({_origin(view.video) for view in hit.items}))} file:",
            f"connect-src {submit_origin}",
            # Mechanical Turk takes answers from a form only.
            "form-action https://*.mturk.com",
            "base-uri 'none'",
            # No script can turn text into markup.
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        ]
    )


def _script() -> str:
    return "\n".join(['"use strict";', "{", *(_source(name) for name in _SCRIPTS), "}", ""])


def _style() -> str:
    return "\n".join(_source(name) for name in _STYLES)


def _hash_source(text: str) -> str:
    return "sha256-" + b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def _origin(address: str) -> str:
    """Return the host of an address as a security policy names it."""
    if not _ABSOLUTE_URL.match(address):
        return "'self'"
    parts = urlsplit(address)
    return f"{parts.scheme.lower()}://{parts.netloc.rpartition('@')[2].lower()}"


def _quote_address(video: str) -> str:
    """Return a URL unchanged and a path percent-encoded.

    Raises:
        VttdataError: if a page cannot name the video, or could understand the address as another one.
    """
    message = f"The video {video[:80]!a} is neither an http(s) URL nor a path relative to the page."
    if _ABSOLUTE_URL.match(video):
        try:
            parts = urlsplit(video)
            has_host = bool(parts.hostname) and (parts.port is None or parts.port >= 0)
        except ValueError as error:
            raise VttdataError(message) from error
        if not has_host or re.fullmatch(r"[\w.:\[\]-]+", parts.netloc.rpartition("@")[2], re.ASCII) is None:
            raise VttdataError(message)
        return video
    if (
        not video.strip()
        or video.startswith(("//", "\\\\"))
        or re.search(r"[\x00-\x1f]|^[A-Za-z][A-Za-z0-9+.-]*:", video)
    ):
        raise VttdataError(message)
    try:
        return quote(os.fsencode(video), safe="/")
    except UnicodeEncodeError as error:
        raise VttdataError(message) from error


def _check_id(noun: str, name: str) -> None:
    if _ID.fullmatch(name) is None:
        raise VttdataError(
            f"The {noun} id {name[:80]!a} must be letters, digits, '_', '.', ':' and '-' (at most 100), "
            "beginning with a letter or digit."
        )


@functools.cache
def _source(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
