"""Write plain values as YAML whose texts read back the same, whatever characters they contain."""

from __future__ import annotations

import re
from typing import Any

import yaml

# PyYAML folds lines at these characters in plain and single-quoted texts, and reads them back as other ones.
_LINE_BREAKS = re.compile("[\x85\u2028\u2029]")


class TextDumper(yaml.SafeDumper):
    """YAML dumper for plain values."""


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"' if _LINE_BREAKS.search(text) else None)


TextDumper.add_representer(str, _represent_text)


def format_yaml(value: Any, *, width: int) -> str:
    """Return a plain value as YAML; the order of keys is kept, and long texts are folded at the column `width`."""
    text: str = yaml.dump(value, Dumper=TextDumper, sort_keys=False, allow_unicode=True, width=width)
    return text
