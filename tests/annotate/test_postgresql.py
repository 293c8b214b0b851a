"""A campaign's answers in PostgreSQL, which the test starts, survive kill -9 of the annotation server as well."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.needs import PROGRAM, library

library("starlette")
library("sqlalchemy")
library("httpx")
library("psycopg")

from tests.annotate.test_killed import kill_while_people_answer


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    """Start PostgreSQL on a socket in a folder of its own."""
    installed = [Path(path) for path in (shutil.which("initdb"),) if path]
    installed += sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not installed:
        pytest.skip(PROGRAM.format("postgresql"))
    programs = installed[-1].resolve().parent
    # PostgreSQL refuses to run as root.
    user = {"user": "postgres"} if os.geteuid() == 0 else {}
    folder = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))
    try:
        folder.chmod(0o777)
        command = [programs / "initdb", "--no-sync", "-A", "trust", "-U", "postgres", "-D", folder / "data"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=folder, **user)
        options = f"-c listen_addresses= -c unix_socket_directories={folder}"
        control = [programs / "pg_ctl", "-D", folder / "data", "-w"]
        subprocess.run(
            [*control, "-o", options, "-l", folder / "data" / "log", "start"],
            check=True,
            stdout=subprocess.DEVNULL,
            cwd=folder,
            **user,
        )
        yield f"postgresql+psycopg://postgres@/postgres?host={folder}"
        subprocess.run([*control, "-m", "immediate", "stop"], check=True, stdout=subprocess.DEVNULL, cwd=folder, **user)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def test_answers_in_postgresql_survive_kill_9(tmp_path: Path, clips: Path, database: str) -> None:
    kill_while_people_answer(tmp_path, clips, "--database", database, kills=1)
