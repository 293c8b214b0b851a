"""Errors that `zipfile` and its decompressors raise for archives that are damaged."""

from __future__ import annotations

import lzma
import zipfile
import zlib

ZIP_ERRORS = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, RuntimeError, KeyError),
    *(ValueError, OverflowError),
)
