"""YAML from anyone is plain values, or one sentence that says what is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pydantic
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from vttdata.errors import VttdataError
from vttdata.files.strict_yaml import parse_yaml, read_yaml, read_yaml_as

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text("ab: -'\"é"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abn7", min_size=1), inner, max_size=3),
)


@given(VALUES)
def test_plain_values_are_read_as_they_were_written(value: Any) -> None:
    assert parse_yaml(yaml.safe_dump(value), "x") == value


def test_date_is_a_text() -> None:
    assert parse_yaml("day: 2026-02-28", "x") == {"day": "2026-02-28"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb:\n  c: 2\n  c: 3\n", "x: line 4: not valid YAML (the key 'c' is duplicated)."),
        ("a: {b: 1, b: 2}", "x: not valid YAML (the key 'b' is duplicated)."),
        ("a: 1\n2: b\n", "x: line 2: not valid YAML (the key 2 is not a text; put it in quotes)."),
        ("a: &n [1]\nb: *n\n", "x: YAML aliases (*name) are not allowed; write the value out."),
        ("a: [1\nb: 2\n", "x: line 2: not valid YAML ("),
        ("a: !!python/name:os.system\n", "x: line 1: not valid YAML ("),
        ("a: .nan", "x: contains a value that is not a text, number, list or mapping"),
        ("a: !!set {b, c}", "x: contains a value that is not a text, number, list or mapping"),
        ("a: !!timestamp 2026-01-01", "x: contains a value that is not a text, number, list or mapping"),
        ("[" * 500_000, "x: not valid YAML ("),
        ("- " * 300_000, "x: not valid YAML (nested more than 100 levels deep)."),
        ("a: \x00", "x: not valid YAML ("),
        ("a: \ud800", "x: "),
    ],
)
def test_anything_else_is_one_sentence(text: str, message: str) -> None:
    with pytest.raises(VttdataError) as error:
        parse_yaml(text, "x")
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


def test_file_has_a_mapping_with_or_without_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(b"\xef\xbb\xbfa: 1\n")
    assert read_yaml(tmp_path / "a.yaml") == {"a": 1}
    (tmp_path / "a.yaml").write_text("- 1\n")
    with pytest.raises(VttdataError, match=r"a\.yaml: a mapping of keys is expected, found list"):
        read_yaml(tmp_path / "a.yaml")


def test_file_is_checked_against_a_type(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("a: 1\nb: two\n")
    assert read_yaml_as(path, pydantic.TypeAdapter(dict[str, int | str])) == ({"a": 1, "b": "two"}, path.read_bytes())
    with pytest.raises(VttdataError, match=r'a\.yaml: b: found "two"; it should be an integer\.$'):
        read_yaml_as(path, pydantic.TypeAdapter(dict[str, int]))
