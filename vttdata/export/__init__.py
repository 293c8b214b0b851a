"""Export datasets to the formats that other people's code reads unchanged.

Every module in `vttdata.export.formats` is a format, and so is every module in the folder `export` of a user's plugin
folder. Exports read a dataset folder and write files; they compute no metric and need none of the readers installed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vttdata.export.formats import export_formats

if TYPE_CHECKING:
    from vttdata.export.write import ExportResult, export

__all__ = ["ExportResult", "export", "export_formats"]


def __getattr__(name: str) -> Any:
    """Import the exporter on first use, since listing formats should not wait for pyarrow and pandas."""
    if name in ("ExportResult", "export"):
        from vttdata.export import write

        return getattr(write, name)
    raise AttributeError(f"module 'vttdata.export' has no attribute '{name}'")
