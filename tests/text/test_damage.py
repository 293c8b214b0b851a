"""Damaged text is found in what other encodings make of it, and in no sound text."""

# ruff: noqa: RUF001 -- letters of other scripts are what is tested
from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from vttdata.text.damage import find_text_damage

SOUND = [
    "café",
    "Žluťoučký kůň",
    "Zażółć gęślą jaźń",
    "Øl på “Å” – “Ü”",
    "«À» «É»",
    "日本語の文",
    "привет, мир",
    "Γειά σου",
    "ไทย",
    "5 °C",
]


@pytest.mark.parametrize("text", SOUND)
def test_sound_text_is_not_damaged(text: str) -> None:
    assert find_text_damage(f"it says {text}.") is None


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1"])
@pytest.mark.parametrize(
    "text", ["café", "naïve", "a man’s dog", "two – three…", "日本語の文", "привет, мир", "Γειά σου", "ไทย"]
)
def test_text_that_was_read_in_another_encoding_is_mojibake(text: str, encoding: str) -> None:
    # Windows-1252 has no characters for five bytes, which programs keep as control characters.
    mangled = "".join(bytes([byte]).decode(encoding, "ignore") or chr(byte) for byte in text.encode())
    assert find_text_damage(f"it says {mangled}.") == "mojibake"


def test_character_that_was_lost_is_damage() -> None:
    assert find_text_damage(b"a caf\xe9".decode("utf-8", "replace")) == "replacement_character"


def test_no_caption_of_msrvtt_is_damaged(shared: Path) -> None:
    texts = []
    for name in ("train_val_annotation.zip", "test_videodatainfo.json.zip"):
        with zipfile.ZipFile(shared / "data/msrvtt" / name) as archive:
            file = next(
                name for name in archive.namelist() if name.endswith("videodatainfo.json") and "MAC" not in name
            )
            texts += [sentence["caption"] for sentence in json.loads(archive.read(file))["sentences"]]
    assert len(texts) == 200_000
    assert not [text for text in texts if find_text_damage(text) is not None]
