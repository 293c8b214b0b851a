"""The rule of version numbers: MAJOR when rows that were there changed, moved or went, MINOR when some were added.

Croissant 1.1 has the same rule. What differs is found in `vttdata.publish.diff`.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from vttdata.errors import VttdataError
from vttdata.publish.changes import Needed

Numbers = tuple[int, int, int]

_REASONS = {
    "none": "no row differs, but files do",
    "minor": "rows, columns or labels were added",
    "major": "rows changed, moved or went",
}


def is_version(text: object) -> bool:
    """Whether something is a version: MAJOR.MINOR.PATCH."""
    return isinstance(text, str) and re.fullmatch(r"[0-9]+\.[0-9]+\.[0-9]+", text) is not None


def check_version(repo_id: str, version: str, published: str | None, needed: Needed, tags: Collection[str]) -> None:
    """Refuse a version that is not high enough, or that is the name of something else already.

    Args:
        repo_id: the repository, for the message.
        version: the new one, MAJOR.MINOR.PATCH.
        published: the one that is published last; None where there is none.
        needed: the part that has to rise with what differs.
        tags: all tags of the repository, each ``v`` and a version.

    Raises:
        VttdataError: when it is refused, with the version to set.
    """
    least = _least(published or "0.0.0", needed)
    if published is not None and _numbers(version) < least:
        raise VttdataError(
            f"'{repo_id}' has version {published}, and {version} is not high enough after it, since "
            f"{_REASONS[needed]}; {build_again('version', _free(least, tags))}."
        )
    if f"v{version}" in tags:
        free = _free(max(least, _least(version, "none")), tags)
        raise VttdataError(
            f"'{repo_id}' has another version {version} already, under the tag v{version}; "
            f"{build_again('version', free)}."
        )


def build_again(key: str, value: str) -> str:
    """How to build a dataset with another value in its recipe, be that one's own or a packaged one."""
    return f"build again with '--set {key}={value}', or with '{key}: {value}' in the recipe"


def _least(version: str, needed: Needed) -> Numbers:
    """The lowest version after `version`, where so much differs."""
    major, minor, patch = _numbers(version)
    return {"none": (major, minor, patch + 1), "minor": (major, minor + 1, 0), "major": (major + 1, 0, 0)}[needed]


def _free(least: Numbers, tags: Collection[str]) -> str:
    """The first version from `least` on that no tag names."""
    major, minor, patch = least
    while f"v{major}.{minor}.{patch}" in tags:
        patch += 1
    return f"{major}.{minor}.{patch}"


def _numbers(version: str) -> Numbers:
    major, minor, patch = map(int, version.split("."))
    return major, minor, patch
