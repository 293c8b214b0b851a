"""Call the Hub: retry where that may help, and explain in one sentence what is wrong where it does not.

Nothing about what is uploaded is decided here. The client library asks a busy Hub again in uploads; everything else is
retried here.
"""

from __future__ import annotations

import functools
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from vttdata.errors import HaltError, VttdataError

if TYPE_CHECKING:
    from huggingface_hub import HfApi

# Seconds before each retry, unless the Hub says how long to wait.
WAITS = (1.0, 2.0, 4.0, 8.0)

_MAX_WAIT = 300.0
_RATE_LIMIT_USED_UP = re.compile(r";\s*r=0;\s*t=(\d+)")
_TRANSIENT_STATUS = {408, 429, 500, 502, 503, 504}
# The uploader raises plain RuntimeErrors besides errors of its own.
_UPLOADER = "hf_xet"
_TOKENS_URL = "https://huggingface.co/settings/tokens"

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """File of a repository with its size in bytes, git's checksum, and the SHA-256 if it is stored as a large file."""

    bytes: int
    git_sha1: str
    sha256: str | None


@dataclass(frozen=True, slots=True)
class Remote:
    """State of a repository: newest commit, visibility, files by path, and the commit of each tag."""

    head: str
    private: bool
    files: Mapping[str, RemoteFile]
    tags: Mapping[str, str]


def connect(endpoint: str | None, *, needs_token: bool = True) -> HfApi:
    """Return a client of the Hub at an address, None for the usual one, with the user's token.

    Raises:
        VttdataError: If there is no token though one is needed, or it contains characters that no token has.
    """
    import huggingface_hub

    from vttdata.version import __version__

    token = huggingface_hub.get_token() or ""
    if not token and needs_token:
        raise VttdataError(
            "There is no token for the Hub: log in with 'hf auth login', or set HF_TOKEN; a token with write access "
            f"comes from {_TOKENS_URL}."
        )
    if not token.isascii() or not token.isprintable() or " " in token:
        raise VttdataError("The token for the Hub (HF_TOKEN, or of 'hf auth login') has characters that no token has.")
    return huggingface_hub.HfApi(endpoint, token=token or False, library_name="vttdata", library_version=__version__)


def read_remote(api: HfApi, repo_id: str) -> Remote | None:
    """Return the state of a repository; None if there is none that the token may see."""
    from huggingface_hub.errors import RepositoryNotFoundError

    try:
        info = retry_request(api.dataset_info, repo_id, files_metadata=True)
        refs = retry_request(api.list_repo_refs, repo_id, repo_type="dataset")
    except RepositoryNotFoundError:
        return None
    files = {
        file.rfilename: RemoteFile(file.size or 0, file.blob_id or "", file.lfs.sha256 if file.lfs else None)
        for file in info.siblings or ()
    }
    return Remote(info.sha or "", bool(info.private), files, {tag.name: tag.target_commit for tag in refs.tags})


def retry_request(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call a function, and call it again after a while if the Hub is busy or the connection broke."""
    return _retry(functools.partial(call, *args, **kwargs), is_transient)


def retry_upload(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call a function that sends files, and call it again after a while if the connection broke.

    Files that arrived are not sent again. Some versions of the client library retry this by themselves, and all of them
    do so if the Hub is busy.
    """
    return _retry(
        functools.partial(call, *args, **kwargs), lambda error: status_of(error) is None and is_transient(error)
    )


def _retry(call: Callable[[], T], may_pass: Callable[[BaseException], bool]) -> T:
    for wait in WAITS:
        try:
            return call()
        except Exception as error:
            if not may_pass(error):
                raise
            time.sleep(_requested_wait(error) or wait)
    return call()


def _unwrap(error: BaseException) -> BaseException:
    """Return the connection error that the client wrapped into others."""
    from huggingface_hub.errors import LocalEntryNotFoundError

    while isinstance(error, RuntimeError | LocalEntryNotFoundError) and error.__cause__ is not None:
        error = error.__cause__
    return error


def status_of(error: BaseException) -> int | None:
    """Return the HTTP status behind an error; None if there was no answer."""
    status = getattr(getattr(_unwrap(error), "response", None), "status_code", None)
    return status if isinstance(status, int) else None


def is_transient(error: BaseException) -> bool:
    """Return whether the same call may succeed later: the Hub is busy or down, or the connection broke."""
    from huggingface_hub.errors import HTTPError, OfflineModeIsEnabled  # type: ignore[attr-defined]

    error = _unwrap(error)
    if isinstance(error, OfflineModeIsEnabled):
        return False
    if type(error) is RuntimeError or type(error).__module__.startswith(_UPLOADER):
        return True
    status = status_of(error)
    return (
        status in _TRANSIENT_STATUS
        if status is not None
        else isinstance(error, HTTPError | ConnectionError | TimeoutError)
    )


def _requested_wait(error: BaseException) -> float | None:
    """Return the seconds to wait that the Hub requests by ``Retry-After`` or ``RateLimit`` (an IETF draft)."""
    headers = getattr(getattr(_unwrap(error), "response", None), "headers", {})
    retry_after, rate_limit = headers.get("Retry-After", ""), headers.get("RateLimit", "")
    match = re.fullmatch(r"(\d+)", retry_after) or _RATE_LIMIT_USED_UP.search(rate_limit)
    return min(float(match[1]), _MAX_WAIT) if match else None


def explain_error(error: BaseException, repo_id: str, token: str) -> VttdataError | None:  # noqa: PLR0911
    """Return the error for the user that explains one of the Hub's client; None if it is not one.

    After a `HaltError` the same command may succeed. No message contains the token.
    """
    from huggingface_hub.errors import HTTPError, OfflineModeIsEnabled  # type: ignore[attr-defined]

    from vttdata.hub_client import explain_timeout

    error = _unwrap(error)
    timeout = explain_timeout(error)
    if isinstance(error, OfflineModeIsEnabled):
        return VttdataError("The Hub cannot be used, since HF_HUB_OFFLINE is set.")
    if timeout is not None:
        return HaltError(
            f"Publishing stopped: {timeout}. The published version is as it was; run the same command again."
        )
    text = _first_line(error).replace(token, "***")
    if is_transient(error):
        return HaltError(
            f"The Hub cannot be reached or is busy ({text}). The published version is as it was, and files that are "
            "uploaded already are not sent again; run the same command again."
        )
    if not isinstance(error, HTTPError | OSError | ValueError) or getattr(error, "filename", None) is not None:
        return None
    status = status_of(error)
    owner = repo_id.partition("/")[0]
    if status == 401:
        return VttdataError(
            f"The Hub does not accept the token (HF_TOKEN, or that of 'hf auth login'); a new one is at {_TOKENS_URL}."
        )
    if status in (403, 404):
        return VttdataError(
            f"The token may not write to '{repo_id}': it needs write access to repositories of '{owner}' "
            f"({_TOKENS_URL})."
        )
    return VttdataError(f"The Hub refuses '{repo_id}': {text}.")


def _first_line(error: BaseException) -> str:
    """Return the first line of a client's message that is not empty, or the type of the error."""
    message = str(getattr(error, "server_message", None) or error)
    lines = (line.strip().rstrip(".:") for line in message.splitlines())
    return next(filter(None, lines), type(error).__name__)
