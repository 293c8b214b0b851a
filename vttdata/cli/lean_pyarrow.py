"""Let pyarrow work without pandas, which it imports at the first array that is made: 0.7 s of CPU time."""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec


class _NoPandas:
    """Finder that finds no pandas."""

    @staticmethod
    def find_spec(name: str, _path: object = None, _target: object = None) -> ModuleSpec | None:
        """Raise ImportError for pandas, and find nothing else."""
        if name == "pandas":
            raise ModuleNotFoundError(name=name)
        return None


def keep_pandas_out() -> None:
    """Make pyarrow's first array without pandas, if that is not imported yet.

    From then on pyarrow recognises no objects of pandas among values, of which a command that does not import pandas
    has none; what asks for pandas, such as ``Table.to_pandas``, imports it all the same.
    """
    if "pandas" in sys.modules:
        return
    import pyarrow as pa

    sys.meta_path.insert(0, _NoPandas)
    try:
        pa.array(())
    finally:
        sys.meta_path.remove(_NoPandas)
