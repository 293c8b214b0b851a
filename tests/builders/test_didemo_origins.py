"""DiDeMo from a mirror of small files in its format: the packaged origins, with the digests of these files.

The digests of the real lists are replaced by those of the test's own files; everything else is as it is packaged.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.helpers.file_server import FileServer, serving_files
from vttdata import load_dataset
from vttdata.cli.main import main
from vttdata.load import official_files
from vttdata.recipe import origins as recipe_origins

pytestmark = pytest.mark.not_on("win32")

LISTS = ("train_data.json", "val_data.json", "test_data.json")


def moments(split: str, count: int) -> bytes:
    entries: list[dict[str, Any]] = [
        {
            "annotation_id": number,
            "description": f"the dog runs past tree {number} of {split}",
            "video": f"{split}@N0{number}_1.avi",
            "times": [[0, 1], [0, 1], [1, 1], [0, 0]],
            "num_segments": 6,
            "dl_link": f"https://www.flickr.com/{split}/{number}",
        }
        for number in range(count)
    ]
    return json.dumps(entries).encode()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FileServer]:
    packaged = yaml.safe_load(recipe_origins.all_origins()["didemo"].read_text())
    (place,) = packaged["places"]
    assert sorted(place["files"]) == sorted(LISTS)
    with serving_files() as running:
        for name, count in zip(LISTS, (6, 3, 2), strict=True):
            content = moments(name.partition("_")[0], count)
            running.files[f"/data/{name}"] = content
            known = place["files"][name]
            if "sha256" in known:
                known |= {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
            else:
                known["git_blob"] = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
        place["at"] = [running.url("/")]
        file = tmp_path / "origins" / "didemo.yaml"
        file.parent.mkdir()
        file.write_text(yaml.safe_dump(packaged))
        for module in (recipe_origins, official_files):
            monkeypatch.setattr(module, "all_origins", lambda: {"didemo": file})
        monkeypatch.setenv("VTTDATA_HOME", str(tmp_path / "home"))
        yield running


def test_is_fetched_built_and_loaded(server: FileServer, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    cache = str(tmp_path / "cache")
    clips = load_dataset("vttdata/didemo", cache_dir=cache)
    assert clips.num_rows == {"train": 6, "validation": 3, "test": 2}
    assert clips["test"][0]["video_id"] == "test-N00_1_0"
    assert (clips["test"][0]["start"], clips["test"][0]["end"]) == (0.0, 10.0)
    said = capfd.readouterr().err
    assert "fetching 3 files" in said
    assert "and 1 of unknown size" in said
    asked = len(server.requests)
    assert load_dataset("vttdata/didemo", cache_dir=cache, verify=True).num_rows == clips.num_rows
    assert len(server.requests) == asked


def test_dataset_is_the_one_of_a_folder(server: FileServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "official"
    folder.mkdir()
    for name in LISTS:
        (folder / name).write_bytes(server.files[f"/data/{name}"])
    arguments = ["--quiet", "--workers", "1", "--out", str(tmp_path / "given")]
    assert main(["build", "didemo", "--set", f"annotations={folder}", *arguments]) == 0
    assert server.requests == []
    assert main(["verify", str(tmp_path / "given"), "--rebuild"]) == 0
    assert "identical: all" in capsys.readouterr().out
    assert len(server.requests) == 3
