"""vttdata: build and load video-to-text benchmarks that can be trusted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vttdata.loading import load_dataset

__version__ = "0.1.0"

__all__ = ["__version__", "load_dataset"]


def __getattr__(name: str) -> Any:
    """Import `load_dataset` on first use, since the readers behind it take a second to import."""
    if name == "load_dataset":
        from vttdata.loading import load_dataset

        return load_dataset
    raise AttributeError(f"module 'vttdata' has no attribute '{name}'")
