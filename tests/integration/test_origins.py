"""The real official files from a local server: fetched by digest, built and loaded in one process, then again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.file_server import serving_files
from vttdata.recipe.origins import find_origins

ROOT = Path(__file__).resolve().parents[2]
LOAD = """
import json, sys
sockets = []
sys.addaudithook(lambda event, _: event == "socket.connect" and sockets.append(event))
import vttdata
rows = vttdata.load_dataset(sys.argv[1])
print(json.dumps([rows.num_rows, rows[list(rows)[-1]][0]["video_id"], len(sockets)]))
"""


def load(name: str, home: Path, **environment: str) -> list[object]:
    done = subprocess.run(
        [sys.executable, "-c", LOAD, name],
        cwd=ROOT,
        env=os.environ | {"VTTDATA_HOME": str(home / "builds"), "HF_HOME": str(home / "hf")} | environment,
        check=True,
        capture_output=True,
        text=True,
    )
    return list(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.not_on("win32")
@pytest.mark.parametrize(
    ("recipe", "rows", "first"),
    [
        ("youcook2", {"train": 10_337, "validation": 3_492}, "xHr8X2Wpmno_0"),
        ("msrvtt", {"train": 6_513, "validation": 497, "test": 2_990}, "video7010"),
    ],
)
@pytest.mark.sampled(1)
def test_machine_with_nothing_loads_a_benchmark(
    shared: Path, tmp_path: Path, recipe: str, rows: dict[str, int], first: str
) -> None:
    origins = find_origins(recipe)
    assert origins is not None
    with serving_files() as server:
        for file in origins.files:
            for path in (shared / "data" / recipe).glob(file.name):
                server.files[f"/{file.digest}"] = path.read_bytes()
        # Nothing else is reached: the proxy is this server too.
        proxy = {"https_proxy": server.url(""), "no_proxy": "127.0.0.1"}
        numbers, video_id, sockets = load(f"vttdata/{recipe}", tmp_path, VTTDATA_MIRROR=server.url(""), **proxy)
        assert (numbers, video_id) == (rows, first)
        assert sockets
        asked = len(server.requests)
        assert load(f"vttdata/{recipe}", tmp_path) == [rows, first, 0]
        assert len(server.requests) == asked
