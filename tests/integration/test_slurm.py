"""The Slurm jobs of docs/scale.md, run by a stand-in for sbatch with a real Ray cluster."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.helpers import slurm
from tests.helpers.builds import TINY_DEMO, vttdata
from tests.helpers.needs import library
from tests.helpers.ray_cluster import children
from tests.integration.test_interruption import hash_files

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="finds processes through /proc")


@pytest.fixture
def tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Write the scripts of the documentation and a recipe for them; yield the folder of the state of all tasks."""
    library("ray")
    text = (ROOT / "docs" / "scale.md").read_text().replace("/shared", str(tmp_path))
    head, workers = re.findall(r"^```bash\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    (tmp_path / "head.sh").write_text(head)
    (tmp_path / "workers.sh").write_text(workers)
    recipe = yaml.safe_load((ROOT / "recipes" / "demo.yaml").read_text())
    for key, value in TINY_DEMO.items():
        *sections, name = key.split(".")
        settings = recipe
        for section in sections:
            settings = settings.setdefault(section, {})
        settings[name] = value
    (tmp_path / "street.yaml").write_text(yaml.safe_dump(recipe))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    state = slurm.install(tmp_path / "slurm", monkeypatch)
    yield state
    slurm.cancel("*")


def submit(*arguments: str) -> None:
    subprocess.run(["sbatch", *arguments], check=True, capture_output=True)


def descendants(pid: int) -> list[int]:
    return [each for child in children(pid) for each in (child, *descendants(child))]


def has_worker(task: Path) -> bool:
    """Return whether a worker of a build is on the node that a task is."""
    for pid in descendants(int(task.read_text().split()[0])):
        try:
            if b"ray::RayWorker" in Path(f"/proc/{pid}/cmdline").read_bytes():
                return True
        except OSError:
            continue
    return False


def exit_code(task: Path) -> int | None:
    _, *code = task.read_text().split()
    return int(code[0]) if code else None


def test_documented_jobs_give_the_bytes_of_a_local_build_though_a_worker_is_preempted(
    tasks: Path, tmp_path: Path
) -> None:
    done = vttdata(
        "build", str(tmp_path / "street.yaml"), "--out", str(tmp_path / "local"), "--quiet", "--workers", "1"
    )
    assert done.returncode == 0, done.stderr
    submit("--array=1", "--cpus-per-task=1", "--mem=2G", str(tmp_path / "workers.sh"))
    submit(str(tmp_path / "head.sh"))
    head, first = tasks / "street-head.2.0", tasks / "street-workers.1.1"
    while not has_worker(first):
        assert exit_code(head) is None, slurm.output_of(head).read_text()
        time.sleep(0.05)
    # The one worker is lost; the build waits for another one.
    slurm.cancel(first.name)
    assert json.loads((tmp_path / "street" / "build.json").read_text())["status"] == "running"
    submit("--array=1", "--cpus-per-task=1", "--mem=2G", str(tmp_path / "workers.sh"))
    while exit_code(head) is None:
        time.sleep(0.1)
    assert exit_code(head) == 0, slurm.output_of(head).read_text()
    assert hash_files(tmp_path / "street" / "dataset") == hash_files(tmp_path / "local" / "dataset")
    # The head has cancelled the second worker.
    while exit_code(tasks / "street-workers.3.1") is None:
        time.sleep(0.1)
