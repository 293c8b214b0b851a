"""Under strace: what `vttdata verify` opens and contacts when a dataset is hostile in every way that is known."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.helpers.damage import seal, write_rich_dataset
from tests.helpers.needs import PROGRAM

ROOT = Path(__file__).resolve().parents[2]
_OPENED = re.compile(r'(?:open|openat|openat2|creat)\((?:AT_FDCWD, )?"((?:[^"\\]|\\.)*)"')
_CONNECTED = re.compile(r"(?:connect|sendto|sendmsg)\(\d+, .*sa_family=(AF_INET6?)\b")
_RAN = re.compile(r'execve\("([^"]*)"')

RECIPES = {
    "model": "builder: foils\ninput: {secret}\nscorer: {secret}\nlexicon: {secret}\npipeline: pip\n",
    "search": "builder: own_videos\ncollect: {{search: {{engine: 'http://[::1]:9/{{query}}', queries: {{a: [b]}}}}}}\n",
    "builder": "builder: {outside}/evil.py\n",
}


def make_hostile(folder: Path, outside: Path, recipe: str) -> Path:
    """Write a dataset that leads out by its recipe, provenance, card, manifest and links."""
    dataset = write_rich_dataset(folder)
    secret = outside / "secret.csv"
    text = f"name: me/rich\nversion: 1.0.0\n{RECIPES[recipe].format(secret=secret, outside=outside)}"
    (dataset / "recipe.yaml").write_text(text)
    card = dataset / "README.md"
    card.write_text(card.read_text().replace("captions/train-*", f"{outside}/*.csv", 1))
    seal(dataset)
    if recipe == "model":
        (dataset / "link.parquet").symlink_to(secret)
        (dataset / "random.py").write_text("raise SystemExit('ran')\n")
        manifest = json.loads((dataset / "manifest.json").read_text())
        for name in ("link.parquet", str(secret), f"../{outside.name}/secret.csv"):
            manifest["files"][name] = {"sha256": "0" * 64, "bytes": secret.stat().st_size, "rows": 1}
        (dataset / "manifest.json").write_text(json.dumps(manifest))
    return dataset


def allowed_roots(dataset: Path, home: Path) -> tuple[str, ...]:
    """Return where files may be: the dataset, this package, Python and its libraries, the system's libraries."""
    python = [sys.prefix, sys.base_prefix, sys.exec_prefix, *sysconfig.get_paths().values(), *sys.path]
    package = [ROOT / name for name in ("vttdata", "builders", "recipes")]
    # Libraries and their settings, kernel tables, time zones and locales, fonts of no one.
    system = ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/share", "/etc/ld.so.cache", "/sys"]
    system += ["/proc", "/dev", "/etc/localtime", "/etc/nsswitch.conf", "/etc/passwd", "/etc/ssl", "/etc/mime.types"]
    roots = [dataset, home, *package, *filter(None, python), *system]
    return tuple({str(root) for root in roots} | {os.path.realpath(root) for root in roots})


@pytest.mark.skipif(shutil.which("strace") is None, reason=PROGRAM.format("strace"))
@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.sampled(1)
def test_verify_of_a_hostile_dataset_stays_inside(recipe: str, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.csv").write_text("video_id,caption\na,private words\n")
    (outside / "evil.py").write_text(f"open({str(outside / 'ran')!r}, 'w')\n")
    dataset = make_hostile(tmp_path / "dataset", outside, recipe)
    home = tmp_path / "home"
    home.mkdir()
    opened, problems = set(), []
    for number, options in enumerate((["--files-only"], ["--rebuild"]) if recipe == "model" else (["--rebuild"],)):
        log = tmp_path / f"strace-{number}"
        strace = ["strace", "-f", "-qq", "-s", "4096", "-o", str(log), "-e", "trace=%file,%network,process"]
        environment = {"HOME": str(home), "VTTDATA_HOME": str(home), "TMPDIR": str(home), "PYTHONPATH": str(ROOT)}
        ended = subprocess.run(
            [*strace, sys.executable, "-m", "vttdata", "verify", str(dataset), *options],
            capture_output=True,
            text=True,
            cwd=dataset,
            env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8"} | environment,
            check=False,
        )
        if "ptrace" in ended.stderr or "strace:" in ended.stderr:
            pytest.skip(f"strace may not trace here: {ended.stderr.strip()[:80]}")
        assert ended.returncode in (2, 4), ended
        assert "Traceback" not in ended.stderr
        assert "private words" not in ended.stdout + ended.stderr
        for line in log.read_text(errors="replace").splitlines():
            problems += [line] if _CONNECTED.search(line) else []
            if "ENOENT" not in line and (match := _OPENED.search(line)):
                opened.add(os.path.normpath(dataset / match[1]))
            if (match := _RAN.search(line)) and " = 0" in line:
                opened.add(match[1])
    roots = allowed_roots(dataset, home)
    folders = {str(parent) for root in roots for parent in Path(root).parents}
    problems += [path for path in sorted(opened) if not path.startswith(roots) and path not in folders]
    assert not problems, "\n".join(problems)
    assert {str(dataset / "manifest.json"), str(dataset / "recipe.yaml")} <= opened
    assert not (outside / "ran").exists()
    assert str(outside) not in "\n".join(opened)
