"""Read the settings of a campaign from ``key=value``, and check them by the annotations of their classes.

Nothing but the base install is needed, so that tasks are made without the libraries that recipes need.
"""

from __future__ import annotations

import dataclasses
import math
import operator
import typing
from collections.abc import Mapping, Sequence
from types import UnionType
from typing import Any

from annotated_types import Ge, Gt, Le, Lt

from vttdata.errors import VttdataError
from vttdata.files.strict_yaml import parse_yaml
from vttdata.validation import describe_problem

# Constraint -> name of the problem, which is that of its limit too, and the comparison that must hold.
_LIMITS = {
    Ge: ("greater_than_equal", "ge", operator.ge),
    Gt: ("greater_than", "gt", operator.gt),
    Le: ("less_than_equal", "le", operator.le),
    Lt: ("less_than", "lt", operator.lt),
}
_TYPES = {bool: "bool_type", int: "int_type", float: "float_type", str: "string_type", dict: "dict_type"}


class _ProblemError(Exception):
    """Value of another type or out of its range; see `describe_problem` for the arguments."""

    def __init__(self, kind: str, value: Any, **context: Any) -> None:
        super().__init__(kind)
        self.problem = {"type": kind, "input": value, "ctx": context}


def read_settings(classes: Sequence[type], overrides: Sequence[str]) -> list[Any]:
    """Return an instance of each settings class, with values ``key=value`` of fields, which are YAML.

    A key that several classes have is that of the first.

    Raises:
        VttdataError: when no class has the key, or its value is of another type or out of its range.
    """
    owner = {field.name: each for each in reversed(classes) for field in dataclasses.fields(each)}
    values: dict[type, dict[str, Any]] = {each: {} for each in classes}
    for text in overrides:
        key, equals, value = text.partition("=")
        if not equals or key not in owner:
            raise VttdataError(f"--set {text[:80]!a}: settings are {', '.join(sorted(owner))}, as KEY=VALUE.")
        values[owner[key]][key] = parse_yaml(value, f"--set {key}")
    return [make_settings(each, values[each]) for each in classes]


def make_settings(settings: type, values: Mapping[str, Any]) -> Any:
    """Return an instance of a settings class, whose fields not in `values` have their defaults.

    Raises:
        VttdataError: when a value is of another type or out of its range, or the class refuses all of them together.
    """
    hints = typing.get_type_hints(settings, include_extras=True)
    checked = {}
    for key, value in values.items():
        try:
            checked[key] = _check(hints[key], value)
        except _ProblemError as error:
            raise VttdataError(f"--set {key}: {describe_problem(error.problem)}.") from error
    try:
        return settings(**checked)
    except ValueError as error:
        raise VttdataError(f"--set {' '.join(values) or 'the settings'}: {str(error).rstrip('.')}.") from error


def _check(hint: Any, value: Any) -> Any:
    """Return a value as its type has it: an integer is a number too."""
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        checked = _check(parts[0], value)
        for constraint in parts[1:]:
            kind, name, holds = _LIMITS[type(constraint)]
            limit = getattr(constraint, name)
            if not holds(checked, limit):
                raise _ProblemError(kind, value, **{name: limit})
        return checked
    if origin is typing.Literal:
        if value not in parts:
            raise _ProblemError("literal_error", value, expected=" or ".join(map(repr, parts)))
        return value
    if origin in (typing.Union, UnionType):
        # Of the types here, the others are alternatives to None.
        (other,) = (part for part in parts if part is not type(None))
        return None if value is None else _check(other, value)
    if origin in (dict, Mapping):
        content = _check_plain(dict, value)
        return {_check(parts[0], key): _check(parts[1], part) for key, part in content.items()}
    return _check_plain(hint, value)


def _check_plain(hint: type, value: Any) -> Any:
    if hint is float and type(value) is int:
        return float(value)
    if type(value) is not hint:
        raise _ProblemError(_TYPES[hint], value)
    if isinstance(value, float) and not math.isfinite(value):
        raise _ProblemError("finite_number", value)
    return value
