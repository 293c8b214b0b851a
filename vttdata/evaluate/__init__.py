"""Score predictions on exactly the items of a benchmark: ``vttdata.evaluate(dataset, predictions)``.

The package can be called itself, which is `vttdata.evaluate.evaluation.evaluate`.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _CallableModule(ModuleType):
    """Module with the name of the public function `vttdata.evaluate`."""

    def __call__(self, *args: Any, **options: Any) -> Any:
        from vttdata.evaluate.evaluation import evaluate

        return evaluate(*args, **options)


sys.modules[__name__].__class__ = _CallableModule
