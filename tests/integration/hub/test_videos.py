"""Videos on the local Hub are fetched by those who ask for them, and by nobody else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.hub.built import build
from tests.helpers.hub.server import Hub
from tests.integration.hub.conftest import Client
from tests.integration.hub.test_load_by_name import run
from vttdata.dataset.videos import MediaMode
from vttdata.publish.hub import publish

pytestmark = pytest.mark.usefixtures("logged_in")


def films(hub: Hub, tmp_path: Path, mode: MediaMode) -> Path:
    folder = build(tmp_path / "films", media=tmp_path / "cut", mode=mode)
    publish(folder, "vttdata/small", endpoint=hub.url)
    hub.requests.clear()
    return folder


def requested_videos(hub: Hub) -> set[str]:
    """The videos that somebody wanted to have."""
    return {own.path for own in hub.requests if "/resolve/" in own.path and "/videos/" in own.path}


def command(client: Client, *arguments: object) -> str:
    done = client.vttdata(*map(str, arguments), VTTDATA_HOME=str(client.home / "builds"))
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("mode", ["files", "embedded"])
def test_verify_and_stats_by_name_download_no_videos(client: Client, hub: Hub, tmp_path: Path, mode: MediaMode) -> None:
    films(hub, tmp_path, mode)
    output = command(client, "verify", "vttdata/small", "--files-only")
    assert output.startswith("files: ")
    assert "are as the manifest lists them; " in output
    assert "were not fetched from the Hub" in output
    assert "sentences" in command(client, "show", "vttdata/small")
    assert requested_videos(hub) == set()


def test_diff_compares_rows_with_embedded_videos(client: Client, hub: Hub, tmp_path: Path) -> None:
    folder = films(hub, tmp_path, "embedded")
    assert command(client, "diff", "vttdata/small", folder) == "No row differs.\n"
    assert len(requested_videos(hub)) == 2


@pytest.mark.parametrize("mode", ["files", "embedded"])
def test_dataset_of_the_hub_is_published_elsewhere_with_its_videos(
    client: Client, hub: Hub, tmp_path: Path, mode: MediaMode
) -> None:
    folder = films(hub, tmp_path, mode)
    command(client, "publish", "vttdata/small", "vttdata/copy")
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*.*")}
    assert files == set(hub.store.find("vttdata/copy").find("main").files) - {".gitattributes"}


def test_verified_load_downloads_videos_for_their_configuration_only(client: Client, hub: Hub, tmp_path: Path) -> None:
    films(hub, tmp_path, "embedded")
    ask = "show('vttdata/small', {!r}, verify=True)\n"
    assert run(client, ask.format("clips")) == ["loaded"]
    assert requested_videos(hub) == set()
    assert run(client, ask.format("videos")) == ["loaded"]
    assert len(requested_videos(hub)) == 2
