"""Database of a campaign: workers, reservations and answers, in SQLite or any database that SQLAlchemy knows.

Every write is committed before it is acknowledged. One server at a time works on a database; other processes may read
it meanwhile, and add or delete workers.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import sqlalchemy as sql
from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError

from vttdata.annotate.campaign import Campaign
from vttdata.annotate.task import Answered
from vttdata.errors import VttdataError

_METADATA = sql.MetaData()
_CAMPAIGN = sql.Table("campaign", _METADATA, sql.Column("digest", sql.String(64), primary_key=True))
_WORKERS = sql.Table(
    "workers",
    _METADATA,
    sql.Column("worker", sql.String(200), primary_key=True),
    sql.Column("agreed", sql.Float),
    sql.Column("qualified", sql.Boolean, nullable=False, default=False),
    sql.Column("attempts", sql.Integer, nullable=False, default=0),
    sql.Column("platform", sql.Text, nullable=False, default="{}"),
)
_RESERVATIONS = sql.Table(
    "reservations",
    _METADATA,
    sql.Column("unit", sql.String(64), primary_key=True),
    sql.Column("worker", sql.String(200), primary_key=True),
    sql.Column("expires", sql.Float, nullable=False),
)
_ANSWERS = sql.Table(
    "answers",
    _METADATA,
    sql.Column("number", sql.Integer, primary_key=True, autoincrement=True),
    sql.Column("answer_id", sql.String(64), nullable=False, unique=True),
    sql.Column("worker", sql.String(200), nullable=False, index=True),
    sql.Column("unit", sql.String(64), nullable=False),
    sql.Column("item", sql.String(64), nullable=False),
    sql.Column("answer", sql.Text),
    sql.Column("problem", sql.Text),
    sql.Column("seconds", sql.Float, nullable=False),
    sql.Column("saved", sql.Float, nullable=False),
    sql.UniqueConstraint("worker", "unit", "item"),
    sql.Index("answers_of_item", "unit", "item"),
)


class WorkerState(NamedTuple):
    """Worker as stored: agreed to the consent, passed the qualification, attempts at it, platform's parameters."""

    worker: str
    agreed: float | None
    qualified: bool
    attempts: int
    platform: dict[str, str]


class StoredAnswer(NamedTuple):
    """Answer as stored; `answer` is None where the worker reported a problem with the item instead."""

    answer_id: str
    worker: str
    unit: str
    item: str
    answer: dict[str, Any] | None
    problem: str | None
    seconds: float
    saved: float


class Reservation(NamedTuple):
    """Unit that waits for a worker until a time in seconds since the epoch."""

    unit: str
    worker: str
    expires: float


class DuplicateError(Exception):
    """Answer to an item that the worker has answered already, or whose id is used."""


class SaveError(VttdataError):
    """Failure to write, such as a full disk; nothing was changed."""


class Store:
    """Database of a campaign, which is made if need be.

    Raises:
        VttdataError: when it cannot be opened, or holds the answers of another campaign.
    """

    def __init__(self, campaign: Campaign) -> None:
        try:
            self.engine = sql.create_engine(campaign.database, pool_pre_ping=True)
            if self.engine.dialect.name == "sqlite":
                sql.event.listen(self.engine, "connect", _set_up_sqlite)
            _METADATA.create_all(self.engine)
            with self.engine.begin() as connection:
                digests = list(connection.scalars(sql.select(_CAMPAIGN.c.digest)))
                if not digests:
                    connection.execute(_CAMPAIGN.insert(), {"digest": campaign.digest})
        except (SQLAlchemyError, ModuleNotFoundError) as error:
            raise VttdataError(f"The database of {campaign.folder} cannot be opened ({_reason(error)}).") from error
        if digests not in ([], [campaign.digest]):
            raise VttdataError(f"The database of {campaign.folder} holds the answers of another campaign.")

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()

    @contextlib.contextmanager
    def _write(self) -> Iterator[sql.Connection]:
        try:
            with self.engine.begin() as connection:
                yield connection
        except IntegrityError as error:
            raise DuplicateError from error
        except SQLAlchemyError as error:
            raise SaveError(f"The database cannot be written ({_reason(error)}).") from error

    @contextlib.contextmanager
    def _read(self) -> Iterator[sql.Connection]:
        try:
            with self.engine.connect() as connection:
                yield connection
        except (SQLAlchemyError, ValueError, TypeError) as error:
            raise VttdataError(f"The database cannot be read ({_reason(error)}); restore it from a copy.") from error

    def workers(self) -> list[WorkerState]:
        """Return all workers, sorted by name."""
        with self._read() as connection:
            rows = connection.execute(sql.select(_WORKERS).order_by(_WORKERS.c.worker))
            return [WorkerState(row[0], row[1], row[2], row[3], json.loads(row[4])) for row in rows]

    def add_worker(self, worker: str, platform: dict[str, str] | None = None) -> None:
        """Add a worker who is not there yet; the platform's parameters of one who is are replaced."""
        with contextlib.suppress(DuplicateError), self._write() as connection:
            connection.execute(_WORKERS.insert(), {"worker": worker, "platform": json.dumps(platform or {})})
            return
        if platform:
            with self._write() as connection:
                change = _WORKERS.update().where(_WORKERS.c.worker == worker)
                connection.execute(change, {"platform": json.dumps(platform)})

    def update_worker(self, worker: str, **values: Any) -> None:
        """Change a worker's consent, qualification or attempts."""
        with self._write() as connection:
            connection.execute(_WORKERS.update().where(_WORKERS.c.worker == worker), values)

    def delete_worker(self, worker: str) -> tuple[int, bool]:
        """Delete a worker with all answers; return the number of answers, and whether there was such a worker."""
        with self._write() as connection:
            answers = connection.execute(_ANSWERS.delete().where(_ANSWERS.c.worker == worker)).rowcount
            connection.execute(_RESERVATIONS.delete().where(_RESERVATIONS.c.worker == worker))
            workers = connection.execute(_WORKERS.delete().where(_WORKERS.c.worker == worker)).rowcount
        if self.engine.dialect.name == "sqlite":
            # Deleted rows would stay in free pages of the file and in its journal.
            with self.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                connection.exec_driver_sql("VACUUM")
                connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
        return answers, workers > 0

    def reservations(self) -> list[Reservation]:
        """Return all reservations."""
        with self._read() as connection:
            return [Reservation(*row) for row in connection.execute(sql.select(_RESERVATIONS))]

    def reserve(self, reservation: Reservation) -> None:
        """Write a reservation in the place of the worker's earlier ones."""
        with self._write() as connection:
            _replace_reservation(connection, reservation.worker, reservation)

    def save(self, answer: StoredAnswer, reservation: Reservation | None) -> None:
        """Write an answer, and the worker's reservation from now on.

        Raises:
            DuplicateError: when the item is answered already, or the answer's id is used; nothing is changed.
            SaveError: when it cannot be written; nothing is changed.
        """
        values = answer._asdict() | {"answer": None if answer.answer is None else json.dumps(answer.answer)}
        with self._write() as connection:
            connection.execute(_ANSWERS.insert(), values)
            _replace_reservation(connection, answer.worker, reservation)

    def answers(self, *, worker: str | None = None, unit: str | None = None, item: str = "") -> list[StoredAnswer]:
        """Return answers in the order in which they were saved: all, those of a worker, or those to an item."""
        query = sql.select(*(_ANSWERS.c[name] for name in StoredAnswer._fields)).order_by(_ANSWERS.c.number)
        if worker is not None:
            query = query.where(_ANSWERS.c.worker == worker)
        if unit is not None:
            query = query.where(_ANSWERS.c.unit == unit, _ANSWERS.c.item == item)
        with self._read() as connection:
            return [
                StoredAnswer(**{**row._mapping, "answer": None if row.answer is None else json.loads(row.answer)})
                for row in connection.execute(query)
            ]

    def answer_keys(self) -> list[tuple[str, str, str, str, bool]]:
        """Return id, worker, unit and item of every answer, and whether it is a problem instead."""
        columns = (_ANSWERS.c.answer_id, _ANSWERS.c.worker, _ANSWERS.c.unit, _ANSWERS.c.item, _ANSWERS.c.problem)
        with self._read() as connection:
            query = sql.select(*columns).order_by(_ANSWERS.c.number)
            return [(*row[:4], row[4] is not None) for row in connection.execute(query)]


def answered(campaign: Campaign, answers: list[StoredAnswer]) -> list[Answered]:
    """Return stored answers with their items, without problems."""
    return [
        Answered(a.worker, a.unit, campaign.items[a.unit, a.item], a.answer, a.seconds, a.saved)
        for a in answers
        if a.answer is not None and (a.unit, a.item) in campaign.items
    ]


def _replace_reservation(connection: sql.Connection, worker: str, reservation: Reservation | None) -> None:
    connection.execute(_RESERVATIONS.delete().where(_RESERVATIONS.c.worker == worker))
    if reservation is not None:
        connection.execute(_RESERVATIONS.insert(), reservation._asdict())


def _set_up_sqlite(connection: Any, _: Any) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    # An acknowledged answer survives a power failure too.
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.execute("PRAGMA busy_timeout=10000")
    cursor.execute("PRAGMA secure_delete=ON")
    cursor.close()


def _reason(error: Exception) -> str:
    cause = error.orig if isinstance(error, DBAPIError) else error
    return " ".join(str(cause).split())[:200]
