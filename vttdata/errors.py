"""The errors a user may meet. Each message is one sentence that says what is wrong and what to do about it."""

from __future__ import annotations


class VttdataError(Exception):
    """An expected error: the command line prints its message as one sentence and ends with exit code 2."""


class MediaError(VttdataError):
    """A media file that cannot be used.

    Args:
        reason: a word from a short closed list, fit for a table: ``empty``, ``unreadable``, ``truncated``,
            ``no_video``, ``damaged``, ``frames_missing``, ``timestamps``, ``unsupported``, ``timeout``, ``cut_failed``,
            ``cut_mismatch``.
        detail: what exactly was found, in one sentence without the file's name.
    """

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail

    def __reduce__(self) -> tuple[type[MediaError], tuple[str, str]]:
        """Keep both fields when the error crosses a process border."""
        return type(self), (self.reason, self.detail)
