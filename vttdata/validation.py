"""Word what pydantic refuses in a file or in settings.

The words are chosen by the type of an error, and not taken from its message, which changes from release to release.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

MISSING = frozenset({"missing", "missing_argument"})
UNKNOWN_KEY = frozenset({"extra_forbidden", "unexpected_keyword_argument"})

LISTS = frozenset({"list_type", "tuple_type", "frozen_set_type"})
NESTED = LISTS | {"dict_type", "mapping_type", "model_type", "dataclass_type"}

_MAX_SHOWN = 80
_INTEGER, _NUMBER, _BOOLEAN = "an integer", "a number", "true or false"
_LIST, _MAPPING = "a list", "a mapping of keys"

# Type of an error -> what the value should be; names in braces are those of the error's context.
_WANTED = {
    "int_type": _INTEGER,
    "int_parsing": _INTEGER,
    "int_from_float": _INTEGER,
    "float_type": _NUMBER,
    "float_parsing": _NUMBER,
    "finite_number": "a finite number",
    "bool_type": _BOOLEAN,
    "bool_parsing": _BOOLEAN,
    "none_required": "null",
    "string_type": "a text",
    "string_pattern_mismatch": "a text that matches {pattern}",
    "string_too_short": "a text of {min_length} characters or more",
    "string_too_long": "a text of {max_length} characters or fewer",
    "list_type": _LIST,
    "tuple_type": _LIST,
    "frozen_set_type": _LIST,
    "too_short": "of length {min_length} or more",
    "too_long": "of length {max_length} or less",
    "dict_type": _MAPPING,
    "mapping_type": _MAPPING,
    "model_type": _MAPPING,
    "dataclass_type": _MAPPING,
    "literal_error": "{expected}",
    "greater_than": "greater than {gt}",
    "greater_than_equal": "greater than or equal to {ge}",
    "less_than": "less than {lt}",
    "less_than_equal": "less than or equal to {le}",
}


def describe_problem(problem: Mapping[str, Any], wanted: str | None = None) -> str:
    """Return an item of `pydantic.ValidationError.errors` as the second half of a sentence, without its key.

    Args:
        problem: the item, such as ``{"type": "int_type", "input": "two", ...}``.
        wanted: what the value should be, where that is known; by default it follows from the type of the error.

    Returns:
        Text such as ``found "two"; it should be an integer``. What a validator of vttdata says stands as it is, with
        the value before it where it begins with "it should"; for a type without words here pydantic's message is used.
    """
    context = problem.get("ctx", {})
    if problem["type"] == "value_error":
        message = str(context["error"]).rstrip(".")
        return f"found {_show(problem['input'])}; {message}" if message.startswith("it should ") else message
    if problem["type"] in MISSING:
        return f"is missing; it should be {wanted}" if wanted else "is missing"
    if problem["type"] in UNKNOWN_KEY:
        return "there is no such key"
    numbers = {name: int(limit) for name, limit in context.items() if isinstance(limit, float) and limit.is_integer()}
    wanted = wanted or _WANTED.get(problem["type"], "").format_map({**context, **numbers})
    message = f"it should be {wanted}" if wanted else str(problem["msg"]).rstrip(".")
    given = problem["input"]
    if problem["type"] == "less_than_equal" and context["le"] == 1 and 2 <= given <= 100:
        message += f"; {given:g} % is {given / 100:g}"
    return f"found {_show(problem['input'])}; {message}"


def _show(value: object) -> str:
    """Return a value as JSON of one printable line, cut off where it is long."""
    shown = json.dumps(value, ensure_ascii=False, default=str)
    shown = shown if shown.isprintable() else json.dumps(value, default=str)
    return shown if len(shown) <= _MAX_SHOWN else f"{shown[:_MAX_SHOWN]}..."
