"""Recipes in published datasets: written out to build the same on any machine, and loaded although they are anybody's.

A recipe is written with every default filled in and without secrets. Paths are replaced by requests: users of the file
name their own with ``--set``. A recipe that is loaded names packaged things only: what is opened, imported, run or
contacted is for the user to name. The allowlist is `ALLOWED`; a key that is not in it, of this package or of a plugin,
is refused.
"""

from __future__ import annotations

import copy
import os
import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

from vttdata.errors import VttdataError
from vttdata.files.addresses import without_secrets
from vttdata.files.strict_yaml import format_yaml
from vttdata.recipe import packaged
from vttdata.recipe.load import BaseRecipe, Loaded, check_recipe, given_paths, names_path

_MAX_SHOWN = 80
_ANY = re.compile(r".*", re.DOTALL)
_TRAINED_HERE = re.compile(r"ngram(-[1-9])?")

ALLOWED: Mapping[str, re.Pattern[str]] = {
    # Texts for the card, and names of columns, categories, splits and languages.
    **dict.fromkeys(("name", "version", "licence", "licence.*", "language", "description", "citation", "date"), _ANY),
    **dict.fromkeys(("allow_leaks", "paper.*.why", "columns.*", "collect.columns.*", "captions.columns.*"), _ANY),
    **dict.fromkeys(("captions.language", "collect.search.queries.*.*"), _ANY),
    **dict.fromkeys(("responsible.limitations", "responsible.biases", "responsible.sensitive", "split.after"), _ANY),
    **dict.fromkeys(("responsible.uses", "responsible.social_impact", "responsible.derived_from.*"), _ANY),
    # Choices among words that the recipe's type lists.
    **dict.fromkeys(
        ("format", "foils.selection", "degrade.variant", "publish.media", "near_duplicates", "collect.category"), _ANY
    ),
    **dict.fromkeys(("filter.score_only.*", "media.keep", "media.codec", "captions.below"), _ANY),
    **dict.fromkeys(("split.together.*", "split.cut_ties.*", "split.method", "split.stratify"), _ANY),
    # Packaged things.
    "builder": _ANY,  # `load_foreign_recipe` has checked it
    "scorer": _TRAINED_HERE,
    "judges.*": _TRAINED_HERE,
    "device": re.compile(r"cpu|(cuda|mps)(:\d{1,3})?"),
    "verdicts_of": re.compile(r"[\w-]{1,80}", re.ASCII),
    "threshold": re.compile(r"\d{1,4}/\d{1,4}", re.ASCII),
}
"""Dotted keys of text that a foreign recipe may have, and their values; * is any name or index."""

# Section that contacts a host, and the key that names it, which the user gives even if it is the packaged one.
_SEARCH, _ENGINE = "collect.search", "collect.search.engine"

# Beginning of the request in the place of a path.
WANTED = "give it with --set "
_CARD_TEXTS = ("description", "citation")


def recipe_text(recipe: BaseRecipe) -> str:
    """Return a recipe as YAML that `load_recipe` accepts once the paths are given; the same on every machine."""
    settings = recipe.public()
    requests = {}
    for key, kind, holder, name in given_paths(settings, recipe.paths):
        requests[key] = holder[name] = wanted_path(key, kind)
    _hide_paths(settings, "", requests)
    settings["builder"] = PurePath(settings["builder"]).name
    given = "".join(f" {text.removeprefix('give it with ')}" for text in requests.values())
    head = (
        f"# {recipe.name} {recipe.version} with every setting written out, to be built again:\n"
        f"# vttdata build recipe.yaml{given}\n"
    )
    return head + format_yaml(settings, width=100)


def _hide_paths(value: Any, section: str, requests: dict[str, str]) -> None:
    """Replace any other text that is a path of this machine, or an address with a secret in it, by a request."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in list(items):
        key = f"{section}.{name}" if section else str(name)
        is_path = isinstance(inner, str) and os.path.isabs(inner) and os.path.exists(inner)
        # Texts for the card are the author's, and hold addresses of papers.
        if is_path or (isinstance(inner, str) and not key.startswith(_CARD_TEXTS) and inner != without_secrets(inner)):
            requests[key] = value[name] = wanted_path(key)
        else:
            _hide_paths(inner, key, requests)


def wanted_path(key: str, kind: str = "path") -> str:
    """Return the text that replaces a path of this machine in a dumped recipe."""
    return f"{WANTED}{key}={kind.upper()}"


def wanted_paths(raw: Mapping[str, object]) -> list[str]:
    """Return the arguments of ``--set`` without which a recipe cannot be loaded, such as ``annotations=FOLDER``."""
    return [text.removeprefix(WANTED) for _, text in nested_texts(raw) if text.startswith(WANTED)]


def nested_texts(value: object, key: str = "") -> Iterator[tuple[str, str]]:
    """Yield every text in nested values with its dotted key."""
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, Mapping | list):
        for name, inner in value.items() if isinstance(value, Mapping) else enumerate(value):
            # A dot in a name must not look like a section.
            step = str(name).replace(".", "_")
            yield from nested_texts(inner, f"{key}.{step}" if key else step)


def load_foreign_recipe(raw: dict[str, object], file: Path, overrides: Sequence[str]) -> Loaded:
    """Load a recipe from an untrusted source: what is not packaged is taken from `overrides` only.

    Raises:
        VttdataError: when it names a builder file, or anything else to be opened, run or contacted that `overrides` do
            not give; the message begins with `file`.
    """
    raw = copy.deepcopy(raw)
    builder = raw.get("builder")
    if not isinstance(builder, str) or builder not in packaged.builders():
        raise VttdataError(
            f"{file}: was built by {ascii(builder)[:_MAX_SHOWN]}, which is not packaged and so is not run; "
            "build the recipe beside that builder yourself, and compare with vttdata diff."
        )
    given = {text.partition("=")[0] for text in overrides}
    missing = [text for text in wanted_paths(raw) if not _covers(given, text.partition("=")[0])]
    if missing:
        wanted = " ".join(f"--set {text}" for text in missing)
        raise VttdataError(f"{file}: needs what the dataset was made from: {wanted}.")

    def check(settings: Mapping[str, object], model: type[BaseRecipe]) -> None:
        check_settings(settings, model, given, file)

    return check_recipe(raw, file, overrides, check=check)


def settings_to_give(raw: Mapping[str, object]) -> list[str]:
    """Return the arguments of ``--set`` without which a foreign recipe is refused, such as ``annotations=FOLDER``."""
    texts = nested_texts(raw)
    # In a dumped recipe a request stands where a path was.
    refused = [f"{key}=VALUE" for key, text in texts if not text.startswith(WANTED) and not is_allowed(key, text)]
    return [*wanted_paths(raw), *([f"{_ENGINE}=ytsearch"] if _searches(raw) else []), *refused]


def check_settings(settings: Mapping[str, object], model: type[BaseRecipe], given: Collection[str], file: Path) -> None:
    """Raise VttdataError at the first text that is neither allowed nor given by the user."""
    if _searches(settings) and not _covers(given, _ENGINE):
        raise VttdataError(f"{file}: {_SEARCH}: contacts a site; name it with --set {_ENGINE}=ytsearch, if that is it.")
    for key, text in nested_texts(settings):
        if _covers(given, key) or is_allowed(key, text):
            continue
        if names_path(key, model.paths):
            raise VttdataError(
                f"{file}: {key}: names a path of another machine; say where it is with --set {key}=PATH."
            )
        shown = ascii(text)[:_MAX_SHOWN]
        raise VttdataError(
            f"{file}: {key}: is set to {shown}, which is not packaged; what is opened, run or contacted is for you to "
            f"decide: take it out, or give it with --set {shlex.quote(key)}=VALUE."
        )


def _searches(settings: Mapping[str, object]) -> bool:
    collect = settings.get("collect")
    return isinstance(collect, Mapping) and collect.get("search") is not None


def is_allowed(key: str, text: str) -> bool:
    """Return True if a foreign recipe may have a text under a dotted key.

    Fields say where values lie in the rows of annotations, and which of the files in their folder have them.
    """
    return key.startswith("fields.") or any(
        names_path(key, [pattern]) and values.fullmatch(text) for pattern, values in ALLOWED.items()
    )


def _covers(given: Iterable[str], key: str) -> bool:
    """Return True if one of these dotted keys is `key` or a section of it."""
    return any(key == name or key.startswith(f"{name}.") for name in given)
