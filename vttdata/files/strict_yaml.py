"""Reads YAML as plain values: no objects, no aliases, no key given twice. What a recipe is, is not known here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

from vttdata.errors import VttdataError

_MAX_BYTES = 2**20


class _Loader(yaml.SafeLoader):
    """YAML without objects and without keys given twice; a date is a text."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in known if tag != "tag:yaml.org,2002:timestamp"]
    for first, known in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def _mapping(loader: _Loader, node: yaml.MappingNode) -> dict[Any, Any]:
    keys = [loader.construct_object(key, deep=True) for key, _ in node.value]
    seen: set[str] = set()
    for key in keys:
        if not isinstance(key, str):
            raise yaml.constructor.ConstructorError(None, None, f"the key {key!r} is not a text", node.start_mark)
        if key in seen:
            raise yaml.constructor.ConstructorError(None, None, f"the key '{key}' is given twice", node.start_mark)
        seen.add(key)
    values = (loader.construct_object(value, deep=True) for _, value in node.value)
    return dict(zip(keys, values, strict=True))


_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def parse_yaml(text: str, place: str) -> Any:
    """The plain value that YAML says; `place` says where it stands.

    Raises:
        VttdataError: when it is not valid, has aliases or keys given twice, or holds more than plain values.
    """
    try:
        if any(isinstance(token, yaml.AliasToken) for token in yaml.scan(text)):
            raise VttdataError(f"{place}: YAML aliases (*name) are not allowed; write the value out.")
        value = yaml.load(text, Loader=_Loader)  # noqa: S506 - a SafeLoader
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    except yaml.YAMLError as error:
        raise VttdataError(f"{place}: not valid YAML ({' '.join(str(error).split())}).") from error
    except (TypeError, ValueError, RecursionError) as error:
        raise VttdataError(f"{place}: holds a value that is no text, number, list or mapping ({error}).") from error
    return value


def read_yaml(file: Path) -> dict[str, Any]:
    """The mapping in a file of YAML.

    Raises:
        VttdataError: as `parse_yaml`, or when the file cannot be read, is too large, or holds no mapping.
    """
    try:
        if file.stat().st_size > _MAX_BYTES:
            raise VttdataError(f"{file}: larger than {_MAX_BYTES} bytes, which no recipe is.")
        value = parse_yaml(file.read_text(encoding="utf-8"), str(file))
    except UnicodeDecodeError as error:
        raise VttdataError(f"{file}: not UTF-8 text ({error.reason} at byte {error.start}).") from error
    except OSError as error:
        raise VttdataError(f"{file}: cannot be read ({error.strerror or error}).") from error
    if not isinstance(value, dict):
        raise VttdataError(f"{file}: a mapping of keys is expected, found {type(value).__name__}.")
    return value
