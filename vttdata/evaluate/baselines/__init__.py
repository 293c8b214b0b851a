"""Baselines: every module in this folder is one, and so is every module in a user's ``baselines/``.

A baseline uses no model of language or vision. `vttdata.evaluate.baseline` imports them.
"""

from __future__ import annotations

from pathlib import Path

from vttdata.plugins import describe_module, discover


def list_baselines() -> dict[str, str]:
    """Return the name and the description of every baseline, those of the package first.

    Raises:
        VttdataError: if a plugin has the name of another baseline, or the folder of plugins does not exist.
    """
    return {name: describe_module(path) for name, path in baseline_files().items()}


def baseline_files() -> dict[str, Path]:
    """Return the files of all baselines by their names, which have ``-`` where file names have ``_``.

    Raises:
        VttdataError: if a plugin has the name of another baseline, or the folder of plugins does not exist.
    """
    return {stem.replace("_", "-"): path for stem, path in discover(Path(__file__).parent, "baselines").items()}
