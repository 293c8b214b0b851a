"""Turns a recipe (YAML) into typed, checked settings.

An error is one sentence that names the file, the key, what was found and what is allowed.

Sections are the settings classes of the rooms; a builder puts them together in its own `Recipe` class.
"""

from __future__ import annotations

import dataclasses
import difflib
import json
import re
import types
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, get_args, get_type_hints

import pydantic
import yaml

from vttdata import packaged
from vttdata.errors import VttdataError
from vttdata.records import digest
from vttdata.settings import Count, Ratio

_MAX_BYTES = 2**20
_SHOWN = 80
_SHOULD = re.compile(r"^\w+ should")
_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,95}/[A-Za-z0-9][A-Za-z0-9._-]{0,95}$"


class BaseRecipe(pydantic.BaseModel):
    """What every recipe says, whatever its builder.

    Fields:
        name: where `load_dataset` finds the result, ``owner/name``.
        builder: a packaged builder's name, or the path of a builder file relative to the recipe.
        version: of the dataset, MAJOR.MINOR.PATCH.
        seed: the only source of randomness.
        licence, language, description: what the card says.
        max_failed: the highest share of items that may fail in any stage before the build ends with exit code 1.
    """

    model_config = pydantic.ConfigDict(extra="forbid", strict=True, frozen=True)
    paths: ClassVar[dict[str, Literal["file", "folder"]]] = {}
    """Keys that name a file or folder, relative to the recipe's folder (to the working folder in ``--set``)."""
    one_of: ClassVar[dict[str, frozenset[str]]] = {}
    """Sections, and the keys in them that exclude each other: giving one in ``--set`` takes the others out."""

    name: str = pydantic.Field(pattern=_NAME, description="owner/name, such as me/street")
    builder: str
    version: str = pydantic.Field("1.0.0", pattern=r"^\d+\.\d+\.\d+$", description="a text such as 1.0.0")
    seed: Count = 0
    licence: str = "unknown"
    language: str = "en"
    description: str = ""
    max_failed: Ratio = 0.2


@dataclasses.dataclass(frozen=True, slots=True)
class Loaded:
    """A checked recipe, the builder module it names, the file it came from, and a hash of what was written."""

    recipe: BaseRecipe
    builder: types.ModuleType
    file: Path
    sha256: str


def load_recipe(reference: str, overrides: Sequence[str] = ()) -> Loaded:
    """Read and check a recipe.

    Args:
        reference: a path, or a packaged recipe's name.
        overrides: ``key=value`` with dotted keys; values are YAML.

    Raises:
        VttdataError: one sentence with file, key, value found and what is allowed.
    """
    file = _find(reference)
    raw = _read_yaml(file)
    sha256 = digest([raw, list(overrides)])
    builder = _builder(file, raw)
    model: type[BaseRecipe] = builder.Recipe
    _resolve_paths(raw, model.paths, file.parent)
    _override(raw, overrides, model)
    _check_paths(file, raw, model.paths)
    return Loaded(_validate(file, raw, model, overrides), builder, file, sha256)


def _find(reference: str) -> Path:
    if reference in packaged.recipes():
        return packaged.recipes()[reference]
    path = Path(reference)
    if path.is_file():
        return path
    known = sorted(packaged.recipes())
    raise VttdataError(
        f"No recipe '{reference}': no such file, and the packaged ones are {_options(reference, known)}."
    )


class _Loader(yaml.SafeLoader):
    """YAML without objects and without keys given twice."""


def _mapping(loader: _Loader, node: yaml.MappingNode) -> dict[Any, Any]:
    keys = [loader.construct_object(key, deep=True) for key, _ in node.value]
    for key in keys:
        if not isinstance(key, str):
            raise yaml.constructor.ConstructorError(None, None, f"the key {key!r} is not a text", node.start_mark)
        if keys.count(key) > 1:
            raise yaml.constructor.ConstructorError(None, None, f"the key '{key}' is given twice", node.start_mark)
    values = (loader.construct_object(value, deep=True) for _, value in node.value)
    return dict(zip(keys, values, strict=True))


_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def _parse(text: str, place: str) -> Any:
    try:
        if any(isinstance(token, yaml.AliasToken) for token in yaml.scan(text)):
            raise VttdataError(f"{place}: YAML aliases (*name) are not allowed; write the value out.")
        value = yaml.load(text, Loader=_Loader)  # noqa: S506 - a SafeLoader
        json.dumps(value, allow_nan=False)
    except yaml.YAMLError as error:
        raise VttdataError(f"{place}: not valid YAML ({' '.join(str(error).split())}).") from error
    except (TypeError, ValueError, RecursionError) as error:
        raise VttdataError(f"{place}: holds a value that is no text, number, list or mapping ({error}).") from error
    return value


def _read_yaml(file: Path) -> dict[str, Any]:
    try:
        if file.stat().st_size > _MAX_BYTES:
            raise VttdataError(f"{file}: larger than {_MAX_BYTES} bytes, which no recipe is.")
        value = _parse(file.read_text(encoding="utf-8"), str(file))
    except UnicodeDecodeError as error:
        raise VttdataError(f"{file}: not UTF-8 text ({error.reason} at byte {error.start}).") from error
    except OSError as error:
        raise VttdataError(f"{file}: cannot be read ({error.strerror or error}).") from error
    if not isinstance(value, dict):
        raise VttdataError(f"{file}: a mapping of keys is expected, found {type(value).__name__}.")
    return value


def _builder(file: Path, raw: dict[str, Any]) -> types.ModuleType:
    name = str(raw.get("builder", ""))
    known = packaged.builders()
    path = known.get(name) or (file.parent / name if name.endswith(".py") else None)
    if path is None or not path.is_file():
        allowed = _options(name, sorted(known))
        raise VttdataError(f"{file}: builder: found '{name}'; allowed are {allowed} or an existing .py file.")
    return packaged.load_builder(path)


def _resolve_paths(raw: dict[str, Any], paths: dict[str, Literal["file", "folder"]], base: Path) -> None:
    for key in paths:
        section, _, name = key.rpartition(".")
        holder = raw.get(section) if section else raw
        if isinstance(holder, dict) and isinstance(holder.get(name), str):
            holder[name] = str(base / holder[name])


def _override(raw: dict[str, Any], overrides: Sequence[str], model: type[BaseRecipe]) -> None:
    for text in overrides:
        key, equals, value = text.partition("=")
        if not equals or not all(key.split(".")):
            raise VttdataError(f"--set {text}: KEY=VALUE is expected, such as clips.max_seconds=20.")
        if key == "builder":
            raise VttdataError("--set builder: a recipe is made for its builder; copy the recipe to change it.")
        holder = raw
        *sections, name = key.split(".")
        for section in sections:
            inner = holder.get(section)
            holder[section] = holder = inner if isinstance(inner, dict) else {}
        holder[name] = value if key in model.paths else _parse(value, f"--set {key}")
        rivals = model.one_of.get(".".join(sections), frozenset())
        for rival in rivals - {name} if name in rivals else ():
            holder.pop(rival, None)


def _check_paths(file: Path, raw: dict[str, Any], paths: dict[str, Literal["file", "folder"]]) -> None:
    for key, kind in paths.items():
        section, _, name = key.rpartition(".")
        holder = raw.get(section) if section else raw
        value = holder.get(name) if isinstance(holder, dict) else None
        if isinstance(value, str):
            there = Path(value).is_dir() if kind == "folder" else Path(value).is_file()
            if not there:
                raise VttdataError(f"{file}: {key}: found '{value}', which is not an existing {kind}.")


def _validate(file: Path, raw: dict[str, Any], model: type[BaseRecipe], overrides: Sequence[str]) -> BaseRecipe:
    try:
        return model.model_validate_json(json.dumps(raw))
    except pydantic.ValidationError as error:
        first, *others = error.errors(include_url=False)
        key = ".".join(str(step) for step in first["loc"])
        overridden = any(key.startswith(text.partition("=")[0]) for text in overrides)
        more = f" ({len(others)} more after this)" if others else ""
        raise VttdataError(f"{'--set' if overridden else file}: {_describe(key, first, model)}{more}") from error


def _describe(key: str, problem: Any, model: type[BaseRecipe]) -> str:
    if problem["type"] in {"extra_forbidden", "unexpected_keyword_argument"}:
        *place, name = key.split(".")
        return f"{key}: there is no such key; allowed are {_options(name, _keys_at(model, place))}."
    field = model.model_fields.get(key)
    wanted = field.description if field else None
    if problem["type"] in {"missing", "missing_argument"}:
        return f"{key}: is missing; it should be {wanted}." if wanted else f"{key}: is missing and has no default."
    if wanted and problem["type"].startswith("string"):
        return f"{key}: found {json.dumps(problem['input'])}; it should be {wanted}."
    allowed, shoulds = _SHOULD.subn("it should", problem["msg"].removeprefix("Value error, "))
    if not shoulds:
        return f"{key}: {allowed.rstrip('.')}."
    found = json.dumps(problem["input"], ensure_ascii=False)
    found = found if len(found) <= _SHOWN else f"{found[:_SHOWN]}..."
    return f"{key}: found {found}; {allowed}."


def _keys_at(model: type[Any], place: Sequence[str]) -> list[str]:
    hints = get_type_hints(model)
    if not place:
        return sorted(name for name in hints if not name.startswith("_") and name not in {"model_config", "paths"})
    hint = hints.get(place[0])
    options = [hint, *get_args(hint)]
    inner = next((option for option in options if dataclasses.is_dataclass(option)), None)
    return _keys_at(inner, place[1:]) if isinstance(inner, type) else []


def _options(found: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(found, known, n=1, cutoff=0.6)
    hint = f" (did you mean '{near[0]}'?)" if near else ""
    return ", ".join(known) + hint
