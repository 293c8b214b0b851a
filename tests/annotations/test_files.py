from __future__ import annotations

import zipfile
from pathlib import Path

import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vttdata.annotations import files
from vttdata.annotations.files import OfficialFile, key_path, list_files, read_json
from vttdata.errors import VttdataError

SHAPE: pydantic.TypeAdapter[dict[str, list[int]]] = pydantic.TypeAdapter(dict[str, list[int]])


def archive(path: Path, name: str, text: str) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as opened:
        opened.writestr(name, text)
    return path


def refusal(file: OfficialFile) -> str:
    with pytest.raises(VttdataError) as refused:
        read_json(file, SHAPE, {})
    assert "\n" not in str(refused.value)
    return str(refused.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"a": [1, 2', "cut off, damaged or not JSON"),
        ("", "cut off, damaged or not JSON"),
        ('{"a": [1]} x', "cut off, damaged or not JSON"),
        ('{"a": [1], "a": [2]}', 'the key "a" is duplicated'),
        ("[" * 100_000, "cut off, damaged or not JSON"),
        ('{"a": [1, "x"]}', 'a[1]: found "x"'),
        ("[1]", "its top level: found [1]"),
        ('{"a\\ud800": []}', "contains an unpaired surrogate"),
        ('{"a\\nb": 1}', "a\\nb: found 1"),
    ],
)
def test_malformed_json_is_an_error_with_its_place(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "x.json").write_text(text)
    message = refusal(OfficialFile(tmp_path / "x.json"))
    assert "x.json" in message
    assert words in message


def test_other_encoding_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_bytes('{"é": []}'.encode("latin-1"))
    assert "not UTF-8 text" in refusal(OfficialFile(tmp_path / "x.json"))


def test_byte_order_mark_is_accepted(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_bytes(b'\xef\xbb\xbf{"a": [1]}')
    assert read_json(OfficialFile(tmp_path / "x.json"), SHAPE, {}) == {"a": [1]}


def test_oversized_file_is_an_error_before_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = archive(tmp_path / "bomb.zip", "x.json", " " * 1_000_000)
    (tmp_path / "y.json").write_text(" " * 2000)
    monkeypatch.setattr(files, "_MAX_BYTES", 1000)
    assert packed.stat().st_size < 2000
    assert "has 1000000 bytes, more than" in refusal(OfficialFile(packed, "x.json"))
    assert "has 2000 bytes, more than" in refusal(OfficialFile(tmp_path / "y.json"))


def test_archive_with_a_false_size_is_an_error(tmp_path: Path) -> None:
    packed = archive(tmp_path / "liar.zip", "x.json", " " * 70_000)
    raw = packed.read_bytes()
    packed.write_bytes(raw.replace((70_000).to_bytes(4, "little"), (10).to_bytes(4, "little")))
    assert "damaged or incomplete" in refusal(OfficialFile(packed, "x.json"))


def test_encrypted_member_is_an_error(tmp_path: Path) -> None:
    packed = archive(tmp_path / "secret.zip", "x.json", "{}")
    raw = bytearray(packed.read_bytes())
    raw[raw.index(b"PK\x01\x02") + 8] |= 1
    packed.write_bytes(raw)
    assert "is encrypted" in refusal(OfficialFile(packed, "x.json"))


@given(cut=st.integers(0, 299), flip=st.none() | st.integers(0, 299))
def test_damaged_archive_is_an_error_or_read_correctly(
    tmp_path_factory: pytest.TempPathFactory, cut: int, flip: int | None
) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    whole = archive(folder / "x.zip", "x.json", '{"a": [1, 2, 3], "b": [4, 5, 6]}').read_bytes()
    raw = bytearray(whole)
    if flip is None:
        raw = raw[: cut % len(raw)]
    else:
        raw[flip % len(raw)] ^= 0x55
    (folder / "x.zip").write_bytes(raw)
    try:
        found = [read_json(file, SHAPE, {}) for file in list_files(folder, {".json"})]
    except VttdataError as error:
        found = [str(error).partition(":")[0].partition(" (")[0]]
    assert found in ([], [{"a": [1, 2, 3], "b": [4, 5, 6]}], [str(folder / "x.zip")])


def test_members_are_found_in_any_folder_and_never_unpacked(tmp_path: Path) -> None:
    packed = archive(tmp_path / "up.zip", "../../x.json", '{"a": []}')
    (tmp_path / ".hidden.json").write_text("{}")
    (found,) = list_files(tmp_path, {".json"})
    assert (found.path, found.name) == (packed, "x.json")
    assert read_json(found, SHAPE, {}) == {"a": []}
    assert sorted(path.name for path in tmp_path.iterdir()) == [".hidden.json", "up.zip"]


def test_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(VttdataError, match="cannot be read"):
        list_files(tmp_path / "nowhere", {".json"})


def test_key_path_is_written_as_in_code() -> None:
    assert key_path(("videos", 17, "start time")) == 'videos[17]["start time"]'


def test_duplicate_key_among_many_is_found_quickly(tmp_path: Path) -> None:
    keys = [f'"{number}": []' for number in range(50_000)]
    (tmp_path / "x.json").write_text(f"{{{', '.join([*keys, keys[-1]])}}}")
    assert 'the key "49999" is duplicated' in refusal(OfficialFile(tmp_path / "x.json"))
