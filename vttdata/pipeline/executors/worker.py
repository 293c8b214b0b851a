"""The loop of a worker process: takes a stage, then items one by one, and answers each with its outcomes.

Started by the local executor with the file descriptor of its connection as only argument; dies with its parent.
"""

from __future__ import annotations

import faulthandler
import signal
import sys
import time
import traceback
from multiprocessing.connection import Connection
from typing import Any

from vttdata.errors import DISK_ERRORS, HaltError, VttdataError, disk_halt
from vttdata.pipeline.stage import Failed, Outcome, Stage
from vttdata.subprocesses import die_with_parent

READY = "ready"
"""The first message of a worker: importing is over."""


def attempt(stage: Stage, item: Any) -> tuple[Outcome, ...]:
    """Process one item; whatever goes wrong with it becomes a `Failed`.

    Raises:
        HaltError: when no item can succeed any more: the disk is full or read-only.
    """
    try:
        return tuple(stage.process(item))
    except HaltError:
        raise
    except VttdataError as error:
        reason = getattr(error, "reason", "refused")
        detail = ": ".join(text for text in (stage.label(item), str(error)) if text)
        return (Failed(stage.item_id(item), reason, detail, getattr(error, "retry", reason == "timeout")),)
    except OSError as error:
        if error.errno in DISK_ERRORS:
            raise disk_halt(error, stage.name) from error
        return (Failed(stage.item_id(item), "io_error", str(error), retry=True),)
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        detail = f"{type(error).__name__}: {error} ({place.name}, line {place.lineno})"
        return (Failed(stage.item_id(item), "internal_error", detail, retry=True),)


def serve(connection: Connection) -> None:
    """Answer messages until the connection closes: a `Stage` replaces the stage, `(item,)` is processed."""
    stage: Stage | None = None
    connection.send(READY)
    while True:
        try:
            message = connection.recv()
        except EOFError:
            return
        if isinstance(message, Stage):
            stage = message
            continue
        if stage is None:
            raise RuntimeError("an item came before its stage")
        started = time.monotonic()
        try:
            answer: tuple[Outcome, ...] | HaltError = attempt(stage, message[0])
        except HaltError as error:
            answer = error
        connection.send((answer, time.monotonic() - started))


def main() -> None:
    """Entry point of the process."""
    faulthandler.enable()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with_parent()
    with Connection(int(sys.argv[1])) as connection:
        serve(connection)


if __name__ == "__main__":
    main()
