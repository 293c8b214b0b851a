"""Limit how long the client of the HuggingFace Hub waits for an answer, and explain what goes wrong with it.

`huggingface_hub` waits for ever for the answer to most requests. What it limits itself, and how often it tries again,
stays. Import this module where `huggingface_hub` is imported, which takes a while.
"""

from __future__ import annotations

import contextlib
import functools
import json
import traceback
from collections.abc import Iterator
from typing import Any

import huggingface_hub
from huggingface_hub import constants

from vttdata.errors import VttdataError

# Requests that change something are answered when it is done, which takes longer for large commits and uploads.
_CHANGE_FACTOR = 10
_REASON_CHARACTERS = 80


@contextlib.contextmanager
def hub_requests(subject: str) -> Iterator[None]:
    """Limit each wait for the Hub in a block, which asks it about `subject`, to ``HF_HUB_DOWNLOAD_TIMEOUT`` seconds.

    The clients of the process have the limit from then on, but for one that has limits of its own.

    Raises:
        VttdataError: when an answer is none of a Hub, such as ``null``.
    """
    client: Any = huggingface_hub.get_session()
    # Versions of huggingface_hub below 1 have another client, with limits for most requests.
    if (limits := getattr(client, "timeout", None)) is not None and limits.read is None:
        hooks = client.event_hooks["request"]
        if _limit_waits not in hooks:
            # Calls state that they have no limit, so that one of the client would not count; and huggingface_hub
            # replaces a client that could not connect.
            client_type: Any = type(client)
            make_client = functools.partial(
                client_type, event_hooks={"request": [*hooks, _limit_waits]}, follow_redirects=True, timeout=None
            )
            huggingface_hub.set_client_factory(make_client)
    try:
        yield
    except (TypeError, LookupError, AttributeError, RecursionError, json.JSONDecodeError) as error:
        frames = (frame.f_globals.get("__name__", "") for frame, _ in traceback.walk_tb(error.__traceback__))
        if not any(name.partition(".")[0] == huggingface_hub.__name__ for name in frames):
            raise
        reason = f"{type(error).__name__}: {str(error)[:_REASON_CHARACTERS]}"
        raise VttdataError(f"{subject}: {constants.ENDPOINT} does not answer as a Hub does ({reason}).") from error


def _limit_waits(request: Any) -> None:
    """Set those limits of a request of httpx that its caller left out."""
    limit = constants.HF_HUB_DOWNLOAD_TIMEOUT * (1 if request.method in {"GET", "HEAD"} else _CHANGE_FACTOR)
    given = request.extensions.get("timeout") or {}
    request.extensions["timeout"] = {step: given.get(step) or limit for step in ("connect", "read", "write", "pool")}


def explain_timeout(error: BaseException) -> str | None:
    """Return what happened if a wait for the Hub that took too long is behind an error; None if it is not."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, TimeoutError):
            return f"the Hub ({constants.ENDPOINT}) does not answer in time (HF_HUB_DOWNLOAD_TIMEOUT)"
        cause = cause.__cause__ or cause.__context__
    return None
