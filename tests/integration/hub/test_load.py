"""Loading from the local Hub by somebody who has only the readers: map-style, streaming, by version, in private."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import datasets
import pytest

from tests.helpers.hub.built import build, build_foils
from tests.helpers.hub.server import WRITER, Hub
from tests.helpers.needs import LIBRARY
from tests.helpers.official_files import write_zipped
from tests.integration.hub.conftest import Client
from vttdata.cli.main import main
from vttdata.dataset.find_tables import read_tables
from vttdata.publish.hub import publish

READ_ALL = """
import json, sys
import datasets
assert "vttdata" not in [name for name, module in sys.modules.items() if module is not None]
found = {}
for name, configs in json.loads(ASKED).items():
    for config in configs:
        for streaming in (False, True):
            loaded = datasets.load_dataset(name, config, streaming=streaming)
            found[f"{name}/{config}/{streaming}"] = {split: list(rows) for split, rows in loaded.items()}
print(datasets.__version__)
print(json.dumps(found))
"""
OLD = [name for name in os.environ.get("VTTDATA_OLD_DATASETS", "").split(os.pathsep) if name]


@pytest.fixture
def published(logged_in: None, hub: Hub, tmp_path: Path) -> dict[str, Path]:
    """A dataset with files, an official one and one of foils, all on the Hub: name -> the folder it came from."""
    official = tmp_path / "official"
    settings = [f"annotations={write_zipped(tmp_path / 'zips')}", "licence=mit"]
    flags = [flag for setting in settings for flag in ("--set", setting)]
    assert main(["build", "msrvtt", "--quiet", "--workers", "1", "--out", str(official), *flags]) == 0
    folders = {
        "vttdata/films": build(tmp_path / "films", media=tmp_path / "cut", name="vttdata/films"),
        "vttdata/msrvtt": official / "dataset",
        "vttdata/small-foil": build_foils(tmp_path / "foils"),
    }
    for name, folder in folders.items():
        publish(folder, name, endpoint=hub.url)
    return folders


def built(folder: Path, cache: Path) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """Configuration -> split -> rows of a dataset folder."""
    return {
        config: {split: list(rows) for split, rows in _load(folder, config, cache).items()}
        for config in read_tables(folder)
    }


def _load(folder: Path, config: str, cache: Path) -> datasets.DatasetDict:
    return datasets.load_dataset(str(folder), config, cache_dir=str(cache))


def read_all(client: Client, published: dict[str, Path], **how: Any) -> tuple[str, dict[str, Any]]:
    configs = json.dumps({name: list(read_tables(folder)) for name, folder in published.items()})
    done = client.python(READ_ALL.replace("ASKED", repr(configs)), **how)
    assert done.returncode == 0, done.stderr
    version, found = done.stdout.splitlines()
    return version, json.loads(found)


def check_rows(found: dict[str, Any], published: dict[str, Path], cache: Path) -> None:
    for name, folder in published.items():
        for config, splits in built(folder, cache).items():
            for streaming in (False, True):
                assert found[f"{name}/{config}/{streaming}"] == splits


def test_plain_readers_get_the_rows_of_the_build(
    client: Client, published: dict[str, Path], tmp_path: Path, hub: Hub
) -> None:
    _, found = read_all(client, published)
    assert len(found) == 2 * sum(len(read_tables(folder)) for folder in published.values())
    check_rows(found, published, tmp_path / "cache")
    assert {own.status for own in hub.find_requests("GET", "^/storage/")} == {200, 206}


@pytest.mark.skipif(not OLD, reason=LIBRARY.format("datasets-4.0"))
def test_older_readers_get_the_same_rows(client: Client, published: dict[str, Path], tmp_path: Path) -> None:
    for number, python in enumerate(OLD):
        version, found = read_all(client, published, python=python)
        assert version != datasets.__version__
        check_rows(found, published, tmp_path / f"cache{number}")


def test_private_dataset_loads_for_its_owner_only(client: Client, logged_in: None, hub: Hub, dataset: Path) -> None:
    publish(dataset, "vttdata/small", endpoint=hub.url, private=True)
    code = "import datasets; print(datasets.load_dataset('vttdata/small', split='test').num_rows)"
    assert client.python(code, token=WRITER).stdout == "1\n"
    other_client = Client(hub, client.home.with_name("stranger"))
    assert "DatasetNotFoundError" in other_client.python(code).stderr


def test_tag_keeps_loading_its_version_after_later_ones(
    client: Client, logged_in: None, hub: Hub, tmp_path: Path
) -> None:
    for number, text in enumerate(("one", "two"), 1):
        publish(build(tmp_path / text, ["x", text], version=f"{number}.0.0"), "vttdata/small", endpoint=hub.url)
    code = (
        "import datasets\n"
        "for revision in ('v1.0.0', 'v2.0.0', None):\n"
        "    rows = datasets.load_dataset('vttdata/small', 'captions', split='test', revision=revision)\n"
        "    print(rows['caption'][0], rows.info.version)\n"
    )
    assert client.python(code).stdout == "one 1.0.0\ntwo 2.0.0\ntwo 2.0.0\n"
