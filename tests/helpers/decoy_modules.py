"""Files in a folder that have the names of libraries and must never be run."""

from __future__ import annotations

from pathlib import Path


def write_decoys(folder: Path) -> None:
    """Write modules named after libraries, each of which raises an error when it is imported."""
    for name in ("random", "pickle", "tempfile", "struct", "av", "numpy"):
        (folder / f"{name}.py").write_text(f"raise SystemExit('a {name}.py that is no library was run')\n")
