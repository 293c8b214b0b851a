"""Command line: finds and runs the commands of this package. Results go to standard output, messages to standard error.

Shell completion is click's: ``eval "$(_VTTDATA_COMPLETE=bash_source vttdata)"``, and the same with ``zsh`` and
``fish``.
"""

from __future__ import annotations

import contextlib
import errno
import gc
import io
import os
import signal
import sys
import threading
import warnings
from collections.abc import Sequence
from typing import TextIO, cast

import click
from click.shell_completion import shell_complete

from vttdata.cli.exit_codes import BAD_INPUT, DONE, INCOMPLETE, INTERRUPTED, LEAKS, SUMMARY
from vttdata.cli.options import CommandFolder
from vttdata.cli.terminal import VisibleText, print_styled
from vttdata.errors import HaltError, LeakError, VttdataError, VttdataWarning
from vttdata.files.addresses import hide_secrets
from vttdata.files.table_formats import visible
from vttdata.version import __version__

COMPLETION_VARIABLE = "_VTTDATA_COMPLETE"

# What the help lists, by what it is for.
SECTIONS = {
    "Build": ("build", "foil", "degrade", "fetch", "list", "new"),
    "Look": ("show", "rejects", "video"),
    "Check": ("audit", "verify", "diff", "protocol"),
    "People": ("people",),
    "Score": ("evaluate", "metric"),
    "Share": ("stimuli", "export", "publish", "correct", "withdraw"),
}

cli = CommandFolder(
    "vttdata",
    package="vttdata.cli",
    sections=SECTIONS,
    help="Build, check, score with and share video-to-text benchmarks.\n\n"
    "'vttdata build demo' is a first try; 'vttdata COMMAND --help' has options and examples.",
    notes=(SUMMARY,),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100, "show_default": True},
)
click.version_option(__version__, message="%(prog)s %(version)s")(cli)

# What a user named is not what it should be, or may not be used.
_WRONG_PATH = {errno.ENAMETOOLONG, errno.EISDIR, errno.ENOTDIR, errno.EEXIST, errno.EACCES, errno.EROFS}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    # Imports make many objects and few cycles: searching for cycles as often as usual took a tenth of a small build.
    gc.set_threshold(50_000)
    # NumPy starts a thread of OpenBLAS for each core, which waits for work in a busy loop: 2**26 cycles by default.
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A name from somebody else's file may have characters that the terminal's encoding lacks. On Windows a file or
        # pipe would get the code page of the country, in which no JSON is written.
        sys.stdout.reconfigure(encoding="utf-8" if sys.platform == "win32" else None, errors="backslashreplace")
    # What a scheduler or a container sends to stop a program ends it as Ctrl-C does: files half written are removed.
    before = signal.getsignal(signal.SIGTERM)
    is_main_thread = threading.current_thread() is threading.main_thread()
    if is_main_thread:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(cast(TextIO, VisibleText(sys.stdout))):
            warnings.showwarning = show_warning
            warnings.simplefilter("always", VttdataWarning)
            return run_command(arguments)
    finally:
        if is_main_thread:
            signal.signal(signal.SIGTERM, before or signal.SIG_DFL)


def show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Print a warning of vttdata as a sentence, and any other as Python does."""
    is_ours = issubclass(category, VttdataWarning)
    text = (
        visible(f"vttdata: {hide_secrets(str(message))}\n")
        if is_ours
        else warnings.formatwarning(message, category, filename, lineno, line)
    )
    (file or sys.stderr).write(text)


def run_command(arguments: Sequence[str] | None) -> int:
    """Run a command and return its exit code; expected errors become a sentence."""
    try:
        if instruction := os.environ.get(COMPLETION_VARIABLE):
            return shell_complete(cli, {}, "vttdata", COMPLETION_VARIABLE, instruction)
        with cli.make_context("vttdata", list(sys.argv[1:] if arguments is None else arguments)) as context:
            code: int = cli.invoke(context)
        sys.stdout.flush()
        return code
    except click.exceptions.Exit as done:
        return done.exit_code
    except BrokenPipeError:
        _discard_output()
        return DONE
    except (click.UsageError, VttdataError, ModuleNotFoundError, OSError, MemoryError, KeyboardInterrupt) as error:
        message, code = describe_error(error)
        print_styled(hide_secrets(message), sys.stderr, fg=None if code == INTERRUPTED else "red")
        return code


def describe_error(error: BaseException) -> tuple[str, int]:
    """Return the sentence and the exit code that an expected error ends a command with; raise any other error."""
    match error:
        case click.UsageError():
            path = error.ctx.command_path if error.ctx is not None else "vttdata"
            message = " ".join(error.format_message().split())
            stop = "" if message.endswith((".", "?")) else "."
            return f"{path}: {message}{stop} See '{path} --help'.", BAD_INPUT
        case VttdataError():
            code = LEAKS if isinstance(error, LeakError) else INCOMPLETE if isinstance(error, HaltError) else BAD_INPUT
            return f"vttdata: {error}", code
        case ModuleNotFoundError() if (error.name or "").partition(".")[0] != "vttdata":
            return f"vttdata: this needs more than loading does: pip install 'vttdata[build]' ({error}).", BAD_INPUT
        case KeyboardInterrupt():
            return "vttdata: interrupted; what is finished is kept, run the same command to go on.", INTERRUPTED
        case MemoryError():
            return "vttdata: the memory of this machine did not suffice.", INCOMPLETE
        case OSError():
            if error.filename is None:
                _discard_output()
            file = f" ({error.filename})" if error.filename else ""
            code = BAD_INPUT if error.errno in _WRONG_PATH else INCOMPLETE
            return f"vttdata: {error.strerror or error}{file}.", code
        case _:
            raise error


def _discard_output() -> None:
    """Send the rest of standard output nowhere, so that the interpreter does not complain about it at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
