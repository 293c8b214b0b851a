"""Builds and datasets in remote storage are those of a disk, to the byte, whatever fails on the way."""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec  # noqa: F401
import pytest
import requests

import vttdata.pipeline.remote_build as remote_build
from tests.helpers.builds import TINY_DEMO
from tests.helpers.needs import library
from tests.helpers.s3_server import FaultyProxy
from vttdata.cli.main import main
from vttdata.compose.build import build
from vttdata.errors import HaltError, VttdataError
from vttdata.files.remote import RemoteFolder
from vttdata.load.load_dataset import load_dataset
from vttdata.load.lookup import find_dataset

# A build in another process that notices within seconds that the machine before it is gone.
PROGRAM = """
import sys
import vttdata.pipeline.remote_build as remote_build
remote_build.BEAT_SECONDS, remote_build.WATCH_SECONDS, remote_build.COPY_SECONDS = 0.3, 1.0, 0.2
from vttdata.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


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


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, seconds in {"BEAT": 0.3, "WATCH": 1.0, "COPY": 0.2}.items():
        monkeypatch.setattr(remote_build, f"{name}_SECONDS", seconds)


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("local") / "build"
    build("demo", out=folder, settings=TINY_DEMO, workers=1, quiet=True)
    return folder


@pytest.fixture(scope="module")
def on_s3(proxy: FaultyProxy) -> str:
    """Build the dataset in the store."""
    address = "s3://bucket/street"
    build("demo", out=address, settings=TINY_DEMO, workers=1, quiet=True)
    return address


def hashes(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def hashes_in(address: str) -> dict[str, str]:
    store = RemoteFolder(f"{address}/dataset")
    return {name: hashlib.sha256(store.read(name) or b"").hexdigest() for name in store.files()}


def move_to_another_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("VTTDATA_HOME", str(tmp_path / "another machine"))


def reused_parts(folder: Path) -> list[tuple[str, bool]]:
    account = json.loads((folder / "build.json").read_bytes())
    return [(stage["name"], stage["parts"] == stage["reused"]) for stage in account["stages"]]


def test_same_bytes_on_a_disk_and_in_stores(local: Path, on_s3: str, tmp_path: Path) -> None:
    on_disk = f"file://{tmp_path}/store/street"
    build("demo", out=on_disk, settings=TINY_DEMO, workers=1, quiet=True)
    expected = hashes(local / "dataset")
    assert any(name.endswith(".mp4") for name in expected)
    assert hashes_in(on_disk) == hashes_in(on_s3) == expected
    assert not [path for path in (tmp_path / "store").rglob("*") if path.suffix in (".part", ".tmp")]


def test_another_machine_goes_on_without_doing_anything_again(
    on_s3: str, local: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    move_to_another_machine(monkeypatch, tmp_path)
    run = build(on_s3, workers=1, quiet=True)
    assert reused_parts(run.folder)
    assert all(reused for _, reused in reused_parts(run.folder))
    assert hashes_in(on_s3) == hashes(local / "dataset")


@pytest.mark.parametrize("protocol", ["file", "s3"])
def test_killed_builds_go_on_from_the_store_to_the_same_bytes(
    protocol: str, local: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if protocol == "s3":
        request.getfixturevalue("proxy")
    address = f"file://{tmp_path}/killed" if protocol == "file" else "s3://bucket/killed"
    settings = [part for key, value in TINY_DEMO.items() for part in ("--set", f"{key}={value}")]
    command = [sys.executable, "-c", PROGRAM, "build", "demo", "--quiet", "--workers", "1", "--out", address, *settings]
    moments, killed, store = random.Random(20), 0, RemoteFolder(address)
    for machine in (0, 1):
        environment = os.environ | {"VTTDATA_HOME": str(tmp_path / f"machine {machine}")}
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        before = len(store.files())
        wanted = before + moments.randint(1, 12)
        while process.poll() is None and len(store.files()) < wanted:
            time.sleep(0.05)
        killed += process.poll() is None
        process.kill()
        process.wait()
    assert killed
    environment = os.environ | {"VTTDATA_HOME": str(tmp_path / "machine 2")}
    subprocess.run(command, env=environment, check=True, capture_output=True)
    assert hashes_in(address) == hashes(local / "dataset")


def test_results_in_logs_reach_another_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    address, store = f"file://{tmp_path}/store", RemoteFolder(f"file://{tmp_path}/store/stages")
    move_to_another_machine(monkeypatch, tmp_path / "first")
    with remote_build.open_remote_build(address) as first:
        log = first.folder / "stages" / "measure" / "items" / "host-1.jsonl"
        log.parent.mkdir(parents=True)
        for number, text in enumerate(['{"id": "a"}\n{"id"', ': "b"}\n{"i'], 1):
            with log.open("a") as stream:
                stream.write(text)
            end = time.monotonic() + 30
            while len(store.files()) < number:
                assert time.monotonic() < end, "the results are not copied"
                time.sleep(0.02)
    move_to_another_machine(monkeypatch, tmp_path / "second")
    with remote_build.open_remote_build(address) as second:
        logs = sorted((second.folder / "stages" / "measure" / "items").iterdir())
        assert [path.read_text() for path in logs] == ['{"id": "a"}\n', '{"id": "b"}\n']
        time.sleep(0.5)
        assert len(store.files()) == 2


def test_store_that_fails_meanwhile_loses_nothing(proxy: FaultyProxy, local: Path) -> None:
    address, notes = "s3://bucket/busy", []
    puts = iter(range(10**6))
    proxy.fault = lambda method, path: 503 if method == "PUT" and "busy" in path and next(puts) >= 5 else None
    try:
        with pytest.raises(HaltError, match=r"The build is complete in .*, but not its copy: .*SlowDown"):
            build("demo", out=address, settings=TINY_DEMO, workers=1, quiet=True, note=notes.append)
    finally:
        proxy.fault = lambda _method, _path: None
    assert sum("the build goes on in" in note for note in notes) == 1
    with pytest.raises(VttdataError, match="has no dataset"):
        find_dataset(address)
    run = build("demo", out=address, settings=TINY_DEMO, workers=1, quiet=True)
    assert all(reused for _, reused in reused_parts(run.folder))
    assert hashes_in(address) == hashes(local / "dataset")


@pytest.mark.parametrize(
    ("status", "code", "words"), [(403, 2, "access is denied"), (503, 1, "the store did not answer as it should")]
)
def test_store_that_refuses_is_one_sentence(
    status: int, code: int, words: str, proxy: FaultyProxy, capsys: pytest.CaptureFixture[str]
) -> None:
    proxy.fault = lambda _method, _path: status
    try:
        assert main(["build", "demo", "--out", "s3://bucket/refused"]) == code
        assert main(["stats", "s3://bucket/refused"]) == code
    finally:
        proxy.fault = lambda _method, _path: None
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert all(line.startswith("vttdata: s3://bucket/refused/") and words in line for line in lines)


def test_two_machines_in_one_store(proxy: FaultyProxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    address = "s3://bucket/two"
    notes: list[str] = []
    with remote_build.open_remote_build(address, notes.append) as first:
        move_to_another_machine(monkeypatch, tmp_path)
        second = remote_build.open_remote_build(address)
        with pytest.raises(VttdataError, match=r"another build .* is at work here; wait for it"):
            second.__enter__()
        # As if both had taken over at the same moment.
        claim = {"owner": "another", "at_work": True, "beat": "1"}
        first.store.write(remote_build.CLAIM, json.dumps(claim).encode())
        with pytest.raises(HaltError, match="another machine has taken over"):
            first.publish()
    assert sum("nothing more is copied there" in note for note in notes) == 1
    # The other machine is gone, since its claim does not change.
    with remote_build.open_remote_build(address, notes.append):
        assert "waiting" in notes[-1]


def test_store_with_something_else_is_left_alone(proxy: FaultyProxy) -> None:
    RemoteFolder("s3://bucket/thesis").write("chapter.tex", b"text")
    with pytest.raises(VttdataError, match=r"holds something else than a build \(chapter.tex\)"):
        build("demo", out="s3://bucket/thesis", settings=TINY_DEMO, quiet=True)
    assert list(RemoteFolder("s3://bucket/thesis").files()) == ["chapter.tex"]


def test_rows_have_the_addresses_of_their_videos(on_s3: str) -> None:
    rows = load_dataset(on_s3, split="test")
    (row,) = rows
    name = row["video"]["path"].removeprefix(f"{on_s3}/dataset/")
    assert name in RemoteFolder(f"{on_s3}/dataset").files()
    assert row["video"]["bytes"] is None


def test_commands_take_addresses(on_s3: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["stats"], ["audit"], ["verify"]):
        assert main([*arguments, on_s3]) == 0
    out = tmp_path / "shards"
    assert main(["export", on_s3, "--format", "coco", "--out", str(out)]) == 0
    assert " are as the manifest lists them" in capsys.readouterr().out


def test_damage_in_the_store_is_found(on_s3: str, proxy: FaultyProxy, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = RemoteFolder(f"{on_s3}/dataset"), RemoteFolder("s3://bucket/damaged")
    for name in good.files():
        content = good.read(name) or b""
        bad.write(name, content[:-9] if name.startswith("clips/test") else content)
    with pytest.raises(VttdataError, match=r"clips/test.*: differs from the manifest"):
        load_dataset("s3://bucket/damaged")
    assert main(["verify", "s3://bucket/damaged"]) == 4
    assert "clips/test" in capsys.readouterr().out


def test_names_in_a_manifest_cannot_leave_the_cache(on_s3: str, proxy: FaultyProxy, tmp_path: Path) -> None:
    good, bad = RemoteFolder(f"{on_s3}/dataset"), RemoteFolder("s3://bucket/hostile")
    manifest: dict[str, Any] = json.loads(good.read("manifest.json") or b"")
    manifest["files"]["../../../escaped"] = {"sha256": "0" * 64, "bytes": 1}
    bad.write("manifest.json", json.dumps(manifest).encode())
    with pytest.raises(VttdataError, match="leads out of the dataset"):
        find_dataset("s3://bucket/hostile")


def test_inputs_at_addresses_are_those_of_a_disk(proxy: FaultyProxy, tmp_path: Path) -> None:
    (tmp_path / "captions").mkdir()
    (tmp_path / "captions" / "table.csv").write_text("video_id,caption\na,a man walks\n")
    RemoteFolder("s3://bucket/inputs").upload([(tmp_path / "captions" / "table.csv", "table.csv")])
    from vttdata.files.remote import fetch_copy

    copy = fetch_copy("s3://bucket/inputs/table.csv", tmp_path)
    assert copy.name == "table.csv"
    assert copy.read_text() == "video_id,caption\na,a man walks\n"
    RemoteFolder("s3://bucket/inputs").write("table.csv", b"other")
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
        ("hf://datasets/me/street", "read only"),
    ],
)
def test_bad_addresses(address: str, words: str) -> None:
    library("s3fs")
    with pytest.raises(VttdataError, match=words) as raised:
        build("demo", out=address, quiet=True)
    assert "secret" not in str(raised.value)


def test_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "s3fs", None)
    # Classes that were imported before are remembered here.
    monkeypatch.delitem(sys.modules["fsspec.registry"]._registry, "s3", raising=False)
    with pytest.raises(VttdataError, match=r"pip install 'vttdata\[remote\]'"):
        RemoteFolder("s3://bucket/x")
