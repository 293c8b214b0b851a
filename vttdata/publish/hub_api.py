"""Talks to the Hub: waits and tries again where that helps, and says in one sentence what is wrong where it does not.

It decides nothing about what is uploaded. The client library retries uploads by itself; the calls it makes once only
are repeated here.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from vttdata.errors import HaltError, VttdataError

if TYPE_CHECKING:
    from huggingface_hub import HfApi

WAITS = (1.0, 2.0, 4.0, 8.0)
"""Seconds before each further try, unless the Hub itself says how long to wait."""

_LONGEST_WAIT = 300.0
_USED_UP = re.compile(r";\s*r=0;\s*t=(\d+)")
_PASSING = {408, 429, 500, 502, 503, 504}
_UPLOADER = "hf_xet"  # fails with plain RuntimeErrors, and some of its own
_TOKENS = "https://huggingface.co/settings/tokens"

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file of a repository: its size and git's checksum of it, and its SHA-256 where it is kept as a large file."""

    bytes: int
    git_sha1: str
    sha256: str | None


@dataclass(frozen=True, slots=True)
class Remote:
    """What a repository holds: the newest commit, its files, and which commit each tag names."""

    head: str
    private: bool
    files: Mapping[str, RemoteFile]
    tags: Mapping[str, str]


def connect(endpoint: str | None) -> HfApi:
    """A client of the Hub with the user's token.

    Raises:
        VttdataError: when there is no token, or what is kept in its place is none.
    """
    import huggingface_hub

    from vttdata.version import __version__

    token = huggingface_hub.get_token()
    if not token:
        raise VttdataError(
            "There is no token for the Hub: log in with 'hf auth login', or set HF_TOKEN; a token with write access "
            f"comes from {_TOKENS}."
        )
    if not token.isascii() or not token.isprintable() or " " in token:
        raise VttdataError("The token for the Hub (HF_TOKEN, or that of 'hf auth login') has signs that no token has.")
    return huggingface_hub.HfApi(endpoint, token=token, library_name="vttdata", library_version=__version__)


def look(api: HfApi, repo_id: str) -> Remote | None:
    """What the repository holds now; None where there is none, or none that the token may see."""
    from huggingface_hub.errors import RepositoryNotFoundError

    try:
        info = patient(api.dataset_info, repo_id, files_metadata=True)
        refs = patient(api.list_repo_refs, repo_id, repo_type="dataset")
    except RepositoryNotFoundError:
        return None
    files = {
        own.rfilename: RemoteFile(own.size or 0, own.blob_id or "", own.lfs.sha256 if own.lfs else None)
        for own in info.siblings or ()
    }
    return Remote(info.sha or "", bool(info.private), files, {tag.name: tag.target_commit for tag in refs.tags})


def patient(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call, and call again after a while where the Hub is busy or the connection broke."""
    for wait in WAITS:
        try:
            return call(*args, **kwargs)
        except Exception as error:
            if not is_passing(error):
                raise
            time.sleep(_asked_wait(error) or wait)
    return call(*args, **kwargs)


def _root(error: BaseException) -> BaseException:
    """The error of the connection below those into which the client packs it."""
    from huggingface_hub.errors import LocalEntryNotFoundError

    while isinstance(error, RuntimeError | LocalEntryNotFoundError) and error.__cause__ is not None:
        error = error.__cause__
    return error


def status_of(error: BaseException) -> int | None:
    """The HTTP status behind an error; None where there was no answer."""
    status = getattr(getattr(_root(error), "response", None), "status_code", None)
    return status if isinstance(status, int) else None


def is_passing(error: BaseException) -> bool:
    """Whether the same call may succeed later: the Hub is busy or down, or the connection broke."""
    from huggingface_hub.errors import HTTPError, OfflineModeIsEnabled  # type: ignore[attr-defined]

    error = _root(error)
    if isinstance(error, OfflineModeIsEnabled):
        return False
    if type(error) is RuntimeError or type(error).__module__.startswith(_UPLOADER):
        return True
    status = status_of(error)
    return status in _PASSING if status is not None else isinstance(error, HTTPError | ConnectionError | TimeoutError)


def _asked_wait(error: BaseException) -> float | None:
    """How long the Hub asks to wait, by ``Retry-After`` or by ``RateLimit`` (a draft of the IETF), seconds."""
    headers = getattr(getattr(_root(error), "response", None), "headers", {})
    found = re.fullmatch(r"(\d+)", headers.get("Retry-After", "")) or _USED_UP.search(headers.get("RateLimit", ""))
    return min(float(found[1]), _LONGEST_WAIT) if found else None


def explain(error: BaseException, repo_id: str, token: str) -> VttdataError | None:
    """What to tell the user of an error of the Hub's client; None where it is no such error.

    A `HaltError` is one after which the same command may succeed; the token stands in none of them.
    """
    from huggingface_hub.errors import HTTPError, OfflineModeIsEnabled  # type: ignore[attr-defined]

    error = _root(error)
    if isinstance(error, OfflineModeIsEnabled):
        return VttdataError("The Hub may not be asked: HF_HUB_OFFLINE is set.")
    text = _first_line(error).replace(token, "***")
    if is_passing(error):
        return HaltError(
            f"The Hub cannot be reached or is busy ({text}). What is published is complete as it was, and what is "
            "uploaded already is not sent again; run the same command again."
        )
    if not isinstance(error, HTTPError | OSError | ValueError) or getattr(error, "filename", None) is not None:
        return None
    status = status_of(error)
    owner = repo_id.partition("/")[0]
    if status == 401:
        return VttdataError(
            f"The Hub does not accept the token (HF_TOKEN, or that of 'hf auth login'); a new one is at {_TOKENS}."
        )
    if status in (403, 404):
        return VttdataError(
            f"The token may not write to '{repo_id}': it needs write access to what belongs to '{owner}' ({_TOKENS})."
        )
    return VttdataError(f"The Hub refuses '{repo_id}': {text}.")


def _first_line(error: BaseException) -> str:
    """The telling line of a client's message, or the error's kind where it says nothing."""
    server = getattr(error, "server_message", None)
    lines = [line.strip() for line in str(server or error).splitlines()]
    return next((line.rstrip(".:") for line in lines if line), type(error).__name__)
