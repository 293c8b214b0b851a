"""Turn a recipe (YAML) into typed, checked settings.

The sections of a recipe are settings classes of the packages that use them; a builder puts them together in its
`Recipe` class. An error is one sentence that names the file, the key, the value found and what is allowed.
"""

from __future__ import annotations

import copy
import dataclasses
import inspect
import json
import math
import os
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, get_args, get_type_hints

import pydantic

from vttdata.errors import VttdataError, list_choices
from vttdata.files.remote import is_remote
from vttdata.files.strict_yaml import format_yaml, parse_yaml, read_yaml
from vttdata.ids import digest, is_dataset_name
from vttdata.json_types import JsonObject
from vttdata.plugins import load_module
from vttdata.recipe import packaged
from vttdata.recipe.packaged import RecipeFile
from vttdata.settings import Count, Ratio, ResponsibleUse, check_date, check_licence
from vttdata.validation import LISTS, MISSING, NESTED, UNKNOWN_KEY, describe_problem

_MAX_SHOWN = 80

# An input is a table of captions, or a dataset by folder or name.
PathKind = Literal["file", "folder", "input"]

# Dotted keys that name a file or folder; * is any key of its section.
Paths = Mapping[str, PathKind]


class BaseRecipe(pydantic.BaseModel):
    """Settings that every recipe has, whatever its builder.

    Fields:
        name: ``owner/name``, by which `load_dataset` finds the result.
        builder: name of a builder, or path of a builder file relative to the recipe.
        version: of the dataset, MAJOR.MINOR.PATCH.
        seed: only source of randomness.
        licence: identifier such as ``cc-by-4.0``, or one for each of ``annotations``, ``captions`` and ``videos``.
        language: of the captions, ISO 639-1; None where the builder finds out.
        description: for the card.
        citation: BibTeX entries of the papers behind the dataset.
        date: day on which this version is published, YYYY-MM-DD.
        allow_leaks: reason to package a dataset although an audit finds leaks between its splits; the card quotes it.
        max_failed: highest share of items that may fail in any stage before the build ends with exit code 1.
        responsible: what its makers say of the dataset, see `vttdata.settings.ResponsibleUse`.
        corrections: folder of an earlier dataset of this name, whose errata and withdrawals this one keeps; by default
            that of the dataset which the build replaces.
    """

    model_config = pydantic.ConfigDict(extra="forbid", strict=True, frozen=True)

    # Keys that name a file or folder, relative to the recipe's folder (to the working folder in --set).
    paths: ClassVar[Paths] = {"corrections": "folder"}
    # Section -> keys in it that exclude each other; giving one in --set takes the others out.
    one_of: ClassVar[dict[str, frozenset[str]]] = {}
    # Keys whose values are never written to a file.
    secrets: ClassVar[frozenset[str]] = frozenset()

    name: str = pydantic.Field(description="owner/name, such as me/street")
    builder: str
    version: str = pydantic.Field("1.0.0", pattern=r"^[0-9]+\.[0-9]+\.[0-9]+$", description="a text such as 1.0.0")
    seed: Count = 0
    licence: str | dict[str, str] = "unknown"
    language: str | None = None
    description: str = ""
    citation: str = ""
    date: str | None = pydantic.Field(None, description="a day such as 2026-11-21")
    allow_leaks: str | None = pydantic.Field(None, description="the reason, as a text")
    max_failed: Ratio = 0.2
    responsible: ResponsibleUse = ResponsibleUse()
    corrections: str | None = None

    @classmethod
    def __pydantic_init_subclass__(cls, **_: object) -> None:
        """Add the paths that every recipe may name."""
        cls.paths = {**BaseRecipe.paths, **cls.paths}

    @pydantic.field_validator("name")
    @classmethod
    def _check_name(cls, name: str) -> str:
        if not is_dataset_name(name):
            raise ValueError(f"found '{name}'; it should be owner/name, such as me/street")
        return name

    @pydantic.field_validator("licence", mode="before")
    @classmethod
    def _check_licence(cls, licence: Any) -> Any:
        texts = list(licence.values()) if isinstance(licence, dict) else [licence]
        if not all(isinstance(text, str) for text in texts):
            raise ValueError("it should be a text such as cc-by-4.0, or one for each part of the dataset")
        check_licence(licence)
        return licence

    @pydantic.field_validator("date")
    @classmethod
    def _check_date(cls, date: str | None) -> str | None:
        check_date(date)
        return date

    @pydantic.field_validator("citation")
    @classmethod
    def _check_citation(cls, citation: str) -> str:
        if citation.strip() and (not citation.strip().startswith("@") or "```" in citation):
            raise ValueError("it should be BibTeX entries, the first of which begins with @")
        return citation

    @pydantic.field_validator("allow_leaks")
    @classmethod
    def _check_reason(cls, reason: str | None) -> str | None:
        if reason is not None and not reason.strip():
            raise ValueError("found an empty text; it should be the reason why leaks are acceptable")
        return reason

    @classmethod
    def check_libraries(cls) -> None:
        """Check that what the builder needs beyond the extra `build` is installed, as a recipe is loaded.

        Raises:
            VttdataError: when a library is missing; the message names the extra that installs it.
        """

    def public(self) -> JsonObject:
        """Return all settings as plain values, without secrets."""
        settings = self.model_dump(mode="json")
        for key in self.secrets:
            section, _, name = key.rpartition(".")
            settings[section][name] = None
        return settings


@dataclasses.dataclass(frozen=True, slots=True)
class Loaded:
    """Checked recipe.

    Fields:
        sha256: of the settings as they were written, and the overrides.
        recipe_file: name of the recipe's file; it differs from that of `file` where a build goes on.
        addresses: dotted key -> address in remote storage of the file or folder that it names a copy of.
    """

    recipe: BaseRecipe
    builder: types.ModuleType
    file: Path
    sha256: str
    recipe_file: str
    addresses: Mapping[str, str] = dataclasses.field(default_factory=dict)


def load_recipe(
    reference: str | RecipeFile, overrides: Sequence[str] = (), *, fetch: Callable[[str], Path] | None = None
) -> Loaded:
    """Read and check a recipe.

    Args:
        reference: recipe, its path, or the name of a packaged one or of one in the user's folder of plugins.
        overrides: ``key=value`` with dotted keys; values are YAML. Those of paths are taken as they are, but for
            ``null``, which unsets the key.
        fetch: copies a file or folder from an address in remote storage and returns its path; without it, addresses
            are refused.

    Raises:
        VttdataError: when the recipe or its builder cannot be used; names file, key, value found and what is allowed.
    """
    file = (packaged.recipe_file(reference) if isinstance(reference, str) else reference).file
    return check_recipe(read_yaml(file), file, overrides, fetch=fetch)


def check_recipe(
    raw: JsonObject,
    file: Path,
    overrides: Sequence[str] = (),
    *,
    recipe_file: str | None = None,
    check: Callable[[JsonObject, type[BaseRecipe]], None] | None = None,
    fetch: Callable[[str], Path] | None = None,
) -> Loaded:
    """Check the settings of a recipe, and find its builder; `overrides` and `fetch` are as for `load_recipe`.

    `raw` are settings as plain values, into which overrides are put. They were read from `file`, which may be a name
    for errors; relative paths start in its folder. `recipe_file` is the name of the recipe's file, if it is another.
    `check` is called with the settings, overrides included, and their model, before any path in them is looked at.

    Raises:
        VttdataError: as `load_recipe`.
    """
    sha256 = digest([raw, list(overrides)])
    builder = _load_builder(file, raw)
    model: type[BaseRecipe] = builder.Recipe
    model.check_libraries()
    if check is not None:
        with_overrides = copy.deepcopy(raw)
        _override(with_overrides, overrides, model)
        check(with_overrides, model)
    resolve_paths(raw, model.paths, file.parent)
    _override(raw, overrides, model)
    addresses = fetch_paths(raw, model.paths, fetch) if fetch is not None else {}
    recipe, faults = _validate(raw, model, overrides)
    if recipe is None or faults:
        raise VttdataError(_join_faults(faults, file, overrides))
    return Loaded(recipe, builder, file, sha256, recipe_file or file.name, addresses)


def _validate(
    raw: JsonObject, model: type[BaseRecipe], overrides: Sequence[str]
) -> tuple[BaseRecipe | None, dict[str, str]]:
    """Return the recipe of settings, None where they have no valid form, and dotted key -> what is wrong with it."""
    faults = {}
    for key, problem in missing_paths(raw, model.paths):
        hint = "" if _is_set(key, overrides) else f"; give another one with --set {key}=PATH"
        faults[key] = f"{key}: {problem}{hint}."
    try:
        return model.model_validate_json(json.dumps(raw)), faults
    except pydantic.ValidationError as error:
        for details in error.errors(include_url=False):
            # Each form that a value may have has an error of its own.
            faults.setdefault(_written_key(raw, details), _describe(details, model))
        return None, faults


def setting_keys(reference: str) -> list[str]:
    """Return the dotted keys that ``--set`` takes for a recipe, by its path or the name of a packaged one.

    Raises:
        VttdataError: when the recipe or its builder cannot be used.
    """
    file = packaged.recipe_file(reference).file
    model = _load_builder(file, read_yaml(file)).Recipe
    keys: list[str] = []
    sections: list[list[str]] = [[]]
    while sections:
        section = sections.pop()
        for name in _keys_of_section(model, section):
            path = [*section, name]
            if _keys_of_section(model, path):
                sections.append(path)
            elif name != "builder":
                keys.append(".".join(path))
    return sorted(keys)


def _load_builder(file: Path, raw: JsonObject) -> types.ModuleType:
    name = raw.get("builder", "")
    if not isinstance(name, str):
        raise VttdataError(
            f"{file}: builder: found {json.dumps(name)[:_MAX_SHOWN]}; it should be a name or a .py file."
        )
    known = packaged.builders()
    path = known.get(name, file.parent / os.path.expanduser(name))
    if path.suffix != ".py" or not path.is_file():
        allowed = list_choices(name, sorted(known))
        raise VttdataError(f"{file}: builder: found '{name}'; allowed are {allowed} or an existing .py file.")
    builder = load_module(path, "builder")
    model = getattr(builder, "Recipe", None)
    if not (isinstance(model, type) and issubclass(model, BaseRecipe) and callable(getattr(builder, "build", None))):
        raise VttdataError(f"{path}: a builder must have a class Recipe(BaseRecipe) and a function build(recipe, run).")
    try:
        # A class with an unknown name in its annotations is only found out when it is first used.
        model.model_rebuild()
    except (pydantic.errors.PydanticUserError, NameError, TypeError) as error:
        line = inspect.getsourcelines(model)[1]
        message = " ".join(str(error).split("\n\n")[0].split())
        raise VttdataError(f"{path}:{line}: class Recipe has a field that cannot be checked ({message}).") from error
    return builder


def _override(raw: JsonObject, overrides: Sequence[str], model: type[BaseRecipe]) -> None:
    for text in overrides:
        key, equals, value = text.partition("=")
        if not equals or not all(key.split(".")):
            raise VttdataError(f"--set {text}: KEY=VALUE is expected, such as clips.max_seconds=20.")
        if key == "builder":
            raise VttdataError("--set builder: a recipe is made for its builder; copy the recipe to change it.")
        holder = raw
        *sections, name = key.split(".")
        for section in sections[:-1] if _is_item(raw, key) else sections:
            inner = holder.get(section)
            holder[section] = holder = inner if isinstance(inner, dict) else {}
        is_path = names_path(key, model.paths) and value != "null"
        plain = os.path.expanduser(value) if is_path else parse_yaml(value, f"--set {key}")
        if _is_item(raw, key):
            holder[sections[-1]][int(name)] = plain
        else:
            holder[name] = plain
        rivals = model.one_of.get(".".join(sections), frozenset())
        for rival in rivals - {name} if name in rivals and plain is not None else ():
            holder.pop(rival, None)


def _is_item(raw: Any, key: str) -> bool:
    """Return True if a dotted key names an existing item of a list, such as ``judges.0``."""
    *sections, name = key.split(".")
    for section in sections:
        raw = raw.get(section) if isinstance(raw, dict) else None
    return isinstance(raw, list) and name.isdecimal() and int(name) < len(raw)


def _is_set(key: str, overrides: Sequence[str]) -> bool:
    """Return True if an override gave this key, a section of it or a key below it."""
    given = [text.partition("=")[0] for text in overrides]
    return any(key == name or key.startswith(f"{name}.") or name.startswith(f"{key}.") for name in given)


def _written_key(raw: Any, problem: Any) -> str:
    """Return the dotted key of a pydantic error without the names of types that pydantic appends."""
    steps: list[str] = []
    for step in problem["loc"]:
        is_there = (isinstance(raw, dict) and step in raw) or (isinstance(raw, list) and isinstance(step, int))
        if not is_there and problem["type"] not in MISSING:
            break
        steps.append(str(step))
        raw = raw[step] if is_there else None
    return ".".join(steps)


def _join_faults(faults: Mapping[str, str], file: Path, overrides: Sequence[str]) -> str:
    """Return faults by their keys as one message: those of the file, and those of ``--set``."""
    by_origin: dict[str, list[str]] = {}
    for key, fault in faults.items():
        by_origin.setdefault("--set" if _is_set(key, overrides) else str(file), []).append(fault)
    return " ".join(f"{origin}: {' '.join(found)}" for origin, found in by_origin.items())


def _describe(problem: Any, model: type[BaseRecipe]) -> str:
    """Return a pydantic error as a sentence that begins with its key."""
    *sections, name = map(str, problem["loc"] or [""])
    key = ".".join([*sections, name])
    if problem["type"] in UNKNOWN_KEY:
        return f"{key}: there is no such key; allowed are {list_choices(name, _keys_of_section(model, sections))}."
    if problem["input"] is None and ":" in name:
        return f"{key}: YAML wants a space after a colon, as in {{train: 0.8, test: 0.2}}."
    field = model.model_fields.get(key)
    is_explained = problem["type"] in MISSING or problem["type"].startswith("string")
    described = describe_problem(problem, field.description if field and is_explained else None)
    return f"{key}: {described}{_show_form(problem, model) if problem['type'] in NESTED else ''}."


def _show_form(problem: Any, model: type[BaseRecipe]) -> str:
    """Return how a list or mapping is written: the default of its key, or one key of a section."""
    first, *steps = map(str, problem["loc"])
    field = model.model_fields.get(first)
    value = field.get_default(call_default_factory=True) if field else None
    for step in steps:
        value = getattr(value, step, None)
    if dataclasses.is_dataclass(value):
        key = dataclasses.fields(value)[0].name
        return f", such as {'.'.join([first, *steps])}.{key}"
    if isinstance(value, Mapping | Sequence) and value and not isinstance(value, str):
        plain = list(value) if isinstance(value, tuple) else value
        return f", such as {format_yaml(plain, width=math.inf, is_flow=True).strip()}"
    return ", such as [one, two]" if problem["type"] in LISTS else ", such as {name: value}"


def _keys_of_section(model: type[BaseRecipe], sections: Sequence[str]) -> list[str]:
    """Return the keys that a recipe allows in nested sections."""
    if not sections:
        return sorted(model.model_fields)
    hint: Any = model.model_fields[sections[0]].annotation
    for name in sections[1:]:
        settings = _settings_class(hint)
        hint = get_type_hints(settings).get(name) if settings else None
    settings = _settings_class(hint)
    return sorted(field.name for field in dataclasses.fields(settings)) if settings else []


def _settings_class(hint: Any) -> Any:
    return next((option for option in (hint, *get_args(hint)) if dataclasses.is_dataclass(option)), None)


def names_path(key: str, paths: Iterable[str]) -> bool:
    """Return True if a dotted key matches one of these patterns."""
    names = key.split(".")
    return any(
        len(names) == len(pattern) and all(step in (name, "*") for name, step in zip(names, pattern, strict=True))
        for pattern in (path.split(".") for path in paths)
    )


class GivenPath(NamedTuple):
    """Path in a recipe: its dotted key, its kind, the mapping that holds it, and its key there."""

    key: str
    kind: PathKind
    holder: JsonObject
    name: str

    @property
    def value(self) -> str:
        """The path as it is written."""
        return str(self.holder[self.name])

    def replace(self, value: str) -> None:
        """Put another path in its place."""
        self.holder[self.name] = value


def given_paths(raw: JsonObject, paths: Paths) -> Iterator[GivenPath]:
    """Yield each path that is given."""
    for pattern, kind in paths.items():
        for key, holder, name in list(_texts(raw, pattern.split("."))):
            yield GivenPath(key, kind, holder, name)


def resolve_paths(raw: JsonObject, paths: Paths, base: Path) -> None:
    """Make relative paths start at `base`, and those in ``~`` in the home folder, in place."""
    for given in given_paths(raw, paths):
        if is_remote(given.value):
            continue
        path = base / os.path.expanduser(given.value)
        # An input that does not exist as a file may be the name of a dataset.
        if given.kind != "input" or path.exists():
            given.replace(str(path))


def fetch_paths(raw: JsonObject, paths: Paths, fetch: Callable[[str], Path]) -> dict[str, str]:
    """Put the paths of copies in the place of addresses of files and folders; return the addresses by dotted key."""
    addresses = {}
    for given in given_paths(raw, paths):
        if given.kind != "input" and is_remote(given.value):
            addresses[given.key] = given.value
            given.replace(str(fetch(given.value)))
    return addresses


def missing_paths(raw: JsonObject, paths: Paths) -> Iterator[tuple[str, str]]:
    """Yield the keys that name no existing file or folder, with the problem in words."""
    for given in given_paths(raw, paths):
        value = given.value
        if given.kind == "input":
            exists = Path(value).exists() or is_dataset_name(value) or is_remote(value)
        else:
            exists = Path(value).is_dir() if given.kind == "folder" else Path(value).is_file()
        if not exists or not value:
            wanted = "file or dataset" if given.kind == "input" else given.kind
            yield given.key, f"found '{value}', which is not an existing {wanted}"


def _texts(value: Any, steps: Sequence[str], key: str = "") -> Iterator[tuple[str, JsonObject, str]]:
    """Yield the texts that a pattern leads to: dotted key, the mapping that holds it, and its key there."""
    if not isinstance(value, dict):
        return
    first, *rest = steps
    for name in list(value) if first == "*" else [first]:
        if rest:
            yield from _texts(value.get(name), rest, f"{key}{name}.")
        elif isinstance(value.get(name), str):
            yield f"{key}{name}", value, name
