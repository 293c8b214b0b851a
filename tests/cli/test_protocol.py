"""Protocols of the literature: their files, their digests, and the files that are made from them."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from tests.helpers.official_files import write_unpacked
from vttdata.cli.main import main
from vttdata.compose.published_protocols import read_specification
from vttdata.dataset.protocol_file import read_protocol_file
from vttdata.errors import VttdataError
from vttdata.recipe import packaged


@pytest.mark.parametrize("name", packaged.protocols())
def test_specification_has_source_and_citation_and_is_of_a_benchmark(name: str) -> None:
    published = read_specification(packaged.protocols()[name])
    assert published.benchmark in packaged.recipes()
    assert published.source.startswith("http")
    assert published.citation
    assert not published.digest or not any(part.user_list for part in published.splits.values())


def test_published_digest_is_that_of_the_official_file(shared: Path) -> None:
    videos = json.loads((shared / "data/youcook2/yc2_annotations_trainval.json").read_text())["database"]
    lines = [
        f"validation\t{video}_{step['id']}\n"
        for video, content in videos.items()
        for step in content["annotations"]
        if content["subset"] == "validation"
    ]
    digest = hashlib.sha256("".join(sorted(lines)).encode()).hexdigest()
    assert read_specification(packaged.protocols()["youcook2-validation"]).digest == digest


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a dataset in the format of MSR-VTT with 10 training, 2 validation and 5 test clips."""
    folder = tmp_path_factory.mktemp("msrvtt")
    build = ["build", "msrvtt", "--quiet", "--set", f"annotations={write_unpacked(folder / 'files')}"]
    assert main([*build, "--workers", "1", "--out", str(folder / "out")]) == 0
    return folder / "out"


SPECIFICATION = """benchmark: msrvtt
description: A protocol made up for this test.
source: https://example.com
citation: "Somebody, 2026"
splits:
  train: {rest: true, clips: 15}
  test: {list: "the two test ids", clips: 2}
"""


@pytest.fixture
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "protocols").mkdir()
    (tmp_path / "protocols" / "two.yaml").write_text(SPECIFICATION)
    monkeypatch.setenv("VTTDATA_PLUGINS", str(tmp_path))
    return tmp_path / "protocols" / "two.yaml"


@pytest.mark.not_on("win32")
def test_list_of_the_user_and_the_rest_make_a_protocol(
    dataset: Path, plugins: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "ids.csv").write_text("key,video_id\nret0,video13.mp4\nret1,video2\n")
    command = ["protocol", "two", str(dataset), "--out", str(tmp_path / "two.json")]
    assert main([*command, "--list", f"test={tmp_path / 'ids.csv'}"]) == 0
    protocol = read_protocol_file(tmp_path / "two.json")
    assert protocol.splits["test"] == ["video13", "video2"]
    assert len(protocol.splits["train"]) == 15
    assert protocol.about["citation"] == "Somebody, 2026"
    assert f"{protocol.label}: train 15, test 2 clips" in capsys.readouterr().out
    plugins.write_text(SPECIFICATION + f"digest: {protocol.digest}\n")
    assert main([*command, "--list", f"test={tmp_path / 'ids.csv'}"]) == 0
    (tmp_path / "ids.csv").write_text("video13\nvideo3\n")
    assert main([*command, "--list", f"test={tmp_path / 'ids.csv'}"]) == 2
    assert "not the published one" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            ["two", "{dataset}", "--out", "a.json"],
            "the list of test is not shipped; give the two test ids: --list test=",
        ),
        (["two", "{dataset}", "--out", "a.json", "--list", "train={ids}"], "the list of test is not shipped"),
        (["two", "{dataset}", "--out", "a.json", "--list", "test={ids}", "--list", "x={ids}"], "'x' needs no list"),
        (["two", "{dataset}", "--out", "a.json", "--list", "test={ids}"], "no clip has the id 'video99' (1 of 2"),
        (["two", "{dataset}", "--out", "a.txt"], "ends in .json"),
        (["two"], "Missing argument 'DATASET'"),
        (["three", "{dataset}", "--out", "a.json"], "Unknown protocol 'three'"),
        (["msrvtt-full", "{dataset}", "--out", "a.json"], "has 6,513 clips, and here 10"),
        (["youcook2-validation", "{dataset}", "--out", "a.json"], "and here 2"),
    ],
)
@pytest.mark.not_on("win32")
def test_mistake_is_one_sentence(
    dataset: Path, plugins: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], words: str
) -> None:
    assert plugins.is_file()
    (tmp_path / "ids.csv").write_text("video1\nvideo99\n")
    assert main(["protocol", *(option.format(dataset=dataset, ids=tmp_path / "ids.csv") for option in options)]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1


def test_damaged_specification_names_the_key(plugins: Path) -> None:
    plugins.write_text(SPECIFICATION.replace("rest: true", "rest: true, from: [train]"))
    with pytest.raises(VttdataError, match=r"two\.yaml: splits\.train: exactly one of 'from', 'list' and 'rest'"):
        read_specification(plugins)
