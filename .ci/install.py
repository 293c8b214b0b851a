"""Install vttdata with an extra into the environment of the Python that runs this, with the pinned versions.

    python .ci/install.py EXTRA [--newest]

``pins-3.11.txt`` has the exact versions of all dependencies for Python 3.11, ``pins-3.12.txt`` those for
every newer Python, and ``make pins`` renews both. Where they cannot be installed, as on a Python that one of them has
no wheels for, the newest versions that ``pyproject.toml`` allows are taken, and a line says so. With ``--newest`` they
are taken in any case. Only Python's standard library is needed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SECONDS_BETWEEN_SIGNS = 10.0
UNREACHABLE = "pip cannot reach the package index: check the network, and a proxy or mirror if you use one."


def pip(*arguments: str, constraints: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run pip, with exact versions of the packages to install and of those that build them, if any are named.

    While it works it prints a line now and then, which pip without a terminal does not.
    """
    variables = ("PIP_CONSTRAINT", "PIP_BUILD_CONSTRAINT")
    pinned = {name: str(constraints) for name in variables} if constraints else {}
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments]
    pipe, begin = subprocess.PIPE, time.monotonic()
    with subprocess.Popen(command, env=os.environ | pinned, stdout=pipe, stderr=pipe, text=True) as process:
        while True:
            try:
                output, errors = process.communicate(timeout=SECONDS_BETWEEN_SIGNS)
            except subprocess.TimeoutExpired:
                print(f"pip is at work: {time.monotonic() - begin:.0f} s", flush=True)
            else:
                return subprocess.CompletedProcess(command, process.returncode, output, errors)


def install(extra: str, *, newest: bool) -> str | None:
    """Install the project in the folder above this one; return the error in a sentence, or None."""
    name = "pins-3.11.txt" if sys.version_info < (3, 12) else "pins-3.12.txt"
    project = ("install", "--editable", f"{ROOT}[{extra}]")
    if not newest:
        done = pip(*project, constraints=ROOT / name)
        if done.returncode == 0:
            return None
        if pip("install", "--dry-run", "--ignore-installed", "--no-deps", "--retries", "0", "pip").returncode:
            return UNREACHABLE
        version = ".".join(map(str, sys.version_info[:3]))
        print(
            f"The versions of {name} cannot be installed with Python {version} ({last_line(done.stderr)}); "
            "taking the newest ones that pyproject.toml allows."
        )
    done = pip(*project)
    return f"The dependencies cannot be installed: {done.stderr.strip()}" if done.returncode else None


def last_line(text: str) -> str:
    """Return the last line of a program's messages that says something."""
    return next((line for line in reversed(text.splitlines()) if line.strip()), "no message").strip().rstrip(".")


if __name__ == "__main__":
    sys.exit(install(sys.argv[1], newest="--newest" in sys.argv[2:]))
