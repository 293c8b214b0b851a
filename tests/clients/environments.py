"""Make the environments of other people's programs, and find what is installed in them.

``python -m tests.clients.environments [NAME ... | quick | all]`` makes each environment that is missing or whose
packages have changed, in the folder ``.venv-clients``, and notes how long that took and how large it is.
"""

from __future__ import annotations

import importlib.metadata
import json
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".venv-clients"
_NOTE = "environment.json"


class Environment(NamedTuple):
    """Environment with clients: its name, the packages to install, and whether it is made at every change."""

    name: str
    packages: tuple[str, ...]
    quick: bool

    @property
    def folder(self) -> Path:
        """Return where it lies."""
        return FOLDER / self.name

    @property
    def python(self) -> Path:
        """Return its interpreter."""
        return self.folder / "bin" / "python"

    def wanted(self, client: str) -> str:
        """Return the requirement of a client, such as ``mteb==2.26.24``."""
        return next(package for package in self.packages if Requirement(package).name == client)

    def installed(self, client: str) -> str | None:
        """Return the version of a client, or None if it is not installed."""
        folders = [str(path) for path in self.folder.glob("lib/python*/site-packages")]
        found = importlib.metadata.distributions(name=client, path=folders)
        return next((distribution.version for distribution in found), None)

    def note(self) -> dict[str, object]:
        """Return what was noted when it was made: ``packages``, ``seconds`` and ``megabytes``; empty before."""
        path = self.folder / _NOTE
        return json.loads(path.read_bytes()) if path.exists() else {}

    def make(self) -> None:
        """Create it, unless it is there with these packages.

        Raises:
            subprocess.CalledProcessError: if a package cannot be installed; nothing is left of the environment.
        """
        if self.note().get("packages") == list(self.packages):
            return
        start = time.monotonic()
        try:
            _uv("venv", "--clear", "--python", sys.executable, str(self.folder))
            _uv("pip", "install", "--python", str(self.folder), *self.packages)
        except subprocess.CalledProcessError:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise
        size = sum(path.lstat().st_size for path in self.folder.rglob("*") if path.is_file())
        note = {"packages": self.packages, "seconds": round(time.monotonic() - start), "megabytes": round(size / 1e6)}
        (self.folder / _NOTE).write_text(json.dumps(note), encoding="utf-8")


def _uv(*arguments: str) -> None:
    subprocess.run([str(Path(sys.executable).with_name("uv")), *arguments, "--quiet"], check=True)


def environments() -> dict[str, Environment]:
    """Return all environments by name."""
    content = tomllib.loads((Path(__file__).parent / "clients.toml").read_text(encoding="utf-8"))
    return {name: Environment(name, tuple(entry["packages"]), bool(entry["quick"])) for name, entry in content.items()}


def main(names: Sequence[str]) -> int:
    """Make environments; return 1 if one of them cannot be made, which only skips its tests."""
    known = environments()
    chosen = [each for each in known.values() if {each.name, "all"} & set(names) or (each.quick and "quick" in names)]
    unknown = set(names) - known.keys() - {"all", "quick"}
    if unknown:
        sys.exit(f"No environment is called {min(unknown)!a}; choose from quick, all, {', '.join(known)}.")
    failed = 0
    for environment in chosen:
        try:
            environment.make()
        except subprocess.CalledProcessError:
            failed = 1
            print(f"{environment.name}: cannot be installed, so its tests are skipped.")
        else:
            print("{}: {seconds} s, {megabytes} MB".format(environment.name, **environment.note()))
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or ["all"]))
