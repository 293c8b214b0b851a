"""Make the environments of other people's programs, and find what is installed in them.

``python -m tests.clients.environments [NAME ... | quick | all]`` makes each environment that is missing or whose
content has changed, in the folder ``.venv-clients``, and notes how long that took and how large it is. A program that
is no package is checked out at one commit; where its server cannot be reached, ``url.MIRROR.insteadOf`` in the settings
of git names another.
"""

from __future__ import annotations

import importlib.metadata
import json
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".venv-clients"
RESULTS = FOLDER / "results"
_NOTE = "environment.json"


class Repository(NamedTuple):
    """Program that is no package: address, commit, and a file of the checkout that is left out."""

    url: str
    commit: str
    without: str = ""

    def check_out(self, folder: Path) -> None:
        """Fetch the commit into a new folder."""
        folder.mkdir(parents=True)
        for arguments in (
            ["init", "--quiet"],
            ["remote", "add", "origin", self.url],
            ["fetch", "--quiet", "--depth=1", "--filter=blob:none", "origin", self.commit],
            *([["sparse-checkout", "set", "--no-cone", "/*", f"!{self.without}"]] if self.without else []),
            ["checkout", "--quiet", "FETCH_HEAD"],
        ):
            subprocess.run(["git", *arguments], cwd=folder, check=True)


class Environment(NamedTuple):
    """Environment with clients.

    Fields:
        name: of the environment.
        packages: to install.
        repositories: to check out, by the name of the program.
        quick: it is made at every change.
        vttdata: this package is installed too.
    """

    name: str
    packages: tuple[str, ...]
    repositories: Mapping[str, Repository]
    quick: bool
    vttdata: bool

    @property
    def folder(self) -> Path:
        """Return where it lies."""
        return FOLDER / self.name

    @property
    def python(self) -> Path:
        """Return its interpreter."""
        return self.folder / "bin" / "python"

    def checkout(self, client: str) -> Path:
        """Return the folder of a program that is no package."""
        return self.folder / "repositories" / client

    def wanted(self, client: str) -> str:
        """Return the requirement of a client, such as ``mteb==2.26.24``, or its address and commit."""
        if client in self.repositories:
            return f"{client} @ {self.repositories[client].url}@{self.repositories[client].commit}"
        return next(package for package in self.packages if Requirement(package).name == client)

    def installed(self, client: str) -> str | None:
        """Return the version of a client, or None if it is not installed."""
        if client in self.repositories:
            return "at " + commit[:7] if (commit := self.note().get("repositories", {}).get(client)) else None
        folders = [str(path) for path in self.folder.glob("lib/python*/site-packages")]
        found = importlib.metadata.distributions(name=client, path=folders)
        return next((distribution.version for distribution in found), None)

    def note(self) -> dict[str, Any]:
        """Return what was noted when it was made: its content, ``seconds`` and ``megabytes``; empty before."""
        path = self.folder / _NOTE
        return json.loads(path.read_bytes()) if path.exists() else {}

    def _content(self) -> dict[str, object]:
        commits = {name: each.commit for name, each in self.repositories.items()}
        return {"packages": list(self.packages), "repositories": commits, "vttdata": self.vttdata}

    def make(self) -> None:
        """Create it, unless it is there with this content.

        Raises:
            subprocess.CalledProcessError: if something cannot be installed; nothing is left of the environment.
        """
        if self.note() and self.note() == self.note() | self._content():
            return
        start = time.monotonic()
        try:
            # With pip, by which the lines of an export's README install.
            _uv("venv", "--clear", "--seed", "--python", sys.executable, str(self.folder))
            for name, repository in self.repositories.items():
                repository.check_out(self.checkout(name))
            folders = [self.checkout(name) for name in self.repositories] + [ROOT] * self.vttdata
            installable = [path for path in folders if list(path.glob("setup.py")) + list(path.glob("pyproject.toml"))]
            editable = [word for path in installable for word in ("--editable", str(path))]
            _uv("pip", "install", "--python", str(self.folder), *self.packages, *editable)
        except subprocess.CalledProcessError:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise
        size = sum(path.lstat().st_size for path in self.folder.rglob("*") if path.is_file())
        note = {"seconds": round(time.monotonic() - start), "megabytes": round(size / 1e6)}
        (self.folder / _NOTE).write_text(json.dumps(self._content() | note), encoding="utf-8")


def _uv(*arguments: str) -> None:
    subprocess.run([str(Path(sys.executable).with_name("uv")), *arguments, "--quiet"], check=True)


def environments() -> dict[str, Environment]:
    """Return all environments by name."""
    content = tomllib.loads((Path(__file__).parent / "clients.toml").read_text(encoding="utf-8"))
    return {
        name: Environment(
            name,
            tuple(entry["packages"]),
            {client: Repository(**each) for client, each in entry.get("repositories", {}).items()},
            bool(entry["quick"]),
            bool(entry.get("vttdata")),
        )
        for name, entry in content.items()
    }


def choose(names: Sequence[str]) -> list[Environment]:
    """Return the environments of some names, of which ``quick`` and ``all`` stand for several.

    Raises:
        SystemExit: if there is no such environment.
    """
    known = environments()
    if unknown := set(names) - known.keys() - {"all", "quick"}:
        sys.exit(f"No environment is called {min(unknown)!a}; choose from quick, all, {', '.join(known)}.")
    return [each for each in known.values() if {each.name, "all"} & set(names) or (each.quick and "quick" in names)]


def main(names: Sequence[str]) -> int:
    """Make environments, of which results are forgotten; return 1 if one cannot be made, whose tests then fail."""
    failed = 0
    for environment in choose(names):
        for path in RESULTS.glob(f"{environment.name}.*.json"):
            path.unlink()
        try:
            environment.make()
        except subprocess.CalledProcessError:
            failed = 1
            print(f"{environment.name}: cannot be installed.")
        else:
            print("{}: {seconds} s, {megabytes} MB".format(environment.name, **environment.note()))
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or ["all"]))
