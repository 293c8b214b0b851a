"""The errors a user may meet. Each message is one sentence that says what is wrong and what to do about it."""

from __future__ import annotations

import errno

DISK_ERRORS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM})
"""Error numbers of an `OSError` in writing that concern the disk or folder and not what is written."""


class VttdataError(Exception):
    """An expected error: the command line prints its message as one sentence and ends with exit code 2."""


class HaltError(VttdataError):
    """A build cannot go on (a full disk, a bot check), loses nothing, and can be resumed: exit code 1."""


class LeakError(VttdataError):
    """An audit found leaks, so a dataset was not packaged: exit code 3."""


def disk_halt(error: OSError, place: object) -> HaltError:
    """What to say when writing fails for one of `DISK_ERRORS`; `place` stands in for a missing file name."""
    what = f"{error.strerror} ({error.filename or place})"
    return HaltError(f"The build stopped: {what}. Nothing finished is lost; run the same command again.")


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
