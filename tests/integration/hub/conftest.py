"""A local Hub for each test, and clients of it in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import huggingface_hub.constants
import pytest

from tests.helpers.forked import COMMANDS
from tests.helpers.hub.built import build
from tests.helpers.hub.server import WRITER, Hub

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    """A Hub whose clients never asked it something that it does not know."""
    (tmp_path / "blobs").mkdir()
    running = Hub(tmp_path / "blobs")
    yield running
    running.close()
    assert [f"{own.method} {own.path}" for own in running.unhandled] == []


@pytest.fixture
def logged_in(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This process is a client of the Hub too, with the token of somebody who may write, and does not wait."""
    monkeypatch.setenv("HF_TOKEN", WRITER)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_DISABLE_XET", True)
    template = hub.url + "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", hub.url)
    monkeypatch.setattr(huggingface_hub.constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub-cache"))
    monkeypatch.setattr("time.sleep", lambda _: None)


@dataclass
class Client:
    """Starts programs as users of the Hub, with caches of their own."""

    hub: Hub
    home: Path

    def environment(self, token: str | None = WRITER, **more: str) -> dict[str, str]:
        """No more than a program needs; above all nothing by which it would find this checkout."""
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        own = {"HF_ENDPOINT": self.hub.url, "HF_HUB_DISABLE_XET": "1", "HF_UPDATE_DOWNLOAD_COUNTS": "0"}
        own |= dict.fromkeys(("HF_HUB_ETAG_TIMEOUT", "HF_HUB_DOWNLOAD_TIMEOUT"), "60")  # for a busy machine
        token_file = str(self.home / "no-token")
        own |= {"HF_HOME": str(self.home), "HOME": str(self.home), "HF_TOKEN_PATH": token_file}
        return kept | own | ({"HF_TOKEN": token} if token else {}) | more

    def vttdata(self, *arguments: str, token: str | None = WRITER, **more: str) -> subprocess.CompletedProcess[str]:
        environment = self.environment(token, PYTHONPATH=str(ROOT), **more)
        return COMMANDS.run(["vttdata.cli.main", *arguments], environment)

    def python(
        self, code: str, token: str | None = None, python: str = sys.executable, **more: str
    ) -> subprocess.CompletedProcess[str]:
        """Run code as somebody who has the readers and no vttdata."""
        blocked = "import sys; sys.modules['vttdata'] = None\n"
        self.home.mkdir(exist_ok=True)
        environment = self.environment(token, **more)
        if python == sys.executable:
            return COMMANDS.run(["-c", blocked + code], environment, self.home)
        command = [python, "-c", blocked + code]
        return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=self.home)


@pytest.fixture
def client(hub: Hub, tmp_path: Path) -> Client:
    return Client(hub, tmp_path / "client")


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """A small dataset, not yet published."""
    return build(tmp_path / "dataset")
