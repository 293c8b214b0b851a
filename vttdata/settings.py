"""The vocabulary in which rooms declare their settings, so that a recipe can be checked against them.

A settings class is a frozen dataclass whose fields carry their ranges as annotations. It works without any checking
library; `vttdata.recipe` reads the same annotations to validate YAML.
"""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge, Gt, Le

STRICT = {"extra": "forbid", "strict": True}
"""The class attribute ``__pydantic_config__`` of every settings class: no unknown keys, no silent conversions."""

Ratio = Annotated[float, Ge(0), Le(1)]
Seconds = Annotated[float, Ge(0)]
PositiveSeconds = Annotated[float, Gt(0)]
Count = Annotated[int, Ge(0)]
PositiveCount = Annotated[int, Ge(1)]
Pixels = Annotated[int, Ge(16), Le(8192)]
