"""Spend less time on memory: no search for reference cycles, and Arrow's memory from the system."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator

import pyarrow as pa


@contextlib.contextmanager
def garbage_collection_paused() -> Iterator[None]:
    """Search for no reference cycles in the block, or in the decorated function, and go on as before after it.

    The search visits every object again and again while their number grows: searching the 400,000 records of MSR-VTT
    took a quarter of the time of its build. Objects outside cycles are freed as ever.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextlib.contextmanager
def arrow_memory_from_system() -> Iterator[None]:
    """Take the memory of Arrow from the C library in the block, or in the decorated function.

    mimalloc, Arrow's own choice, asks for huge pages, which the kernel fills with zeros: .2 of 1 s where tables of some
    megabytes are read once, as by the report of MSR-VTT.
    """
    pool = pa.default_memory_pool()
    pa.set_memory_pool(pa.system_memory_pool())
    try:
        yield
    finally:
        pa.set_memory_pool(pool)
