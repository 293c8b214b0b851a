"""`vttdata.load_dataset` with the local Hub behind it: local builds first, the right version, and what there is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.helpers.forked import COMMANDS
from tests.helpers.hub.built import build
from tests.helpers.hub.server import Hub
from tests.integration.hub.conftest import ROOT, Client
from vttdata.cli.main import main
from vttdata.publish.hub import publish

TRY = """
import sys
from vttdata import load_dataset, list_datasets, describe_dataset
from vttdata.errors import VttdataError
def show(*arguments, **more):
    try:
        rows = load_dataset(*arguments, **more)
        # Streams are read to their end, since pyarrow may abort a process that ends while it reads ahead.
        print(*{row["caption"] for row in rows} if more.get("split") else ["loaded"])
    except VttdataError as error:
        print("refused:", error)
"""
CAPTIONS = "'vttdata/small', 'captions', split='test'"


def run(client: Client, code: str, **environment: str) -> list[str]:
    environment = {"PYTHONPATH": str(ROOT), "VTTDATA_HOME": str(client.home / "builds"), **environment}
    client.home.mkdir(exist_ok=True)
    done = COMMANDS.run(["-c", TRY + code], client.environment(None, **environment), client.home)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.fixture
def two_versions(logged_in: None, hub: Hub, tmp_path: Path) -> None:
    for number, text in enumerate(("one", "two"), 1):
        folder = build(tmp_path / text, ["x", text], version=f"{number}.0.0")
        publish(folder, "vttdata/small", endpoint=hub.url)


@pytest.mark.usefixtures("two_versions")
class TestVersions:
    def test_requested_version_loads_online_and_offline(self, client: Client, hub: Hub) -> None:
        ask = "".join(
            f"show({CAPTIONS}, revision={revision!r}, streaming={streaming})\n"
            for revision in ("1.0.0", "v2.0.0", None, "v1.0.0")
            for streaming in (False, True)
        )
        right = ["one", "one", "two", "two", "two", "two", "one", "one"]
        assert run(client, ask) == right
        before = len(hub.requests)
        offline = run(client, ask, HF_HUB_OFFLINE="1")
        assert [offline[index] for index in (0, 1, 2, 3, 6, 7)] == [right[index] for index in (0, 1, 2, 3, 6, 7)]
        assert len(hub.requests) == before

    def test_offline_load_refuses_another_cached_version(self, client: Client) -> None:
        run(client, f"show({CAPTIONS}, revision='2.0.0')")
        refused = run(client, f"show({CAPTIONS}, revision='1.0.0')", HF_HUB_OFFLINE="1")
        assert refused == [
            "refused: 'vttdata/small': version 1.0.0 was requested, but 2.0.0 was loaded from a cache; "
            "go online, or request 2.0.0."
        ]

    def test_tables_for_harnesses_are_made_from_the_requested_version(self, client: Client) -> None:
        ask = "print(load_dataset('vttdata/small', 'queries', split='test', revision={!r})[0]['query'])\n"
        assert run(client, ask.format("1.0.0") + ask.format(None)) == ["one", "two"]

    def test_unknown_part_is_refused_with_the_existing_ones(self, client: Client) -> None:
        answers = run(
            client,
            "show('vttdata/small', 'caption')\n"
            "show('vttdata/small', split='dev')\n"
            "show('vttdata/small', split='tests', streaming=True)\n"
            "show('vttdata/small', revision='1.0.1')\n"
            "show('vttdata/smal')\n"
            "show('vttdata/demo', hub=True)\n",
        )
        assert answers[0] == (
            "refused: 'vttdata/small' has no configuration 'caption'; there is clips, captions, sources. "
            "Did you mean 'captions'?"
        )
        assert answers[1] == "refused: 'vttdata/small' has no split 'dev'; there is train, test."
        assert answers[2].endswith("there is train, test. Did you mean 'test'?")
        assert answers[3] == (
            "refused: There is no dataset 'vttdata/small' in version 1.0.1: the Hub has 1.0.0, 2.0.0. "
            "Did you mean '1.0.0'?"
        )
        assert answers[4].startswith("refused: There is no dataset 'vttdata/smal': no local build at")
        assert answers[5].endswith("The recipe 'demo' builds it: vttdata build demo.")

    def test_verified_load_accepts_unchanged_and_refuses_changed_files(self, client: Client, hub: Hub) -> None:
        assert (
            run(client, f"show({CAPTIONS}, verify=True)\nshow({CAPTIONS}, verify=True, streaming=True)") == ["two"] * 2
        )
        assert run(client, f"show({CAPTIONS}, verify=True, revision='1.0.0')") == ["one"]
        assert run(client, f"show({CAPTIONS}, verify=True, revision='1.0.0')", HF_HUB_OFFLINE="1") == ["one"]
        found = hub.store.find("vttdata/small")
        path = next(path for path in found.find("main").files if path.startswith("captions/test"))
        other = found.find("v1.0.0").files
        files = dict(found.find("main").files)
        files[path] = next(file for name, file in other.items() if name.startswith("captions/test"))
        object.__setattr__(found.find("main"), "files", files)
        other_client = Client(hub, client.home.with_name("stranger"))
        (refused,) = run(other_client, f"show({CAPTIONS}, verify=True)")
        assert refused.startswith(f"refused: 'vttdata/small' is not as it was built: {path}: ")

    def test_datasets_on_the_hub_are_listed_on_request(self, client: Client, hub: Hub, tmp_path: Path) -> None:
        code = "print([own.name for own in list_datasets(hub=True) if own.on_hub])"
        assert run(client, code) == ["['vttdata/small']"]
        assert hub.find_requests("GET", "^/api/datasets$")
        publish(build(tmp_path / "demo", name="vttdata/demo"), "vttdata/demo", endpoint=hub.url)
        code = "print([own.as_line() for own in list_datasets(hub=True) if own.name == 'vttdata/demo'])"
        assert run(client, code) == ["['vttdata/demo: 1.0.0, 2 clips; on the Hub']"]
        (line, *_) = run(client, "print(describe_dataset('vttdata/small').as_text())")
        assert line.startswith("vttdata/small: 2.0.0, 2 clips; ")


class TestLocal:
    def test_local_build_loads_without_network(self, client: Client, hub: Hub) -> None:
        build(client.home / "builds/vttdata/small/dataset")
        blocked = (
            "import socket\n"
            "def refuse(*_, **__): raise AssertionError('asked the network')\n"
            "socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse\n"
        )
        ask = (
            f"show({CAPTIONS})\nshow({CAPTIONS}, streaming=True)\nshow({CAPTIONS}, verify=True, revision='1.0.0')\n"
            "show('vttdata/small', 'nope')\nshow('vttdata/small', split='val')\n"
            "print([own.name for own in list_datasets() if own.path])\n"
            "print(describe_dataset('vttdata/small').rows)\n"
        )
        answers = run(client, blocked + ask)
        assert answers[:3] == ["a dog runs"] * 3
        assert answers[3] == "refused: 'vttdata/small' has no configuration 'nope'; there is clips, captions, sources."
        assert answers[4] == "refused: 'vttdata/small' has no split 'val'; there is train, test."
        assert answers[5] == "['vttdata/small']"
        assert "'captions': {'train': 1, 'test': 1}" in answers[6]
        assert hub.requests == []

    def test_version_other_than_the_local_build_loads_from_the_hub(
        self, client: Client, hub: Hub, two_versions: None
    ) -> None:
        build(client.home / "builds/vttdata/small/dataset", ["x", "local"], version="3.0.0")
        ask = "".join(f"show({CAPTIONS}, revision={own!r})\n" for own in (None, "3.0.0", "2.0.0", "4.0.0"))
        *came, refused = run(client, ask)
        assert came == ["local", "local", "two"]
        assert "the local build has 3.0.0, the Hub has 1.0.0, 2.0.0" in refused

    def test_edited_file_of_a_local_build_fails_verification(self, client: Client) -> None:
        folder = build(client.home / "builds/vttdata/small/dataset")
        (folder / "README.md").write_text((folder / "README.md").read_text() + "!")
        (refused,) = run(client, f"show({CAPTIONS}, verify=True)")
        assert "is not as it was built: README.md: has" in refused
        assert run(client, f"show({CAPTIONS})") == ["a dog runs"]
        (other,) = run(client, "show('csv', data_files='x.csv', verify=True)")
        assert other == "refused: 'csv' is not a dataset of vttdata, so there is nothing to verify it with."

    def test_command_lists_and_describes_datasets(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        build(tmp_path / "vttdata/small/dataset")
        monkeypatch.setenv("VTTDATA_HOME", str(tmp_path))
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
        assert [main(["list", *more]) for more in ([], ["--json"], ["vttdata/small", "--json"])] == [0, 0, 0]
        lines = capsys.readouterr().out.splitlines()
        assert lines[1].startswith("  vttdata/small: 1.0.0, 2 clips; ")
        assert any(line.startswith("  demo  ") for line in lines)
        start = lines.index("[")
        stop = lines.index("]")
        (found, *_) = json.loads("\n".join(lines[start : stop + 1]))
        one = json.loads("\n".join(lines[stop + 1 :]))
        assert found == one
        assert one["rows"]["captions"] == {"train": 1, "test": 1}
        assert (one["name"], one["licence"], one["languages"]) == ("vttdata/small", "cc-by-4.0", ["en"])
        assert main(["list", "vttdata/smal"]) == 2
        assert "Did you mean 'vttdata/small'?" in capsys.readouterr().err
