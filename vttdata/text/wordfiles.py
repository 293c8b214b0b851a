"""Reads the files of words (YAML) that the package ships and that users bring, and says where one is wrong.

A file of words holds texts, lists and mappings only; what they mean is for `vttdata.text.nouns.lexicon` and
`vttdata.text.nouns.grammar` to say.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pydantic
import yaml

from vttdata.errors import VttdataError

PACKAGED = Path(__file__).parent / "data"
"""The folder of packaged word files."""

SHAPE = pydantic.ConfigDict(extra="forbid", strict=True)
"""How strictly entries are read: no unknown key, and no text that is really a number or a truth value."""

_MAX_BYTES = 4 * 2**20
_SHOWN = 80


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc] # the fast one, where it was built
    """YAML without objects and without keys given twice."""


def _mapping(loader: Any, node: yaml.MappingNode) -> dict[str, Any]:
    content: dict[str, Any] = {}
    for key_node, value_node in node.value:
        key = loader.construct_object(key_node, deep=True)
        if not isinstance(key, str):
            problem = f"{str(key)[:_SHOWN]!a} is not a text; put it in quotes"
            raise yaml.constructor.ConstructorError(None, None, problem, key_node.start_mark)
        if key in content:
            problem = f"{key[:_SHOWN]!a} is given twice"
            raise yaml.constructor.ConstructorError(None, None, problem, key_node.start_mark)
        content[key] = loader.construct_object(value_node, deep=True)
    return content


_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def read_words(path: Path, shape: pydantic.TypeAdapter[Any]) -> tuple[Any, bytes]:
    """The checked content of a file of words, and its bytes.

    Raises:
        VttdataError: one sentence with the file, the line or key, and what is wrong there.
    """
    data = _read(path)
    try:
        text = data.decode("utf-8-sig")
        if "*" in text and any(isinstance(token, yaml.AliasToken) for token in yaml.scan(text, Loader=_Loader)):
            raise VttdataError(f"{path}: YAML aliases (*name) are not allowed; write the value out.")
        content = yaml.load(text, Loader=_Loader)  # noqa: S506 - a SafeLoader
        return shape.validate_json(json.dumps(content, allow_nan=False)), data
    except UnicodeDecodeError as error:
        raise VttdataError(f"{path}: not UTF-8 text ({error.reason} at byte {error.start}).") from error
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        raise VttdataError(f"{path}: {line}not valid YAML ({error.problem or error.context}).") from error
    except pydantic.ValidationError as error:
        raise VttdataError(f"{path}: {_first(error)}.") from error
    except (yaml.YAMLError, TypeError, ValueError, RecursionError) as error:
        raise VttdataError(f"{path}: not valid YAML ({' '.join(str(error).split())[:_SHOWN]}).") from error


def _read(path: Path) -> bytes:
    try:
        size = path.stat().st_size
        if size > _MAX_BYTES:
            raise VttdataError(f"{path}: larger than {_MAX_BYTES} bytes, which no file of words is.")
        return path.read_bytes()
    except OSError as error:
        raise VttdataError(f"{path}: cannot be read ({error.strerror or error}).") from error


def _first(error: pydantic.ValidationError) -> str:
    detail = error.errors(include_url=False)[0]
    place = ": ".join(ascii(part)[:_SHOWN].strip("'") for part in detail["loc"] if part != "[key]")
    found = ascii(detail["input"])[:_SHOWN]
    message = detail["msg"].removeprefix("Value error, ")
    return f"{place or 'the file'}: {message[:1].lower()}{message[1:]}, found {found}"
