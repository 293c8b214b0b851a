"""Keep the workers, reservations and answers of a campaign in the SQLite database ``answers.sqlite`` of its folder.

Every write is on the disk before it is acknowledged. One server at a time works on a campaign; other processes may read
the database meanwhile, and add workers.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
import stat
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from vttdata.errors import VttdataError
from vttdata.people.campaign import DATABASE, Campaign
from vttdata.people.task import Answered, Observed

# How long an operation waits for another process that writes.
_PATIENCE_SECONDS = 10.0

# With synchronous=FULL, an acknowledged answer survives a power failure too.
_SETUP = """
PRAGMA journal_mode=WAL;
PRAGMA synchronous=FULL;
PRAGMA secure_delete=ON;
CREATE TABLE IF NOT EXISTS campaign (digest VARCHAR(64) NOT NULL PRIMARY KEY);
CREATE TABLE IF NOT EXISTS workers (
    worker VARCHAR(200) NOT NULL PRIMARY KEY,
    agreed FLOAT,
    qualified BOOLEAN NOT NULL,
    attempts INTEGER NOT NULL,
    platform TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS reservations (
    unit VARCHAR(64) NOT NULL,
    worker VARCHAR(200) NOT NULL,
    expires FLOAT NOT NULL,
    PRIMARY KEY (unit, worker)
);
CREATE TABLE IF NOT EXISTS answers (
    number INTEGER NOT NULL PRIMARY KEY,
    answer_id VARCHAR(64) NOT NULL UNIQUE,
    worker VARCHAR(200) NOT NULL,
    unit VARCHAR(64) NOT NULL,
    item VARCHAR(64) NOT NULL,
    answer TEXT,
    problem TEXT,
    seconds FLOAT,
    saved FLOAT NOT NULL,
    observed TEXT,
    UNIQUE (worker, unit, item)
);
CREATE INDEX IF NOT EXISTS held_reservations ON reservations (worker) WHERE expires > 0;
"""

_Record = TypeVar("_Record")


class WorkerState(NamedTuple):
    """Worker as stored: agreed to the consent, passed the qualification, attempts at it, platform's parameters."""

    worker: str
    agreed: float | None
    qualified: bool
    attempts: int
    platform: dict[str, str]


class StoredAnswer(NamedTuple):
    """Answer as stored.

    `answer` is None where the worker reported a problem with the item instead, and `seconds` where nobody measured.
    """

    answer_id: str
    worker: str
    unit: str
    item: str
    answer: dict[str, Any] | None
    problem: str | None
    seconds: float | None
    saved: float
    observed: Observed | None = None


class Reservation(NamedTuple):
    """Unit that waits for a worker until a time in seconds since the epoch; 0 once the worker has another one."""

    unit: str
    worker: str
    expires: float


class DuplicateError(Exception):
    """Answer to an item that the worker has answered already, or whose id is used."""


class SaveError(VttdataError):
    """Failure to write, such as a full disk; nothing was changed."""


class Store:
    """Database of a campaign, which is made if need be. Threads may share it.

    For `reading`, that of a folder that cannot be written is copied into memory.

    Raises:
        VttdataError: when it cannot be opened, or holds the answers of another campaign.
    """

    def __init__(self, campaign: Campaign, *, reading: bool = False) -> None:
        self._path = path = campaign.folder / DATABASE
        self._lock = threading.RLock()
        self._added = 0
        try:
            if reading and not os.access(campaign.folder, os.W_OK):
                self.connection = _copy_in_memory(path)
            else:
                _keep_private(path)
                self.connection = sqlite3.connect(
                    path, timeout=_PATIENCE_SECONDS, isolation_level=None, check_same_thread=False
                )
        except (OSError, sqlite3.Error) as error:
            raise _opening_error(campaign, error) from error
        try:
            self.connection.executescript(_SETUP)
            digests = [digest for (digest,) in self.connection.execute("SELECT digest FROM campaign")]
            if not digests:
                self.connection.execute("INSERT OR IGNORE INTO campaign VALUES (?)", (campaign.digest,))
        except sqlite3.Error as error:
            self.connection.close()
            raise _opening_error(campaign, error) from error
        if digests not in ([], [campaign.digest]):
            self.connection.close()
            raise VttdataError(f"The database of {campaign.folder} holds the answers of another campaign.")

    def close(self) -> None:
        """Close the database."""
        with self._lock:
            self.connection.close()

    def detach(self) -> None:
        """Go on in a copy in memory, so that what is saved from now on changes nothing in the campaign."""
        with self._lock:
            copy = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
            self.connection.backup(copy)
            self.connection.close()
            self.connection = copy

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Open a transaction, which is committed at the end and undone by an error; one within another is part of it.

        Raises:
            DuplicateError: when there is such a row already.
            SaveError: when it cannot be written; nothing is changed.
        """
        try:
            with self._lock:
                if self.connection.in_transaction:
                    yield self.connection
                    return
                with self.connection as connection:
                    connection.execute("BEGIN IMMEDIATE")
                    yield connection
                    # SQLite itself undoes it after some errors of the disk, which this statement alone notices.
                    connection.execute("COMMIT")
        except sqlite3.IntegrityError as error:
            raise DuplicateError from error
        except sqlite3.Error as error:
            raise SaveError(f"{self._path}: cannot be written ({_reason(error)}).") from error

    def _select(self, query: str, make_record: Callable[..., _Record]) -> list[_Record]:
        """Return a record for each row of a query, whose columns are the arguments of `make_record`."""
        try:
            with self._lock:
                rows = self.connection.execute(query).fetchall()
            return [make_record(*row) for row in rows]
        except (sqlite3.Error, ValueError, TypeError) as error:
            raise VttdataError(f"{self._path}: cannot be read ({_reason(error)}); restore it from a copy.") from error

    def workers(self) -> list[WorkerState]:
        """Return all workers, sorted by name."""
        return self._select(
            "SELECT worker, agreed, qualified, attempts, platform FROM workers ORDER BY worker",
            lambda worker, agreed, qualified, attempts, platform: WorkerState(
                worker, agreed, bool(qualified), attempts, json.loads(platform)
            ),
        )

    def version(self) -> tuple[int, int]:
        """Return numbers that change whenever another process writes, or a worker is added here."""
        return self._select("PRAGMA data_version", int)[0], self._added

    def add_worker(self, worker: str, platform: dict[str, str] | None = None) -> None:
        """Add a worker who is not there yet; the platform's parameters of one who is are replaced."""
        with self.transaction() as connection:
            connection.execute(
                "INSERT INTO workers (worker, qualified, attempts, platform) VALUES (?, 0, 0, ?) "
                "ON CONFLICT (worker) DO UPDATE SET platform = excluded.platform WHERE excluded.platform <> '{}'",
                (worker, json.dumps(platform or {})),
            )
        self._added += 1

    def update_worker(self, state: WorkerState) -> None:
        """Write the consent, qualification and attempts of a worker who is there."""
        with self.transaction() as connection:
            connection.execute(
                "UPDATE workers SET agreed = ?, qualified = ?, attempts = ? WHERE worker = ?",
                (state.agreed, state.qualified, state.attempts, state.worker),
            )

    def delete_worker(self, worker: str) -> tuple[int, bool]:
        """Delete a worker with all answers; return the number of answers, and whether there was such a worker.

        Raises:
            SaveError: when nothing could be deleted.
            VttdataError: when the rows are deleted, but could not be removed from the file's free pages and journal.
        """
        with self.transaction() as connection:
            answers = connection.execute("DELETE FROM answers WHERE worker = ?", (worker,)).rowcount
            connection.execute("DELETE FROM reservations WHERE worker = ?", (worker,))
            workers = connection.execute("DELETE FROM workers WHERE worker = ?", (worker,)).rowcount
        try:
            with self._lock:
                # Deleted rows would stay in free pages of the file and in its journal.
                self.connection.execute("VACUUM")
                self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except sqlite3.Error as error:
            raise VttdataError(
                f"{answers:,} answers were deleted, but the file may hold traces of them ({_reason(error)}); "
                "run the same command again."
            ) from error
        return answers, workers > 0

    def reservations(self) -> list[Reservation]:
        """Return the reservations that workers have."""
        return self._select("SELECT unit, worker, expires FROM reservations WHERE expires > 0", Reservation)

    def assignments(self) -> list[tuple[str, str]]:
        """Return unit and worker of everything that was ever reserved."""
        return self._select("SELECT unit, worker FROM reservations", lambda unit, worker: (unit, worker))

    def reserve(self, reservation: Reservation) -> None:
        """Write a reservation in the place of the worker's earlier ones."""
        with self.transaction() as connection:
            _replace_reservation(connection, reservation.worker, reservation)

    def save(self, answer: StoredAnswer, reservation: Reservation | None) -> None:
        """Write an answer, and the worker's reservation from now on.

        Raises:
            DuplicateError: when the item is answered already, or the answer's id is used; nothing is changed.
            SaveError: when it cannot be written; nothing is changed.
        """
        observed = None if answer.observed is None else json.dumps(answer.observed._asdict())
        content = None if answer.answer is None else json.dumps(answer.answer)
        values = answer._asdict() | {"answer": content, "observed": observed}
        with self.transaction() as connection:
            connection.execute(
                "INSERT INTO answers (answer_id, worker, unit, item, answer, problem, seconds, saved, observed) "
                "VALUES (:answer_id, :worker, :unit, :item, :answer, :problem, :seconds, :saved, :observed)",
                values,
            )
            _replace_reservation(connection, answer.worker, reservation)

    def answers(self) -> list[StoredAnswer]:
        """Return the answers in the order in which they were saved."""
        return self._select(
            "SELECT answer_id, worker, unit, item, answer, problem, seconds, saved, observed FROM answers "
            "ORDER BY number",
            _as_stored_answer,
        )


def answered(campaign: Campaign, answers: list[StoredAnswer]) -> list[Answered]:
    """Return stored answers with their items, without problems."""
    return [
        Answered(a.worker, a.unit, campaign.items[a.unit, a.item], a.answer, a.seconds, a.saved, a.observed)
        for a in answers
        if a.answer is not None and (a.unit, a.item) in campaign.items
    ]


def _as_stored_answer(*row: Any) -> StoredAnswer:
    answer, observed = (None if text is None else json.loads(text) for text in (row[4], row[8]))
    return StoredAnswer._make((*row[:4], answer, *row[5:8], None if observed is None else Observed(**observed)))


def _replace_reservation(connection: sqlite3.Connection, worker: str, reservation: Reservation | None) -> None:
    connection.execute("UPDATE reservations SET expires = 0 WHERE worker = ? AND expires > 0", (worker,))
    if reservation is not None:
        connection.execute(
            "INSERT INTO reservations (unit, worker, expires) VALUES (?, ?, ?) "
            "ON CONFLICT (unit, worker) DO UPDATE SET expires = excluded.expires",
            reservation,
        )


def _keep_private(path: Path) -> None:
    """Make a database that its owner alone can read, or an existing one such."""
    # SQLite gives its journals the permissions of the database. A file that exists must not be opened here: closing it
    # would release the locks that other connections of this process have on it.
    try:
        path.touch(mode=0o600, exist_ok=False)
    except FileExistsError:
        for file in (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
            # It may be somebody else's, or gone since.
            with contextlib.suppress(PermissionError, FileNotFoundError):
                if stat.S_IMODE(file.stat().st_mode) & 0o077:
                    file.chmod(0o600)


def _copy_in_memory(path: Path) -> sqlite3.Connection:
    """Return a copy of a database that cannot be written where it is, an empty one where there is none."""
    copy = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    with tempfile.TemporaryDirectory() as temporary:
        # SQLite reads a database with a journal only where it can write; answers may still be in the journal alone.
        for file in (path, path.with_name(f"{path.name}-wal")):
            if file.is_file():
                shutil.copyfile(file, Path(temporary, file.name))
        with contextlib.closing(sqlite3.connect(Path(temporary, path.name))) as original:
            original.backup(copy)
    return copy


def _opening_error(campaign: Campaign, error: Exception) -> VttdataError:
    return VttdataError(f"The database of {campaign.folder} cannot be opened ({_reason(error)}).")


def _reason(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
