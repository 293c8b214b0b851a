"""Read YAML as plain values: no objects, no aliases, no duplicate keys, and limits on size and depth; and write it.

The content may come from anyone. Keys and values are checked against a type only where the caller has one. Texts that
are written read back the same, whatever characters they contain.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import yaml

from vttdata.errors import DescribeOSErrors, VttdataError
from vttdata.files.reading import read_regular
from vttdata.json_types import JsonObject
from vttdata.validation import describe_problem

if TYPE_CHECKING:
    import pydantic

Shape = TypeVar("Shape")

_MAX_BYTES = 4 * 2**20
# Mappings, lists and values; the packaged lexicon has 15,000. A million take ten seconds.
_MAX_NODES = 200_000
# Builders of nested values are recursive, and the C loader ends the process where Python would raise an error.
_MAX_DEPTH = 100
_MAX_SHOWN = 80

# PyYAML folds lines at these characters in plain and single-quoted texts, and reads them back as other ones.
_LINE_BREAKS = re.compile("[\x85\u2028\u2029]")


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc] # the fast one, where it was built
    """YAML without objects and duplicate keys; a date is a text."""

    yaml_implicit_resolvers = {  # noqa: RUF012 - PyYAML's own attribute
        first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


def _construct_mapping(loader: Any, node: yaml.MappingNode) -> JsonObject:
    content: JsonObject = {}
    for key_node, value_node in node.value:
        key = loader.construct_object(key_node, deep=True)
        shown = ascii(key)[:_MAX_SHOWN]
        if not isinstance(key, str):
            problem = f"the key {shown} is not a text; put it in quotes"
            raise yaml.constructor.ConstructorError(None, None, problem, key_node.start_mark)
        if key in content:
            raise yaml.constructor.ConstructorError(None, None, f"the key {shown} is duplicated", key_node.start_mark)
        content[key] = loader.construct_object(value_node, deep=True)
    return content


_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _construct_mapping)


def parse_yaml(text: str, location: str) -> Any:
    """Return the plain value of a YAML text; errors begin with `location`, a file name or key.

    Raises:
        VttdataError: when it is not valid, is nested too deeply, has too many values, has aliases or duplicate keys, or
            contains anything but mappings, lists, texts, finite numbers, booleans and nulls; names the line if there
            are several.
    """
    try:
        depth = nodes = 0
        for event in yaml.parse(text, Loader=_Loader):
            if isinstance(event, yaml.AliasEvent):
                raise VttdataError(f"{location}: YAML aliases (*name) are not allowed; write the value out.")
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            nodes += isinstance(event, yaml.NodeEvent)
            if nodes > _MAX_NODES:
                raise VttdataError(f"{location}: has more than {_MAX_NODES} values, the limit for YAML.")
            if depth > _MAX_DEPTH:
                line = _line(event.start_mark, text)
                raise VttdataError(f"{location}: {line}not valid YAML (nested more than {_MAX_DEPTH} levels deep).")
        value = yaml.load(text, Loader=_Loader)  # noqa: S506 - a SafeLoader
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    except yaml.MarkedYAMLError as error:
        line = _line(error.problem_mark, text)
        raise VttdataError(f"{location}: {line}not valid YAML ({error.problem or error.context}).") from error
    except yaml.YAMLError as error:
        raise VttdataError(f"{location}: not valid YAML ({' '.join(str(error).split())[:_MAX_SHOWN]}).") from error
    except (TypeError, ValueError) as error:
        raise VttdataError(
            f"{location}: contains a value that is not a text, number, list or mapping ({error})."
        ) from error
    return value


def _line(mark: Any, text: str) -> str:
    """Return the line of a place for a message, such as ``line 4: ``; empty where there is one line only."""
    return f"line {mark.line + 1}: " if mark is not None and "\n" in text else ""


def read_yaml(file: Path) -> JsonObject:
    """Return the mapping in a YAML file.

    Raises:
        VttdataError: as `parse_yaml`, or when the file cannot be read, is too large, or holds no mapping.
    """
    value, _ = _read(file)
    if not isinstance(value, dict):
        raise VttdataError(f"{file}: a mapping of keys is expected, found {type(value).__name__}.")
    return value


def read_yaml_as(file: Path, shape: pydantic.TypeAdapter[Shape]) -> tuple[Shape, bytes]:
    """Return the content of a YAML file, checked against a type, and the file's bytes.

    Raises:
        VttdataError: as `parse_yaml`, or when the file cannot be read, is too large, or does not have the type; names
            the key.
    """
    import pydantic

    value, data = _read(file)
    try:
        return shape.validate_json(json.dumps(value)), data
    except pydantic.ValidationError as error:
        detail = error.errors(include_url=False)[0]
        key = ": ".join(ascii(part)[:_MAX_SHOWN].strip("'") for part in detail["loc"] if part != "[key]")
        raise VttdataError(f"{file}: {key or 'the file'}: {describe_problem(detail)}.") from error


def _read(file: Path) -> tuple[Any, bytes]:
    with DescribeOSErrors(f"{file}: cannot be read"):
        data = read_regular(file, _MAX_BYTES + 1)
        if len(data) > _MAX_BYTES:
            raise VttdataError(f"{file}: larger than {_MAX_BYTES} bytes.")
    try:
        return parse_yaml(data.decode("utf-8-sig"), str(file)), data
    except UnicodeDecodeError as error:
        raise VttdataError(f"{file}: not UTF-8 text ({error.reason} at byte {error.start}).") from error


class TextDumper(yaml.SafeDumper):
    """YAML dumper for plain values."""


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"' if _LINE_BREAKS.search(text) else None)


TextDumper.add_representer(str, _represent_text)


def format_yaml(value: Any, *, width: float, is_flow: bool = False) -> str:
    """Return a plain value as YAML; the order of keys is kept, and long texts are folded at the column `width`.

    With `is_flow` lists and mappings stand in brackets and braces.
    """
    text: str = yaml.dump(
        value, Dumper=TextDumper, sort_keys=False, allow_unicode=True, width=width, default_flow_style=is_flow
    )
    return text
