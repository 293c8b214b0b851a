"""Captioning metrics: every module in this folder is a family, and so is every module in a user's ``metrics/``.

Metrics are listed without importing them, so that help texts stay fast; `vttdata.evaluate.metric` imports them.
"""

from __future__ import annotations

from pathlib import Path

from vttdata.plugins import describe_module, discover


def captioning_metrics() -> dict[str, str]:
    """Return the name and the description of every metric family, those of the package first.

    A description is the first line of a module's docstring, or the error of a module that is not valid Python.

    Raises:
        VttdataError: if a plugin has the name of another metric, or the folder of plugins does not exist.
    """
    return {name: describe_module(path) for name, path in metric_files().items()}


def metric_files() -> dict[str, Path]:
    """Return the files of all metric families by their names, which have ``-`` where file names have ``_``.

    Raises:
        VttdataError: if a plugin has the name of another metric, or the folder of plugins does not exist.
    """
    return {stem.replace("_", "-"): path for stem, path in discover(Path(__file__).parent, "metrics").items()}
