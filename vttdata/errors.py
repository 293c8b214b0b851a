"""Errors that a user may meet. A message is one sentence that says what is wrong and what to do about it."""

from __future__ import annotations

import contextlib
import difflib
import errno
from collections.abc import Iterable, Iterator

# Error numbers of an `OSError` in writing that concern the disk or folder, and not what is written.
DISK_ERRORS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM})

# Error numbers that concern the machine at this moment: its memory, open files, devices and mounts.
MACHINE_ERRORS = frozenset(
    {errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.EIO, errno.ENXIO, errno.ENODEV, errno.ENOLCK}
    | {errno.ESTALE, errno.ENOTCONN, errno.ETIMEDOUT, errno.EHOSTDOWN}
)


class VttdataError(Exception):
    """Expected error: the command line prints its message as one sentence and ends with exit code 2."""


class VttdataWarning(UserWarning):
    """Thing that a user should know of a result that can be used: the command line prints it as one sentence."""


class HaltError(VttdataError):
    """End of a build that cannot go on (a full disk, a bot check), loses nothing, and can be resumed: exit code 1."""


class ProgramKilledError(VttdataError):
    """End of an external program by SIGKILL from outside, such as the kernel's for want of memory.

    It says nothing about the file that the program worked on.
    """

    reason = "killed"


class LeakError(VttdataError):
    """Leaks found by an audit, so that a dataset was not packaged: exit code 3."""


class CaptionLossError(VttdataError):
    """Captions of an earlier dataset that a change would drop, so that nothing was packaged: exit code 2."""


def list_choices(name: str, known: Iterable[str]) -> str:
    """Return known names as a list for a message, and after them which one a mistyped name is nearest to."""
    choices = list(known)
    folded = {choice.casefold(): choice for choice in choices}
    near = difflib.get_close_matches(name.casefold(), folded, n=1)
    return ", ".join(choices) + (f" (did you mean '{folded[near[0]]}'?)" if near else "")


def disk_error_halt(error: OSError, name: object) -> HaltError:
    """Return the error that ends a build because writing failed for one of `DISK_ERRORS`.

    `name` is that of what was being written, for an error without a file name.
    """
    problem = f"{error.strerror} ({error.filename or name})"
    return HaltError(f"The build stopped: {problem}. Nothing finished is lost; run the same command again.")


@contextlib.contextmanager
def halt_on_disk_errors(name: object) -> Iterator[None]:
    """Raise a `HaltError` about a file or folder for each `OSError` that is one of `DISK_ERRORS`."""
    try:
        yield
    except OSError as error:
        if error.errno not in DISK_ERRORS:
            raise
        raise disk_error_halt(error, name) from error


class DescribeOSErrors:
    """Context in which an `OSError` becomes a `VttdataError` with a problem, such as ``FILE: cannot be read``."""

    def __init__(self, problem: str) -> None:
        self._problem = problem

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError):
            raise VttdataError(f"{self._problem} ({error.strerror or error}).") from error


class MediaError(VttdataError):
    """Media file that cannot be used.

    Args:
        reason: a word from a short closed list, for tables: ``empty``, ``unreadable``, ``truncated``, ``gaps``,
            ``no_video``, ``damaged``, ``frames_missing``, ``timestamps``, ``unsupported``, ``timeout``, ``cut_failed``,
            ``cut_mismatch``.
        detail: the facts, in one sentence without the file's name.
    """

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail

    def __reduce__(self) -> tuple[type[MediaError], tuple[str, str]]:
        # By default only the message would be pickled, and both arguments are needed in the other process.
        return type(self), (self.reason, self.detail)


class UnavailableError(MediaError):
    """Media file that this machine cannot read at the moment: its mount is away, or memory or open files are short.

    It says nothing about the file. `reason` is ``io_error`` or ``out_of_memory``.
    """
