"""Every text that is written as YAML reads back the same, as a value, in a list and as a key."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from vttdata.files.strict_yaml import format_yaml, parse_yaml

# Line breaks, marks, controls and the signs of YAML, which a text of random characters seldom has side by side.
SIGNS = [
    "\x85",
    "\u2028",
    "\u2029",
    "\ufeff",
    "\r",
    "\n",
    "\r\n",
    "\t",
    " ",
    "\x00",
    "\x7f",
    "\xa0",
    "\ufffe",
    "---",
    "...",
]
SIGNS += ["'", '"', "\\", "# ", " #", ": ", ":", "- ", "? ", "|", ">", "&", "*", "!", "%", "@", "`", "[", "}", ",", "~"]
SIGNS += ["null", "yes", "0x1f", "1e3", "12:30", ".inf", "2026-11-21", "=", "<<", "word " * 30]
TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"])),
    st.lists(st.one_of(st.sampled_from(SIGNS), st.characters(exclude_categories=["Cs"])), max_size=12).map("".join),
)


@settings(max_examples=300)
@given(TEXTS, st.sampled_from([100, 10_000]))
@example("\x85", 100)
@example("a\x85b", 10_000)
@example("one\u2028two \u2029three: '\x85' \"four\"\n", 100)
@example("\ufeff", 100)
def test_text_reads_back_the_same(text: str, width: int) -> None:
    value = {"text": text, "list": [text, {"inner": text}], "map": {text: text}}
    written = format_yaml(value, width=width).encode()
    assert parse_yaml(written.decode("utf-8-sig"), "file") == value
    assert yaml.safe_load(written) == value


@pytest.mark.parametrize("value", [None, True, 0, -1.5, 1e300, [], {}, "1.0"])
def test_other_plain_values_read_back_the_same(value: object) -> None:
    assert parse_yaml(format_yaml({"key": value}, width=100), "file") == {"key": value}
