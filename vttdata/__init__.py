"""Build, audit, publish and load video-to-text benchmarks."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

from vttdata.errors import VttdataError, VttdataWarning
from vttdata.missing_modules import MissingModules
from vttdata.version import __version__

if TYPE_CHECKING:
    from vttdata.compose.build import AllowedLosses, Execution, Messages, build
    from vttdata.evaluate.evaluation import evaluate
    from vttdata.load.catalog import describe_dataset, list_datasets
    from vttdata.load.load_dataset import load_dataset
    from vttdata.load.lookup import find_dataset
    from vttdata.report.notebook import dataset_report

__all__ = [
    "AllowedLosses",
    "Execution",
    "Messages",
    "VttdataError",
    "VttdataWarning",
    "__version__",
    "build",
    "dataset_report",
    "describe_dataset",
    "evaluate",
    "find_dataset",
    "list_datasets",
    "load_dataset",
]

_MODULES = {
    "AllowedLosses": "vttdata.compose.build",
    "Execution": "vttdata.compose.build",
    "Messages": "vttdata.compose.build",
    "build": "vttdata.compose.build",
    "dataset_report": "vttdata.report.notebook",
    "describe_dataset": "vttdata.load.catalog",
    "evaluate": "vttdata.evaluate.evaluation",
    "find_dataset": "vttdata.load.lookup",
    "list_datasets": "vttdata.load.catalog",
    "load_dataset": "vttdata.load.load_dataset",
}

sys.meta_path.append(MissingModules)


def __getattr__(name: str) -> Any:
    """Import a public function on first use, since `datasets` takes a second to import."""
    if name not in _MODULES:
        raise AttributeError(f"module 'vttdata' has no attribute '{name}'")
    return getattr(importlib.import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    """Return the public names, also those that are not imported yet."""
    return [*__all__]
