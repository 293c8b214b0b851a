"""Look for traces of withdrawn items in folders, by other means than the package: raw bytes, and tables as text."""

from __future__ import annotations

import io
import re
import tarfile
from collections.abc import Collection, Iterator
from pathlib import Path

import pyarrow.parquet as pq

_WORD = re.compile(rb"[A-Za-z0-9_-]+")


def find_traces(folder: Path, names: Collection[str], texts: Collection[str] = ()) -> Iterator[tuple[Path, str]]:
    """Yield each file below a folder in whose path, bytes or rows a name stands as a word, or a text as a whole."""
    words = {name.encode() for name in names if _WORD.fullmatch(name.encode())}
    others = [name.encode() for name in names if name.encode() not in words]
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        content = path.name.encode() + b"\n" + path.read_bytes() + _unpacked(path)
        found = set(texts).intersection(_texts(path))
        if path.suffix == ".parquet":
            content += "\n".join(_texts(path)).encode()
        present = words.intersection(_WORD.findall(content))
        found |= {name.decode() for name in present} | {name.decode() for name in others if name in content}
        if path.suffix not in (".parquet", ".mp4", ".jpg"):
            found |= {text for text in texts if len(text) > 20 and _stands_alone(text.encode(), content)}
        yield from ((path, each) for each in sorted(found))


def _unpacked(path: Path) -> bytes:
    """Return the names and contents of what a tar holds; of other files nothing."""
    if path.suffix != ".tar":
        return b""
    parts = []
    with tarfile.open(fileobj=io.BytesIO(path.read_bytes())) as archive:
        for member in archive:
            stream = archive.extractfile(member)
            parts += [member.name.encode(), stream.read() if stream is not None else b""]
    return b"\n".join(parts)


def _stands_alone(text: bytes, content: bytes) -> bool:
    """Return whether a text is there that is no part of a longer sentence."""
    at = content.find(text)
    while at >= 0:
        around = content[at - 2 : at] + content[at + len(text) : at + len(text) + 2]
        if not re.search(rb"\w", around):
            return True
        at = content.find(text, at + 1)
    return False


def _texts(path: Path) -> list[str]:
    if path.suffix != ".parquet":
        return []
    found: list[str] = []
    pending: list[object] = list(pq.read_table(path).to_pylist())
    while pending:
        value = pending.pop()
        if isinstance(value, str):
            found.append(value)
        elif isinstance(value, dict):
            pending += value.values()
        elif isinstance(value, list):
            pending += value
    return found
