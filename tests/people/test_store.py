"""Answers in ``answers.sqlite`` are kept, whoever wrote the file, and whatever happens to it is one clear sentence."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.helpers.needs import library

library("starlette")
library("httpx")

from tests.people.served import make
from vttdata.cli.main import main
from vttdata.people.campaign import Campaign
from vttdata.people.service import Service
from vttdata.people.store import DuplicateError, Reservation, SaveError, Store, StoredAnswer, WorkerState

CAPTION = {"caption": "a zebra plays chess against a penguin"}


@pytest.fixture
def campaign(tmp_path: Path, clips: Path) -> Campaign:
    return make(
        tmp_path / "campaign",
        "caption",
        clips,
        "--set",
        "judgments=2",
        "--set",
        "qualification=false",
        "--set",
        "questions=0",
    )


@pytest.fixture
def database(campaign: Campaign) -> Path:
    return campaign.folder / "answers.sqlite"


def an_answer(number: int, worker: str = "ann") -> StoredAnswer:
    return StoredAnswer(f"id{number}", worker, f"u{number}", "i", CAPTION, None, 2.5, 1e9 + number)


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    assert main(list(arguments)) == 2
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    return message


def test_what_is_saved_after_detaching_is_in_no_file(campaign: Campaign) -> None:
    store = Store(campaign)
    store.save(an_answer(1), None)
    store.detach()
    store.save(an_answer(2)._replace(seconds=None), None)
    assert [answer.seconds for answer in store.answers()] == [2.5, None]
    with pytest.raises(DuplicateError):
        store.save(an_answer(1)._replace(answer_id="again"), None)
    store.close()
    kept = Store(campaign)
    assert kept.answers() == [an_answer(1)]
    kept.close()


def test_commits_are_synchronised_and_files_are_the_owner_s(campaign: Campaign, database: Path) -> None:
    store = Store(campaign)
    store.save(an_answer(1), None)
    assert store.connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert store.connection.execute("PRAGMA synchronous").fetchone() == (2,), "FULL"
    files = list(campaign.folder.glob("answers.sqlite*"))
    assert len(files) == 3
    assert [file.name for file in files if file.stat().st_mode & 0o077] == []
    store.close()


def test_threads_share_a_store(campaign: Campaign) -> None:
    store = Store(campaign)
    errors: list[Exception] = []

    def work(worker: int) -> None:
        try:
            for number in range(worker * 100, worker * 100 + 20):
                store.save(an_answer(number, f"w{worker}"), Reservation(f"u{number}", f"w{worker}", 9e9))
                assert an_answer(number, f"w{worker}") in store.answers()
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert {a.answer_id for a in store.answers()} == {f"id{w * 100 + n}" for w in range(8) for n in range(20)}
    assert {(r.worker, r.unit) for r in store.reservations()} == {(f"w{w}", f"u{w * 100 + 19}") for w in range(8)}
    store.close()


def test_refused_answer_changes_nothing(campaign: Campaign) -> None:
    store = Store(campaign)
    store.save(an_answer(1), Reservation("u2", "ann", 9e9))
    with pytest.raises(DuplicateError):
        store.save(an_answer(1), Reservation("u3", "ann", 9e9))
    assert store.answers() == [an_answer(1)]
    assert store.reservations() == [Reservation("u2", "ann", 9e9)]
    store.close()


def test_transaction_that_the_disk_undid_is_not_taken_for_saved(campaign: Campaign) -> None:
    store = Store(campaign)

    def undo() -> None:
        with store.transaction() as connection:
            store.save(an_answer(1), None)
            # SQLite does so by itself after some errors of the disk.
            connection.execute("ROLLBACK")

    with pytest.raises(SaveError):
        undo()
    assert store.answers() == []
    store.close()


def test_database_that_another_process_writes_is_read_and_saves_fail_without_loss(
    campaign: Campaign, database: Path
) -> None:
    store = Store(campaign)
    store.save(an_answer(1), None)
    store.connection.execute("PRAGMA busy_timeout=0").fetchone()
    other = sqlite3.connect(database, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(SaveError):
        store.save(an_answer(2), None)
    reader = Store(campaign)
    assert reader.answers() == store.answers() == [an_answer(1)]
    reader.close()
    other.execute("ROLLBACK")
    other.close()
    store.save(an_answer(2), None)
    assert store.answers() == [an_answer(1), an_answer(2)]
    store.close()


def test_platform_is_replaced_and_consent_kept_when_a_worker_comes_back(campaign: Campaign) -> None:
    store = Store(campaign)
    store.add_worker("mturk:1", {"hitId": "a"})
    store.update_worker(WorkerState("mturk:1", 3.0, True, 1, {}))
    store.add_worker("mturk:1")
    assert store.workers()[-1] == WorkerState("mturk:1", 3.0, True, 1, {"hitId": "a"})
    store.add_worker("mturk:1", {"hitId": "b"})
    assert store.workers()[-1] == WorkerState("mturk:1", 3.0, True, 1, {"hitId": "b"})
    store.close()


@pytest.mark.parametrize(("table", "message"), [("sqlite_schema", "cannot be opened"), ("answers", "cannot be read")])
def test_damaged_database_is_refused_in_one_sentence_and_left_as_it_is(
    campaign: Campaign, database: Path, capsys: pytest.CaptureFixture[str], table: str, message: str
) -> None:
    reader = sqlite3.connect(database)
    (size,) = reader.execute("PRAGMA page_size").fetchone()
    pages = dict(reader.execute("SELECT name, rootpage FROM sqlite_master")) | {"sqlite_schema": 1}
    reader.close()
    content = bytearray(database.read_bytes())
    content[(pages[table] - 1) * size : pages[table] * size] = b"\xa5" * size
    database.write_bytes(content)
    assert message in refused(capsys, "people", "status", str(campaign.folder))
    assert database.read_bytes() == content


def test_database_of_another_campaign_is_refused(
    campaign: Campaign, database: Path, clips: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    second = make(tmp_path / "second", "caption", clips, "--set", "min_words=3")
    shutil.copyfile(database, second.folder / "answers.sqlite")
    assert "another campaign" in refused(capsys, "people", "status", str(second.folder))


def test_database_that_others_can_read_is_made_the_owner_s(campaign: Campaign, database: Path) -> None:
    store = Store(campaign)
    store.save(an_answer(1), None)
    files = list(campaign.folder.glob("answers.sqlite*"))
    for file in files:
        file.chmod(0o644)
    Store(campaign).close()
    assert len(files) == 3
    assert [file.name for file in files if file.stat().st_mode & 0o077] == []
    store.close()


def test_failure_to_write_names_the_database(campaign: Campaign, database: Path) -> None:
    store = Store(campaign)
    (full,) = store.connection.execute("PRAGMA page_count").fetchone()
    store.connection.execute(f"PRAGMA max_page_count = {full}").fetchone()
    huge = an_answer(1)._replace(problem="x" * 50_000)
    with pytest.raises(SaveError) as error:
        store.save(huge, None)
    assert str(error.value).startswith(f"{database}: cannot be written ")
    store.close()


@pytest.mark.parametrize("journal", [True, False])
@pytest.mark.sampled(1)
def test_campaign_on_a_read_only_disk_is_scored_exported_and_shown(
    journal: bool, campaign: Campaign, tmp_path: Path
) -> None:
    store = Store(campaign)
    service = Service(campaign, store)
    for worker in ("ann", "bob"):
        state = service.agree(worker)
        text = {"ann": "two dogs chase a yellow ball across wet grass", "bob": "a cook throws onions into a hot pan"}
        service.answer(worker, worker, state["unit"], state["item"], {"caption": text[worker]}, None, 3.0)
    if not journal:
        store.close()
    folder, program = str(campaign.folder), f"{sys.executable} -m vttdata people"
    script = (
        'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && ! touch "$1/x" 2>/dev/null || exit 77; '
        f'{program} status "$1" && {program} score "$1" --out "$2" --keep-all && '
        f'{program} export "$1" --format answers --out "$2/answers"'
    )
    command = ["unshare", "-m", "sh", "-c", script, "sh", folder, str(tmp_path / "scores")]
    if shutil.which("unshare") is None:
        pytest.skip("there is no unshare")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode in (77, 1) and "Traceback" not in done.stderr and "vttdata" not in done.stderr:
        pytest.skip("mounting needs privileges this machine does not give")
    assert done.returncode == 0, done.stderr
    assert "2 answers" in done.stdout
    assert (tmp_path / "scores/results.csv").read_text().count("\n") == 3
    assert [path.name for path in (tmp_path / "scores/answers").glob("[!.]*")] == ["answers.jsonl"]
    if journal:
        store.close()
