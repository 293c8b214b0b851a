"""Export formats: every module in this folder is one, and so is every module in the user's folder of plugins.

Formats are listed without importing them, so that help texts stay fast; `vttdata.export.format` imports them.
"""

from __future__ import annotations

from pathlib import Path

from vttdata.plugins import PluginKind

FORMATS = PluginKind(Path(__file__).parent, "export", "export format")


def export_formats() -> dict[str, str]:
    """Return the name and the description of every export format, those of the package first.

    A description is the first line of a module's docstring, or the error of a module that is not valid Python.

    Raises:
        VttdataError: if a plugin has the name of another format, or the folder of plugins does not exist.
    """
    return FORMATS.descriptions()
