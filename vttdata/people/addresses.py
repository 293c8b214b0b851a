"""Addresses of videos: URLs, and paths relative to a page."""

from __future__ import annotations

import os
import re
from urllib.parse import quote, urlsplit

from vttdata.errors import VttdataError

_URL = re.compile(r"https?://", re.IGNORECASE)


def is_url(address: str) -> bool:
    """Return whether an address is an ``http(s)`` URL."""
    return _URL.match(address) is not None


def video_address(template: str, video_id: str) -> str:
    """Return the address of a video: a URL or a path with the id in the place of ``{video_id}``.

    In a URL the id is percent-encoded; a path is not quoted yet, see `quote_address`.

    Raises:
        VttdataError: if the id cannot be part of a path.
    """
    if is_url(template):
        return template.replace("{video_id}", quote(video_id, safe=""))
    if "/" in video_id or "\\" in video_id or video_id in {".", ".."}:
        raise VttdataError(f"The video id {video_id!a} cannot be part of a path; use a URL.")
    return template.replace("{video_id}", video_id)


def quote_address(address: str) -> str:
    """Return a URL unchanged and a path percent-encoded.

    Raises:
        VttdataError: if a page cannot name the video, or could understand the address as another one.
    """
    message = f"The video {address[:80]!a} is neither an http(s) URL nor a path relative to the page."
    if is_url(address):
        try:
            parts = urlsplit(address)
            has_host = bool(parts.hostname) and (parts.port is None or parts.port >= 0)
        except ValueError as error:
            raise VttdataError(message) from error
        if not has_host or re.fullmatch(r"[\w.:\[\]-]+", parts.netloc.rpartition("@")[2], re.ASCII) is None:
            raise VttdataError(message)
        return address
    if (
        not address.strip()
        or address.startswith(("//", "\\\\"))
        or re.search(r"[\x00-\x1f]|^[A-Za-z][A-Za-z0-9+.-]*:", address)
    ):
        raise VttdataError(message)
    try:
        return quote(os.fsencode(address), safe="/")
    except UnicodeEncodeError as error:
        raise VttdataError(message) from error


def policy_source(address: str) -> str:
    """Return the host of an address as a Content-Security-Policy names it."""
    if not is_url(address):
        return "'self'"
    parts = urlsplit(address)
    return f"{parts.scheme.lower()}://{parts.netloc.rpartition('@')[2].lower()}"
