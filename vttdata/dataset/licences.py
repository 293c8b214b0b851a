"""Addresses of licences, which descriptions for programs name them by."""

from __future__ import annotations

import re

_CREATIVE_COMMONS = re.compile(r"cc-(by(?:-nc)?(?:-sa|-nd)?)-([1-4]\.[0-9])")
# Identifiers of the Hub -> those of SPDX (https://spdx.org/licenses), which has a page of each.
_SPDX = {
    "apache-2.0": "Apache-2.0",
    "bsd-2-clause": "BSD-2-Clause",
    "bsd-3-clause": "BSD-3-Clause",
    "cdla-permissive-2.0": "CDLA-Permissive-2.0",
    "gpl-3.0": "GPL-3.0-only",
    "mit": "MIT",
    "odbl": "ODbL-1.0",
    "odc-by": "ODC-By-1.0",
}


def find_licence_address(name: str) -> str | None:
    """Return the address of a licence by its identifier on the Hub, ``cc-by-4.0``; None of other names."""
    if match := _CREATIVE_COMMONS.fullmatch(name.lower()):
        return f"https://creativecommons.org/licenses/{match[1]}/{match[2]}/"
    if name.lower() == "cc0-1.0":
        return "https://creativecommons.org/publicdomain/zero/1.0/"
    return f"https://spdx.org/licenses/{_SPDX[name.lower()]}.html" if name.lower() in _SPDX else None
