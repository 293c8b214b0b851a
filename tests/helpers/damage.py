"""Write a dataset with every kind of table, and damage a copy of it at random: its card, its JSON files, its tables."""

from __future__ import annotations

import base64
import hashlib
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from vttdata.dataset import Metadata, OfficialLayout, WriteHooks, write_dataset
from vttdata.dataset.leak_audit import audit_all
from vttdata.dataset.provenance import InputFile, Provenance, write_provenance
from vttdata.records import HASH_SCHEME, Caption, Clip, Concepts, Degraded, Fingerprint, Source

RECIPE = (
    "name: me/rich\nbuilder: own_videos\nversion: 1.0.0\ncollect: {folder: give it with --set collect.folder=FOLDER}\n"
)
_CARD = "README.md"
_WEIRD: tuple[Any, ...] = (
    *(None, True, -1, 0, 3, 2**70, 1.5, float("nan"), "", "x", "clips", "train", "a\0b", "\ud800", "é" * 300, "1" * 30),
    *("../../etc/passwd", "/etc/passwd", "**", "*", ".", "clips/*", [], {}, [[]], [None], {"a": 1}, {"names": []}),
    *({"names": {"x": "y"}}, {"class_label": {"names": 3}}, {"class_label": {"names": {"0": 7, "q": []}}}),
)


def write_rich_dataset(folder: Path) -> Path:
    """Write a dataset with categories, fingerprints, captions, a protocol, concepts and degraded captions."""
    splits = {"v0": "train", "v1": "train", "v2": "validation", "v3": "test"}
    clips = [
        Clip(name, f"s{n}", float(n), n + 9.5, 0, 99, n + 1, category=("music", "sport")[n % 2], split=split)
        for n, (name, split) in enumerate(splits.items())
    ]
    hashes = [base64.b64encode(np.random.default_rng(n).bytes(16 * 30)).decode() for n in range(4)]
    sources = [
        Source(
            clip.source_id, f"{clip.source_id}.mp4", "listed", "0" * 64, 9, fingerprint=Fingerprint(HASH_SCHEME, each)
        )
        for clip, each in zip(clips, hashes, strict=True)
    ]
    captions = [Caption(name, n, f"a person does thing {n} of {name}", "w1") for name in splits for n in range(3)]
    degraded = [
        Degraded(
            caption.video_id, caption.sen_id, "a person runs", caption.caption, 1, 1, "v3", 0, 1, "video-2018", "g", 0
        )
        for caption in captions
    ]
    provenance = Provenance(0, RECIPE, [InputFile("collect.folder", "a.mp4", "0" * 64, 9)])
    write_dataset(
        folder,
        clips=clips,
        captions=captions,
        sources=sources,
        metadata=Metadata("me/rich", licence="cc-by-4.0", description="Made to be damaged."),
        media=None,
        official=OfficialLayout(
            protocols={"one-k": {"train": ["v0"], "test": ["v3"]}},
            concepts=[
                Concepts("v0", ("a", "dog"), (0,), ("dog",), (1,)),
                Concepts("v3", ("cat",), (0,), ("cat",), (0,)),
            ],
            classes=("cat", "dog"),
            degraded=degraded,
        ),
        hooks=WriteHooks(audit_all, lambda path: write_provenance(path, provenance)),
    )
    return folder


def damage(dataset: Path, seed: int) -> str:
    """Change one or two files of a dataset folder at random, and return what was done.

    In half of the cases the manifest is made to agree with the changed files, as a careful forger would.
    """
    chance = random.Random(seed)
    done = []
    for _ in range(chance.choice((1, 1, 2))):
        files = sorted(path for path in dataset.rglob("*") if path.is_file())
        described = [path for path in files if path.suffix != ".parquet"]
        # The card decides what is read at all, so that it is damaged most often.
        path = chance.choice([*described, *[dataset / _CARD] * 3, *chance.sample(files, min(4, len(files)))])
        if path.is_file():
            change = chance.choice(_CHANGES.get(path.suffix, (_damage_bytes,)))
            done.append(f"{path.relative_to(dataset)}: {change(path, chance)}")
    if chance.random() < 0.5:
        done.append(seal(dataset))
    return "; ".join(done)


def seal(dataset: Path) -> str:
    """Make the manifest agree with the files, if it still is one."""
    path = dataset / "manifest.json"
    try:
        manifest = json.loads(path.read_text())
        for name in list(manifest["files"]):
            file = dataset / name
            if not file.is_file():
                del manifest["files"][name]
                continue
            content = file.read_bytes()
            manifest["files"][name] |= {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
            if file.suffix == ".parquet":
                manifest["files"][name]["rows"] = pq.read_metadata(file).num_rows
        path.write_text(json.dumps(manifest))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, pa.ArrowException):
        return "manifest not sealed"
    return "manifest sealed"


def _damage_bytes(path: Path, chance: random.Random) -> str:
    content = bytearray(path.read_bytes())
    kind = chance.choice(("flip", "flip", "cut", "empty", "insert", "gone", "folder"))
    if kind in ("gone", "folder"):
        path.unlink()
        if kind == "folder":
            path.mkdir()
        return kind
    if kind == "flip" and content:
        for _ in range(chance.choice((1, 5, 40))):
            content[chance.randrange(len(content))] = chance.randrange(256)
    elif kind == "insert":
        at = chance.randrange(len(content) + 1)
        content[at:at] = chance.choice(
            (b"\0", b"\xff\xfe", b"[" * 50_000, b"{" * 5000, b"\r\n---\r\n", b"\xef\xbb\xbf")
        )
    else:
        content = content[: chance.randrange(len(content) + 1)] if kind == "cut" else bytearray()
    path.write_bytes(content)
    return kind


def _damage_tree(value: Any, chance: random.Random) -> tuple[Any, str]:
    """Return a copy of nested lists and mappings in which one node is another one, gone, doubled or wrapped."""
    if isinstance(value, dict | list) and value and chance.random() < 0.8:
        key = chance.choice(list(value)) if isinstance(value, dict) else chance.randrange(len(value))
        changed: Any = dict(value) if isinstance(value, dict) else list(value)
        kind = chance.random()
        if kind < 0.1:
            del changed[key]
            return changed, f"without {str(key)[:40]!a}"
        if kind < 0.15 and isinstance(value, list):
            return [*changed, changed[key]], f"{key} twice"
        if kind < 0.2 and isinstance(value, dict):
            changed[chance.choice(("x", 7, None, "", "name"))] = changed.pop(key)
            return changed, f"renamed {str(key)[:40]!a}"
        changed[key], done = _damage_tree(value[key], chance)
        return changed, f"{str(key)[:40]!a} > {done}"
    weird = chance.choice((*_WEIRD, [value], {"x": value}, str(value), [value, value]))
    return weird, ascii(weird)[:60]


def _damage_json(path: Path, chance: random.Random) -> str:
    try:
        content, done = _damage_tree(json.loads(path.read_text()), chance)
    except (ValueError, RecursionError):
        return _damage_bytes(path, chance)
    path.write_text(json.dumps(content))
    return done


def _damage_card(path: Path, chance: random.Random) -> str:
    try:
        _, front, body = path.read_text().split("---\n", 2)
        content, done = _damage_tree(yaml.safe_load(front), chance)
        text = yaml.safe_dump(content, sort_keys=False)
    except (ValueError, yaml.YAMLError):
        return _damage_bytes(path, chance)
    path.write_text(f"---\n{text}---\n{body}")
    return done


def _damage_recipe(path: Path, chance: random.Random) -> str:
    try:
        content, done = _damage_tree(yaml.safe_load(path.read_text()), chance)
        path.write_text(yaml.safe_dump(content))
    except (ValueError, yaml.YAMLError):
        return _damage_bytes(path, chance)
    return done


def _damage_table(path: Path, chance: random.Random) -> str:
    try:
        table = pq.read_table(path)
    except (OSError, ValueError, pa.ArrowException):
        return _damage_bytes(path, chance)
    if not table.num_columns:
        return _damage_bytes(path, chance)
    index = chance.randrange(table.num_columns)
    name, column = table.column_names[index], table.column(index)
    kind = chance.choice(
        ("drop", "rename", "null", "text", "number", "list", "struct", "empty", "twice", "other", "odd")
    )
    rows = table.num_rows
    columns: dict[str, Callable[[], Any]] = {
        "null": lambda: pa.nulls(rows, column.type),
        "text": lambda: pa.array(
            [chance.choice(("", "x", "../x", "a\0", "\n", None)) for _ in range(rows)], pa.string()
        ),
        "number": lambda: pa.array([chance.choice((-1, 0, 10**9, None)) for _ in range(rows)], pa.int64()),
        "list": lambda: pa.array([[value] for value in column.to_pylist()]),
        "struct": lambda: pa.array([{"x": n} for n in range(rows)], pa.struct([("x", pa.int64())])),
        "other": lambda: table.column(chance.randrange(table.num_columns)),
        "odd": lambda: pa.array([chance.choice((float("nan"), float("inf"), -1e300, None)) for _ in range(rows)]),
    }
    if kind == "drop":
        table = table.drop_columns([name])
    elif kind == "rename":
        table = table.rename_columns([*table.column_names[:index], "x", *table.column_names[index + 1 :]])
    elif kind == "empty":
        table = table.slice(0, 0)
    elif kind == "twice":
        table = pa.concat_tables([table, table])
    else:
        table = table.set_column(index, name, columns[kind]())
    pq.write_table(table, path)
    return f"{name} {kind}"


_CHANGES: dict[str, tuple[Callable[[Path, random.Random], str], ...]] = {
    ".md": (_damage_card, _damage_card, _damage_card, _damage_bytes),
    ".json": (_damage_json, _damage_json, _damage_bytes),
    ".yaml": (_damage_recipe, _damage_bytes),
    ".parquet": (_damage_table, _damage_table, _damage_bytes),
}
