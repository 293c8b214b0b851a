"""A benchmark of a folder of plugins, whose small official files lie on a local server: recipe, origins and files."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.helpers.file_server import FileServer, serving_files
from tests.helpers.official_files import write_zipped
from vttdata.recipe.origins import read_origins


@contextlib.contextmanager
def serving_lab(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FileServer]:
    """Make the benchmark known and serve its files; local builds are in an empty folder ``home``."""
    read_origins.cache_clear()
    monkeypatch.setenv("VTTDATA_HOME", str(folder / "home"))
    with serving_files() as server:
        monkeypatch.setenv("VTTDATA_PLUGINS", str(write_lab(folder, server)))
        yield server
    read_origins.cache_clear()


def write_lab(folder: Path, server: FileServer, **changes: Any) -> Path:
    """Write the recipe ``lab`` of the dataset ``lab/tiny`` and where its files are, and serve them; return the folder.

    `changes` are keys of the origins. The protocol ``usual`` leaks: clips 0 and 1 share a source.
    """
    files = write_zipped(folder / "official")
    (files / "train.csv").write_text("video_id\nvideo0\nvideo2\n")
    (files / "test.csv").write_text("video_id\nvideo1\nvideo9\n")
    for path in sorted(files.iterdir()):
        server.files[f"/files/{path.name}"] = path.read_bytes()
    placed = {
        path.name: {"bytes": path.stat().st_size, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
        for path in sorted(files.iterdir())
    }
    origins = {
        "home": "https://example.org/lab",
        "terms": "for research",
        "recipes": {
            "lab": {
                "seconds": 5,
                "protocols": {"usual": {"train": "train.csv", "test": "test.csv"}},
                "allow_leaks": "as published: for trying it",
            }
        },
        "places": [{"at": [server.url("/files/")], "licence": "MIT", "files": placed}],
    }
    write_plugin(
        folder / "plugins" / "recipes", "lab", {"name": "lab/tiny", "builder": "msrvtt", "description": "Tiny."}
    )
    write_plugin(folder / "plugins" / "origins", "lab", origins | changes)
    return folder / "plugins"


def write_plugin(folder: Path, name: str, content: dict[str, Any]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.yaml").write_text("# Tiny files: vttdata build lab\n" + yaml.safe_dump(content, sort_keys=False))
