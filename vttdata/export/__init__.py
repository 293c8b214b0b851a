"""Datasets in the formats that other people's code reads unchanged.

Reads a dataset folder and writes files; computes no metric, and needs none of the readers to be installed.
"""

from vttdata.export.export import FORMATS, Exported, Format, export

__all__ = ["FORMATS", "Exported", "Format", "export"]
