from __future__ import annotations

import importlib.util
import io
import os
import socket
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
import yaml

from tests.helpers.file_server import FileServer, instead, status
from tests.helpers.lab_origins import serving_lab, write_lab, write_plugin
from vttdata import load_dataset
from vttdata.cli.main import main
from vttdata.compose.build import Execution, Messages, build
from vttdata.errors import VttdataError
from vttdata.load.official_files import fetch_files, official_settings, origins_named
from vttdata.recipe.load import load_recipe
from vttdata.recipe.origins import read_origins

pytestmark = pytest.mark.not_on("win32")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FileServer]:
    with serving_lab(tmp_path, monkeypatch) as running:
        yield running


@pytest.fixture
def consent(server: FileServer, tmp_path: Path) -> None:
    write_lab(tmp_path, server, consent=True)


def settings_of_lab(*given: str, note: Callable[[str], None] = lambda _: None) -> list[str]:
    return official_settings("lab", given, note, partial(load_recipe, "lab"))


def test_first_download_says_what_from_where_how_much_and_under_which_terms(server: FileServer) -> None:
    said: list[str] = []
    fetch_files(origins_named("lab"), said.append)
    (sentence,) = said
    for part in (
        "lab",
        "4 files",
        "0.0 MB",
        f"127.0.0.1:{server.server_port}",
        "for research",
        "https://example.org/lab",
    ):
        assert part in sentence
    fetch_files(origins_named("lab"), said.append)
    assert len(said) == 1
    assert len(server.requests) == 4


def test_password_of_a_mirror_is_not_printed(server: FileServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VTTDATA_MIRROR", server.url("/mirror", host="me:hunter2@127.0.0.1"))
    server.files.clear()
    said: list[str] = []
    with pytest.raises(VttdataError) as refused:
        fetch_files(origins_named("lab"), said.append)
    assert f"http://127.0.0.1:{server.server_port}/mirror" in said[0]
    assert "hunter2" not in said[0] + str(refused.value)


def test_build_without_annotations_is_the_one_with_them(
    server: FileServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fetched = build("lab", execution=Execution(1), messages=Messages(quiet=True))
    official = tmp_path / "official"
    settings = {"annotations": official, "allow_leaks": "as published: for trying it"}
    settings |= {f"protocols.usual.{split}": official / f"{split}.csv" for split in ("train", "test")}
    server.files.clear()
    given = build(
        "lab", out=tmp_path / "given", settings=settings, execution=Execution(1), messages=Messages(quiet=True)
    )
    for path in given.dataset.rglob("*.parquet"):
        assert (fetched.dataset / path.relative_to(given.dataset)).read_bytes() == path.read_bytes()
    texts = [arg for key, value in settings.items() if key != "allow_leaks" for arg in ("--set", f"{key}={value}")]
    for dataset in ("lab/tiny", str(given.dataset)):
        for inputs in (texts, texts[:2], ["--rebuild"]):
            capsys.readouterr()
            assert main(["verify", dataset, *inputs]) == 0
            printed = capsys.readouterr().out
            assert "inputs: those that it was made from" in printed
            assert "identical: all" in printed
    assert "Protocol usual: LEAKS" in (fetched.dataset / "README.md").read_text()


def test_verify_fetches_what_a_dataset_was_made_from(
    server: FileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "plugins" / "origins" / "lab.yaml"
    origins = yaml.safe_load(path.read_text())
    for name in ("train.csv", "test.csv"):
        origins["places"][0]["files"][name]["optional"] = True
    path.write_text(yaml.safe_dump(origins))
    settings = {"annotations": tmp_path / "official"}
    dataset = build(
        "lab", out=tmp_path / "given", settings=settings, execution=Execution(1), messages=Messages(quiet=True)
    ).dataset
    assert server.requests == []
    assert main(["verify", str(dataset)]) == 0
    assert f"from official files, which are fetched: vttdata verify {dataset} --rebuild" in capsys.readouterr().err
    assert main(["verify", str(dataset), "--rebuild", "--set", "nosuch=1"]) == 2
    assert "nosuch" in capsys.readouterr().err
    assert server.requests == []
    assert main(["verify", str(dataset), "--rebuild"]) == 0
    printed = capsys.readouterr()
    assert "identical: all" in printed.out
    assert "fetching 2 files" in printed.err
    # The lists of a protocol that it does not have are not among them.
    assert sorted(path for path, _ in server.requests) == [
        "/files/test_videodatainfo.json.zip",
        "/files/train_val_annotation.zip",
    ]
    monkeypatch.setenv("VTTDATA_HOME", str(tmp_path / "elsewhere"))
    server.answers["/files/train_val_annotation.zip"] = [status(404)]
    assert main(["verify", str(dataset), "--rebuild"]) == 2
    assert "lab/train_val_annotation.zip" in capsys.readouterr().err


def test_setting_that_is_refused_is_named_before_anything_is_fetched(
    server: FileServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["build", "lab", "--set", "nosuch=1"]) == 2
    assert "nosuch: there is no such key" in capsys.readouterr().err
    assert server.requests == []


@pytest.mark.parametrize(
    "recipe", [{"builder": "foils", "format": "activitynet-captions"}, {"builder": "foils", "format": "msrvtt"}]
)
def test_missing_library_is_named_before_anything_is_fetched(
    server: FileServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    recipe: dict[str, str],
) -> None:
    write_plugin(tmp_path / "plugins" / "recipes", "lab", {"name": "lab/tiny", **recipe})
    find_spec = importlib.util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "spacy" else find_spec(name))
    assert main(["build", "lab", "--quiet"]) == 2
    assert capsys.readouterr().err == "vttdata: Foils need spaCy: pip install 'vttdata[foil]'.\n"
    with pytest.raises(VttdataError, match="Foils need spaCy"):
        load_dataset("lab/tiny")
    assert server.requests == []


def test_files_that_were_changed_in_the_folder_are_put_back(server: FileServer) -> None:
    (annotations, *_) = settings_of_lab()
    path = Path(annotations.removeprefix("annotations=")) / "train.csv"
    content = path.read_bytes()
    path.write_bytes(b"changed")
    assert settings_of_lab()[0] == annotations
    assert path.read_bytes() == content


@pytest.mark.parametrize("offline", ["1", ""])
def test_protocol_whose_list_nobody_can_be_asked_for_is_left_out_with_a_note(
    server: FileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, offline: str
) -> None:
    path = tmp_path / "plugins" / "origins" / "lab.yaml"
    origins = yaml.safe_load(path.read_text())
    files = origins["places"][0]["files"]
    lists = {name: files.pop(name) | {"optional": True} for name in ("train.csv", "test.csv")}
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{closed.getsockname()[1]}/"
        origins["places"].append({"at": [nobody], "licence": "MIT", "files": lists})
        path.write_text(yaml.safe_dump(origins))
        for name in lists:
            (tmp_path / "official" / name).unlink()
        monkeypatch.setenv("VTTDATA_MIRROR", str(tmp_path / "official"))
        monkeypatch.setenv("VTTDATA_OFFLINE", offline)
        said: list[str] = []
        (annotations,) = settings_of_lab(note=said.append)
    assert sorted(os.listdir(annotations.removeprefix("annotations="))) == sorted(files)
    assert "without test.csv, train.csv" in said[-1] or "without train.csv, test.csv" in said[-1]
    assert server.requests == []


def test_list_that_a_server_refuses_is_not_left_out(server: FileServer, tmp_path: Path) -> None:
    path = tmp_path / "plugins" / "origins" / "lab.yaml"
    origins = yaml.safe_load(path.read_text())
    origins["places"][0]["files"]["test.csv"]["optional"] = True
    path.write_text(yaml.safe_dump(origins))
    del server.files["/files/test.csv"]
    with pytest.raises(VttdataError, match="answers 404"):
        settings_of_lab()


def test_files_that_the_user_names_are_read_instead(server: FileServer) -> None:
    assert settings_of_lab("annotations=FOLDER") == []
    assert server.requests == []


class TestConsent:
    @pytest.fixture(autouse=True)
    def _consent(self, consent: None) -> None:
        pass

    def test_is_never_assumed(self, server: FileServer, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["build", "lab", "--quiet"]) == 2
        said = capsys.readouterr().err
        for part in ("for research", "https://example.org/lab", "--accept-terms", "VTTDATA_ACCEPT_TERMS=lab"):
            assert part in said
        assert server.requests == []

    def test_is_given_once_by_an_option(self, server: FileServer, tmp_path: Path) -> None:
        assert main(["fetch", "lab", "--accept-terms"]) == 0
        for path in (tmp_path / "home" / "downloads").glob("*"):
            if path.is_file():
                path.unlink()
        assert main(["fetch", "lab"]) == 0
        write_lab(tmp_path, server, consent=True, terms="other terms")
        read_origins.cache_clear()
        for path in (tmp_path / "home" / "downloads").glob("*"):
            if path.is_file():
                path.unlink()
        assert main(["fetch", "lab"]) == 2

    def test_may_be_given_by_the_environment(self, server: FileServer, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("VTTDATA_ACCEPT_TERMS", "other")
        assert main(["fetch", "lab"]) == 2
        monkeypatch.setenv("VTTDATA_ACCEPT_TERMS", "other, lab")
        assert main(["fetch", "lab"]) == 0

    @pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("no\n", 2), ("", 2)])
    def test_is_asked_for_on_a_terminal(self, monkeypatch: pytest.MonkeyPatch, answer: str, code: int) -> None:
        for name, text in (("stdin", answer), ("stderr", "")):
            stream = io.StringIO(text)
            stream.isatty = lambda: True  # type: ignore[method-assign]
            monkeypatch.setattr(f"sys.{name}", stream)
        assert main(["fetch", "lab"]) == code


def test_fetch_fills_a_mirror_for_other_machines(
    server: FileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    mirror = tmp_path / "mirror"
    assert main(["fetch", "lab", "--out", str(mirror)]) == 0
    assert f"4 files, 0.0 MB, are in {mirror / 'lab'}" in capsys.readouterr().out
    assert sorted(os.listdir(mirror / "lab")) == sorted(os.listdir(tmp_path / "official"))
    monkeypatch.setenv("VTTDATA_HOME", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("VTTDATA_MIRROR", str(mirror))
    monkeypatch.setenv("VTTDATA_OFFLINE", "1")
    before = len(server.requests)
    assert main(["fetch", "lab"]) == 0
    assert len(server.requests) == before


def test_other_file_at_the_origin_is_refused_with_exit_code_2(
    server: FileServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.answers["/files/test.csv"] = [instead(b"<html>")]
    assert main(["fetch", "lab"]) == 2
    assert "its SHA-256 is" in capsys.readouterr().err


def test_unknown_benchmark_is_refused_with_what_is_known() -> None:
    with pytest.raises(VttdataError, match=r"known are .*msrvtt.*did you mean 'msvd'"):
        origins_named("msvdd")
