"""Datasets and inputs in remote storage are those of a disk, whatever fails on the way; builds lie on a disk."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest
import requests

from tests.helpers.builds import TINY_DEMO
from tests.helpers.needs import library
from tests.helpers.s3_server import FaultyProxy
from vttdata.cli.main import main
from vttdata.compose.build import Execution, Messages, build
from vttdata.errors import VttdataError
from vttdata.files.remote import RemoteFolder, fetch_copy
from vttdata.load.load_dataset import load_dataset
from vttdata.load.lookup import find_dataset


@pytest.fixture(scope="module")
def proxy() -> Iterator[FaultyProxy]:
    """Run a local S3 server behind a proxy, with a bucket, and put its address into the environment."""
    server = library("moto.server")
    s3fs = library("s3fs")
    moto = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    moto.start()
    port = moto.get_host_and_port()[1]
    # The buckets of an earlier server in this process are still there.
    requests.post(f"http://127.0.0.1:{port}/moto-api/reset", timeout=30).raise_for_status()
    proxy = FaultyProxy(port)
    settings = {
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_MAX_ATTEMPTS": "1",
        "AWS_ENDPOINT_URL": proxy.url,
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in settings.items():
            patch.setenv(name, value)
        s3fs.S3FileSystem(skip_instance_cache=True).mkdir("bucket")
        yield proxy
    proxy.shutdown()
    moto.stop()


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("local") / "build"
    build("demo", out=folder, settings=TINY_DEMO, execution=Execution(workers=1), messages=Messages(quiet=True))
    return folder


@pytest.fixture(scope="module")
def on_s3(proxy: FaultyProxy, local: Path) -> str:
    """Copy the build into the store."""
    address = "s3://bucket/street"
    files = {path.relative_to(local).as_posix(): path for path in local.rglob("*") if path.is_file()}
    store(address, {name: path.read_bytes() for name, path in files.items()})
    return address


def store(address: str, files: dict[str, bytes]) -> None:
    """Write files below an address."""
    system, root = fsspec.core.url_to_fs(address, use_listings_cache=False)
    for name, content in files.items():
        system.pipe_file(f"{root}/{name}", content)


@pytest.mark.parametrize("address", ["s3://key:secret@bucket/street", "gs://bucket/street", "file:///street"])
def test_build_folder_at_an_address_is_refused(address: str) -> None:
    for arguments in ({"recipe": "demo", "out": address}, {"recipe": address}):
        with pytest.raises(VttdataError, match=r"--out DIR, and copy DIR with the tool of the store") as raised:
            build(**arguments, messages=Messages(quiet=True))
        assert "secret" not in str(raised.value)
    assert main(["build", "demo", "--out", address]) == 2


@pytest.mark.parametrize(
    ("status", "code", "words"), [(403, 2, "access is denied"), (503, 1, "the store did not answer as it should")]
)
def test_store_that_refuses_is_one_sentence(
    status: int, code: int, words: str, proxy: FaultyProxy, capsys: pytest.CaptureFixture[str]
) -> None:
    proxy.fault = lambda _method, _path: status
    try:
        assert main(["show", "s3://bucket/refused"]) == code
    finally:
        proxy.fault = lambda _method, _path: None
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("vttdata: s3://bucket/refused/")
    assert words in line


def test_rows_have_the_addresses_of_their_videos(on_s3: str) -> None:
    rows = load_dataset(on_s3, split="test")
    (row,) = rows
    name = row["video"]["path"].removeprefix(f"{on_s3}/dataset/")
    assert name in RemoteFolder(f"{on_s3}/dataset").files()
    assert row["video"]["bytes"] is None


def test_commands_take_addresses(on_s3: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["show"], ["audit"], ["verify"]):
        assert main([*arguments, on_s3]) == 0
    out = tmp_path / "shards"
    assert main(["export", on_s3, "--format", "coco", "--out", str(out)]) == 0
    assert " are as the manifest lists them" in capsys.readouterr().out


def test_damage_in_the_store_is_found(on_s3: str, proxy: FaultyProxy, capsys: pytest.CaptureFixture[str]) -> None:
    good = RemoteFolder(f"{on_s3}/dataset")
    contents = {name: good.read(name) or b"" for name in good.files()}
    damaged = {name: content[:-9] for name, content in contents.items() if name.startswith("clips/test")}
    store("s3://bucket/damaged", contents | damaged)
    with pytest.raises(VttdataError, match=r"clips/test.*: differs from the manifest"):
        load_dataset("s3://bucket/damaged")
    assert main(["verify", "s3://bucket/damaged"]) == 4
    assert "clips/test" in capsys.readouterr().out


def test_dataset_without_a_manifest_is_none(on_s3: str, proxy: FaultyProxy) -> None:
    card = RemoteFolder(f"{on_s3}/dataset").read("README.md") or b""
    store("s3://bucket/half", {"dataset/README.md": card})
    with pytest.raises(VttdataError, match="has no dataset"):
        find_dataset("s3://bucket/half")


def test_names_in_a_manifest_cannot_leave_the_cache(on_s3: str, proxy: FaultyProxy, tmp_path: Path) -> None:
    manifest: dict[str, Any] = json.loads(RemoteFolder(f"{on_s3}/dataset").read("manifest.json") or b"")
    manifest["files"]["../../../escaped"] = {"sha256": "0" * 64, "bytes": 1}
    store("s3://bucket/hostile", {"manifest.json": json.dumps(manifest).encode()})
    with pytest.raises(VttdataError, match="leads out of the dataset"):
        find_dataset("s3://bucket/hostile")


def test_inputs_at_addresses_are_those_of_a_disk(proxy: FaultyProxy, tmp_path: Path) -> None:
    store("s3://bucket/inputs", {"table.csv": b"video_id,caption\na,a man walks\n"})
    copy = fetch_copy("s3://bucket/inputs/table.csv", tmp_path)
    assert copy.name == "table.csv"
    assert copy.read_text() == "video_id,caption\na,a man walks\n"
    store("s3://bucket/inputs", {"table.csv": b"other"})
    assert fetch_copy("s3://bucket/inputs/table.csv", tmp_path).read_bytes() == b"other"
    assert [path.name for path in fetch_copy("s3://bucket/inputs", tmp_path).iterdir()] == ["table.csv"]
    with pytest.raises(VttdataError, match="no such file or folder"):
        fetch_copy("s3://bucket/missing", tmp_path)


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("az://bucket/x", "addresses of remote storage begin with"),
        ("s3://key:secret@bucket/x", "put it into the environment"),
        ("s3://", "is not an address"),
        ("s3://bucket/../x", "is not an address"),
    ],
)
def test_bad_addresses(address: str, words: str, tmp_path: Path) -> None:
    library("s3fs")
    with pytest.raises(VttdataError, match=words) as raised:
        fetch_copy(address, tmp_path)
    assert "secret" not in str(raised.value)


def test_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "s3fs", None)
    # Classes that were imported before are remembered here.
    monkeypatch.delitem(sys.modules["fsspec.registry"]._registry, "s3", raising=False)
    with pytest.raises(VttdataError, match=r"pip install 'vttdata\[remote\]'"):
        RemoteFolder("s3://bucket/x")
