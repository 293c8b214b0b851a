"""Rule of version numbers: MAJOR if rows changed, moved or were removed, MINOR if some were added, else PATCH.

Croissant 1.1 has the same rule. `vttdata.publish.diff` finds the differences.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Literal

from vttdata.errors import VttdataError

VersionChange = Literal["none", "minor", "major"]
Numbers = tuple[int, int, int]

_VERSION = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+")
_REASONS = {
    "none": "files differ, though no row does",
    "minor": "rows, columns or labels were added",
    "major": "rows changed, moved or were removed",
}


def is_version(text: object) -> bool:
    """Return whether something is a version: MAJOR.MINOR.PATCH."""
    return isinstance(text, str) and _VERSION.fullmatch(text) is not None


def next_version(version: str, change: VersionChange) -> str:
    """Return the lowest version after `version` for a change of rows; `version` itself for none.

    Raises:
        VttdataError: If `version` is not MAJOR.MINOR.PATCH.
    """
    if not is_version(version):
        raise VttdataError(f"'{version}' is not a version; use MAJOR.MINOR.PATCH, such as 1.0.0.")
    return version if change == "none" else ".".join(map(str, _lowest_after(version, change)))


def check_version(
    repo_id: str, version: str, published: str | None, change: VersionChange, tags: Collection[str]
) -> None:
    """Check that a version, MAJOR.MINOR.PATCH, is high enough after a change of the rows, and not in use.

    `published` is the version that was published last, None if there is none; tags of a repository are ``v1.0.0``.

    Raises:
        VttdataError: If it is too low or in use; the message names the version to set.
    """
    lowest = _lowest_after(published or "0.0.0", change)
    if published is not None and _numbers(version) < lowest:
        raise VttdataError(
            f"'{repo_id}' has version {published}, and {version} is not high enough after it, since "
            f"{_REASONS[change]}; {build_again('version', _first_unused(lowest, tags))}."
        )
    if f"v{version}" in tags:
        unused = _first_unused(max(lowest, _lowest_after(version, "none")), tags)
        raise VttdataError(
            f"'{repo_id}' has another version {version} already, under the tag v{version}; "
            f"{build_again('version', unused)}."
        )


def build_again(key: str, value: str) -> str:
    """Return the advice to build a dataset with another value in its recipe."""
    return f"build again with '--set {key}={value}', or with '{key}: {value}' in the recipe"


def _lowest_after(version: str, change: VersionChange) -> Numbers:
    major, minor, patch = _numbers(version)
    return {"none": (major, minor, patch + 1), "minor": (major, minor + 1, 0), "major": (major + 1, 0, 0)}[change]


def _first_unused(lowest: Numbers, tags: Collection[str]) -> str:
    major, minor, patch = lowest
    while f"v{major}.{minor}.{patch}" in tags:
        patch += 1
    return f"{major}.{minor}.{patch}"


def _numbers(version: str) -> Numbers:
    major, minor, patch = map(int, version.split("."))
    return major, minor, patch
