"""vttdata: build and load video-to-text benchmarks that can be trusted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vttdata.load.catalog import describe_dataset, list_datasets
    from vttdata.load.dataset import load_dataset

__version__ = "0.1.0"

__all__ = ["__version__", "describe_dataset", "list_datasets", "load_dataset"]


def __getattr__(name: str) -> Any:
    """Import functions on first use, since the readers behind them take a second to import."""
    if name == "load_dataset":
        from vttdata.load.dataset import load_dataset

        return load_dataset
    if name in ("describe_dataset", "list_datasets"):
        from vttdata.load import catalog as listing

        return getattr(listing, name)
    raise AttributeError(f"module 'vttdata' has no attribute '{name}'")
