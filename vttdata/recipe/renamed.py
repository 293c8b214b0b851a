"""Former names of builders and keys, so that recipes of published datasets and of users keep working."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from vttdata.errors import VttdataError

_OWN_VIDEO_SECTIONS = {"collect", "filter", "shots", "clips", "media", "captions", "split"}


def rename_builder(recipe: dict[str, Any], overrides: Iterable[str] = ()) -> None:
    """Give a recipe the present name of its builder, in place.

    Overrides, dotted keys that are given beside the file, can tell two builders apart.
    """
    builder = recipe.get("builder")
    if builder == "trecvid":
        recipe["builder"] = "trecvid_vtt"
    elif builder == "official" and isinstance(recipe.get("format"), str):
        recipe["builder"] = recipe.pop("format").replace("-", "_")
    elif builder == "msrvtt" and _OWN_VIDEO_SECTIONS & {*recipe, *(key.partition(".")[0] for key in overrides)}:
        recipe["builder"] = "own_videos"


def rename_key(key: str, renamed: Mapping[str, str]) -> str:
    """Return a dotted key, or ``key=value``, with the present name of the key or of a section above it.

    `renamed` is former dotted key -> present dotted key, such as ``filter.min_seconds``.
    """
    for former, present in renamed.items():
        if key.startswith(former) and key[len(former) : len(former) + 1] in ("", ".", "="):
            return present + key[len(former) :]
    return key


def rename_keys(recipe: dict[str, Any], renamed: Mapping[str, str], place: str) -> None:
    """Move values of former dotted keys to the present ones, in place.

    Raises:
        VttdataError: when a former key and its present name are both given; the message begins with `place`.
    """
    for former, present in renamed.items():
        *sections, name = former.split(".")
        source: Any = recipe
        for section in sections:
            source = source.get(section) if isinstance(source, dict) else None
        if not isinstance(source, dict) or name not in source:
            continue
        *sections, present_name = present.split(".")
        target: Any = recipe
        for section in sections:
            target = target.setdefault(section, {}) if isinstance(target, dict) else None
        if not isinstance(target, dict) or present_name in target:
            raise VttdataError(f"{place}: {former}: is called {present}, which is given too; take one of them out.")
        target[present_name] = source.pop(name)
