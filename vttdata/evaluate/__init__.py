"""Score predictions on exactly the items of a benchmark: ``vttdata.evaluate(dataset, predictions)``.

The package can be called itself, which is `vttdata.evaluate.evaluation.evaluate`, and has it as `evaluate`.
"""

from __future__ import annotations

import inspect
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vttdata.evaluate.evaluation import evaluate as evaluate

__all__ = ["evaluate"]


class _CallableModule(ModuleType):
    """Module with the name of the public function `vttdata.evaluate`."""

    @property
    def __signature__(self) -> inspect.Signature:
        """Signature of the function, which shells show."""
        return inspect.signature(__getattr__("evaluate"))

    def __call__(self, *args: Any, **options: Any) -> Any:
        return __getattr__("evaluate")(*args, **options)


def __getattr__(name: str) -> Any:
    """Import `evaluate` on first use, since what it needs takes a second to import."""
    if name != "evaluate":
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    from vttdata.evaluate.evaluation import evaluate

    return evaluate


def __dir__() -> list[str]:
    """Return the name of the function, which `help` shows then with its signature."""
    return [*__all__]


sys.modules[__name__].__class__ = _CallableModule
