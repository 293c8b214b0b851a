"""What publishing does when the Hub is busy, a connection breaks, somebody else is faster, or it is killed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.hub.built import build
from tests.helpers.hub.server import WRITER, Answer, Hub, Request
from tests.integration.hub.conftest import ROOT, Client
from vttdata.errors import HaltError, VttdataError
from vttdata.publish.hub import publish

NAME = "vttdata/small"
ENDPOINTS = [
    ("GET", "/api/datasets/vttdata/small$"),
    ("GET", "/refs$"),
    ("POST", "/api/repos/create$"),
    ("POST", "/preupload/"),
    ("POST", "/objects/batch$"),
    ("PUT", "/storage/"),
    ("POST", "/lfs/verify$"),
    ("POST", "/commit/main$"),
    ("POST", "/tag/"),
]


def is_whole(hub: Hub, folder: Path) -> bool:
    """Whether the branch and the tag both hold the dataset, file by file."""
    found = hub.store.find(NAME)
    files = {path: hub.store.blob(file).read_bytes() for path, file in found.find("main").files.items()}
    del files[".gitattributes"]
    wanted = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.*") if path.is_file()}
    return files == wanted and found.tags == {"v1.0.0": found.head} and len(found.commits) == 2


def is_untouched(hub: Hub) -> bool:
    found = hub.store.repositories.get(NAME)
    return found is None or (len(found.commits) == 1 and not found.tags)


@pytest.mark.usefixtures("logged_in")
class TestPassing:
    @pytest.mark.parametrize(("method", "pattern"), ENDPOINTS)
    @pytest.mark.sampled(3)
    def test_busy_hub_is_asked_again(self, hub: Hub, dataset: Path, method: str, pattern: str) -> None:
        hub.fail(method, pattern, 429, Retry_After="1")
        hub.fail(method, pattern, 503, times=2)
        publish(dataset, NAME, endpoint=hub.url)
        assert is_whole(hub, dataset)

    @pytest.mark.parametrize(("method", "pattern"), ENDPOINTS)
    @pytest.mark.sampled(3)
    def test_broken_connection_is_retried(self, hub: Hub, dataset: Path, method: str, pattern: str) -> None:
        hub.cut(method, pattern, times=2)
        publish(dataset, NAME, endpoint=hub.url)
        assert is_whole(hub, dataset)
        assert len([own for own in hub.find_requests(method, pattern) if own.status == 0]) == 2

    def test_wait_that_the_hub_requests_is_kept(self, hub: Hub, dataset: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        waits: list[float] = []
        monkeypatch.setattr("time.sleep", waits.append)
        hub.fail("POST", "/tag/", 429, Retry_After="7")
        hub.fail("POST", "/tag/", 502)
        hub.fail("POST", "/tag/", 429, RateLimit='"api";r=0;t=55')
        publish(dataset, NAME, endpoint=hub.url)
        assert waits == [7.0, 2.0, 55.0]

    @pytest.mark.parametrize("pattern", ["/commit/main$", "/tag/"])
    def test_lost_answer_to_a_commit_makes_no_second_commit(self, hub: Hub, dataset: Path, pattern: str) -> None:
        """The commit or tag is made, and then the connection breaks: asking again finds it made."""
        left = iter([True])

        def lose(request: Request) -> Answer | None:
            if pattern.rstrip("$") in request.path and next(left, None):
                hub.answer(request)
                return Answer(502)
            return None

        hub.before.append(lose)
        publish(dataset, NAME, endpoint=hub.url)
        assert is_whole(hub, dataset)

    @pytest.mark.parametrize(("method", "pattern"), ENDPOINTS[2:8])
    @pytest.mark.sampled(2)
    def test_hub_that_stops_answering_leaves_nothing_visible(
        self, hub: Hub, dataset: Path, method: str, pattern: str
    ) -> None:
        hub.fail(method, pattern, 503, times=40)
        with pytest.raises(HaltError, match=r"cannot be reached or is busy .* run the same command again") as caught:
            publish(dataset, NAME, endpoint=hub.url)
        assert is_untouched(hub)
        assert "\n" not in str(caught.value)
        hub.before.clear()
        publish(dataset, NAME, endpoint=hub.url)
        assert is_whole(hub, dataset)

    def test_uploaded_files_are_not_sent_again(self, hub: Hub, dataset: Path) -> None:
        hub.fail("POST", "/commit/main$", 503, times=40)
        with pytest.raises(HaltError):
            publish(dataset, NAME, endpoint=hub.url)
        hub.before.clear()
        sent = len(hub.find_requests("PUT", "/storage/"))
        publish(dataset, NAME, endpoint=hub.url)
        assert (sent, len(hub.find_requests("PUT", "/storage/"))) == (6, 6)

    def test_unreachable_address_halts_publication(self, dataset: Path) -> None:
        with pytest.raises(HaltError, match="cannot be reached"):
            publish(dataset, NAME, endpoint="http://127.0.0.1:9")

    def test_failed_upload_hides_the_token(self, hub: Hub, dataset: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(*_: object, **__: object) -> None:
            raise RuntimeError(f"Data processing error: token {WRITER} expired\nmore")

        monkeypatch.setattr("huggingface_hub.HfApi.preupload_lfs_files", fail)
        with pytest.raises(HaltError, match=r"\(Data processing error: token \*\*\* expired\)"):
            publish(dataset, NAME, endpoint=hub.url)
        assert is_untouched(hub)

    def test_refusal_of_the_hub_is_quoted(self, hub: Hub, dataset: Path) -> None:
        words = "Private repository storage limit reached"
        hub.fail("POST", "/api/repos/create$", 402, X_Error_Message=words)
        with pytest.raises(VttdataError, match=f"The Hub refuses 'vttdata/small': .*{words}"):
            publish(dataset, NAME, endpoint=hub.url)


@pytest.mark.usefixtures("logged_in")
class TestRaces:
    @pytest.mark.parametrize("is_new", [True, False])
    def test_concurrent_commit_is_not_overwritten(self, hub: Hub, tmp_path: Path, is_new: bool) -> None:
        if not is_new:
            publish(build(tmp_path / "a"), NAME, endpoint=hub.url)

        def commit_first(request: Request) -> None:
            if "/commit/" in request.path:
                found = hub.store.find(NAME)
                hub.store.commit(found, "theirs", [("file", {"path": "theirs.txt", "content": b"x"})], found.head)

        hub.before.append(commit_first)
        newer = build(tmp_path / "b", ["x", "y"], version="2.0.0")
        with pytest.raises(HaltError, match="Somebody else changed 'vttdata/small' meanwhile; nothing was overwritten"):
            publish(newer, NAME, endpoint=hub.url)
        found = hub.store.find(NAME)
        assert found.history()[0].title == "theirs"
        assert set(found.tags) == (set() if is_new else {"v1.0.0"})

    def test_concurrently_created_repository_is_left_alone(self, hub: Hub, dataset: Path) -> None:
        def create_first(request: Request) -> None:
            if request.path == "/api/repos/create":
                found = hub.store.create(NAME, private=False)
                hub.store.commit(found, "theirs", [("file", {"path": "theirs.txt", "content": b"x"})], None)

        hub.before.append(create_first)
        with pytest.raises(HaltError, match="Somebody else changed"):
            publish(dataset, NAME, endpoint=hub.url)
        assert hub.find_requests("POST", "/commit/") == []

    def test_concurrently_created_tag_is_not_moved(self, hub: Hub, dataset: Path) -> None:
        def tag_first(request: Request) -> None:
            found = hub.store.repositories.get(NAME)
            if "/tag/" in request.path and found is not None and not found.tags:
                hub.store.tag(found, "v1.0.0", found.history()[-1].oid)

        hub.before.append(tag_first)
        with pytest.raises(HaltError, match="Somebody else changed"):
            publish(dataset, NAME, endpoint=hub.url)
        found = hub.store.find(NAME)
        assert found.tags == {"v1.0.0": found.history()[-1].oid}


_FORKING = """
import os, sys
from pathlib import Path
import datasets.info
from vttdata.publish.hub import publish
import vttdata.publish.release_checks
for line in sys.stdin:
    child = os.fork()
    if not child:
        publish(Path(sys.argv[1]), sys.argv[2], endpoint=os.environ["HF_ENDPOINT"])
        os._exit(0)
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class TestKilled:
    @pytest.fixture
    def publisher(self, client: Client, dataset: Path) -> Iterator[subprocess.Popen[str]]:
        """Starts a process that publishes for each line it is told, and says its number and how it ended."""
        environment = client.environment(WRITER, PYTHONPATH=str(ROOT))
        command = [sys.executable, "-c", _FORKING, str(dataset), NAME]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        with subprocess.Popen(command, text=True, env=environment, **pipes) as running:  # type: ignore[call-overload]
            yield running
            running.stdin.close()

    @pytest.mark.long
    def test_publish_killed_ten_times_ends_with_one_complete_version(
        self, hub: Hub, dataset: Path, publisher: subprocess.Popen[str]
    ) -> None:
        assert publisher.stdin is not None
        assert publisher.stdout is not None
        draw, endings, seen = random.Random(2016), [], []
        left: list[int] = []
        victim: list[int] = []
        places: set[str] = set()
        known = threading.Event()

        def kill(request: Request) -> Answer | None:
            seen.append(is_untouched(hub) or is_visible_whole(hub, dataset))
            left[0] -= 1
            if left[0] == 0:
                places.add(request.path.rpartition("/")[0])
                known.wait(20)
                os.kill(victim[0], signal.SIGKILL)
            return None

        hub.before.append(kill)
        while len(endings) < 40 and endings.count(-signal.SIGKILL) < 10:
            known.clear()
            left[:] = [draw.randint(2, 24)]
            publisher.stdin.write("go\n")
            publisher.stdin.flush()
            victim[:] = [int(publisher.stdout.readline())]
            known.set()
            endings.append(int(publisher.stdout.readline()))
            if endings[-1] == 0:
                assert is_whole(hub, dataset)
                hub.store.forget()
        assert endings.count(-signal.SIGKILL) == 10
        left[:] = [10**6]
        publisher.stdin.write("go\n")
        publisher.stdin.flush()
        assert publisher.stdout.readline()
        assert publisher.stdout.readline() == "0\n"
        assert all(seen)
        assert len(places) >= 4
        assert is_whole(hub, dataset)


def is_visible_whole(hub: Hub, folder: Path) -> bool:
    """Whether all files are there in one commit; the tag may be still to come."""
    found = hub.store.find(NAME)
    files = {path: hub.store.blob(file).read_bytes() for path, file in found.find("main").files.items()}
    return len(found.commits) == 2 and all(
        files[path.relative_to(folder).as_posix()] == path.read_bytes() for path in folder.rglob("*.*")
    )
