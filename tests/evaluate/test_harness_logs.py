"""Logs of harnesses are read: samples of lmms-eval, and logs of inspect_ai packed in any way that it packs them."""

from __future__ import annotations

import json
import struct
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from vttdata.errors import VttdataError
from vttdata.evaluate.harness_logs import is_harness_log, read_harness_log
from vttdata.evaluate.predictions import read_captions, read_foil_scores

LOGGED = [{"video_id": "v1", "caption": "a dog"}, {"video_id": "v2", "caption": "字"}]


def sample(row: dict[str, Any]) -> dict[str, Any]:
    return {"id": row.get("video_id"), "scores": {"vttdata_scorer": {"value": 1, "metadata": row}}}


def write_log(path: Path, rows: list[dict[str, Any]], compression: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", compression) as archive:
        archive.writestr("header.json", "{}")
        for number, row in enumerate(rows):
            archive.writestr(f"samples/{number}_epoch_1.json", json.dumps(sample(row)))
    return path


@pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED])
def test_log_of_inspect_ai_has_what_was_logged(tmp_path: Path, compression: int) -> None:
    path = write_log(tmp_path / "log.eval", LOGGED, compression)
    assert [row for _, row in read_harness_log(path)] == LOGGED
    assert list(read_captions(path)) == [("v1", "a dog"), ("v2", "字")]


def test_log_packed_with_zstandard_is_read(tmp_path: Path) -> None:
    """Several frames, one after the other, are one member (RFC 8878, section 3)."""
    text = json.dumps(sample(LOGGED[0])).encode()
    frames = [pa.compress(part, codec="zstd", asbytes=True) for part in (text[:9], text[9:])]
    path = write_log(tmp_path / "log.eval", [], zipfile.ZIP_STORED)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_STORED) as archive:
        archive.writestr("samples/1_epoch_1.json", b"".join(frames))
    content = path.read_bytes()
    local, central = content.rfind(b"PK\3\4"), content.rfind(b"PK\1\2")
    for method in (local + 8, central + 10):
        content = content[:method] + struct.pack("<H", 93) + content[method + 2 :]
    path.write_bytes(content)
    assert [row for _, row in read_harness_log(path)] == LOGGED[:1]


def test_log_as_json_and_samples_of_lmms_eval(tmp_path: Path) -> None:
    log = {"version": 2, "status": "success", "eval": {}, "samples": [sample(row) for row in LOGGED]}
    (tmp_path / "log.json").write_text(json.dumps(log, indent=2))
    rows = [{"doc_id": 0, "filtered_resps": ["a dog"], "CIDEr": row, "BLEU": row} for row in LOGGED]
    (tmp_path / "samples.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for name in ("log.json", "samples.jsonl"):
        assert list(read_captions(tmp_path / name)) == [("v1", "a dog"), ("v2", "字")]
    pairs = write_log(tmp_path / "pairs.eval", [{"foil_id": "f1", "preferred": "foil"}])
    assert list(read_foil_scores(pairs)) == [("f1", (0.0, 1.0))]


@pytest.mark.parametrize(
    "text", ['{"v1": "a dog"}', '[{"video_id": "v1", "caption": "a dog"}]', '{"version": "a dog"}']
)
def test_other_json_is_no_log(tmp_path: Path, text: str) -> None:
    (tmp_path / "captions.json").write_text(text)
    assert not is_harness_log(tmp_path / "captions.json")


@pytest.mark.parametrize("content", [b"", b"PK", b"no archive"])
def test_damaged_log_is_one_sentence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "log.eval"
    path.write_bytes(content)
    with pytest.raises(VttdataError, match=r"log\.eval: is no log of inspect_ai, or damaged"):
        list(read_harness_log(path))


def test_log_without_scores_says_so(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "log.eval", "w") as archive:
        archive.writestr("header.json", '{"status": "success"}')
        archive.writestr("samples/1_epoch_1.json", json.dumps({"id": "v1"}))
    with pytest.raises(VttdataError, match="has no answer that a task of 'vttdata export' logged"):
        list(read_harness_log(tmp_path / "log.eval"))
