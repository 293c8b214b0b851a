"""Opens the files of an official release, unpacked or inside a zip archive, and checks that they have their shape.

Whatever is damaged, encrypted, oversized or not of the expected shape is refused with one sentence that names the file
and the place in it. Nothing is written and no archive is unpacked.
"""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, TypeVar

import pydantic

from vttdata.errors import VttdataError

SHAPE = pydantic.ConfigDict(strict=True, allow_inf_nan=False)
"""How an official file is checked: no conversions, finite numbers; keys that are not asked for may be there."""

Seconds = Annotated[float, pydantic.Field(gt=-1e9, lt=1e9)]
"""A time in an official file; thirty years and more are damage, and would make durations that no float can hold."""

_LARGEST = 2**28
"""Bytes of one file, unpacked. The largest file of MSR-VTT, MSVD and ActivityNet Captions has 16 MB."""
_HALF_SIGN = re.compile(r"\\u[dD][89a-fA-F]")
_SHOWN = 60

Shape = TypeVar("Shape")


@dataclass(frozen=True, slots=True)
class OfficialFile:
    """A file in a folder, or with `member` one in a zip archive."""

    path: Path
    member: str | None = None

    @property
    def name(self) -> str:
        """The file's own name, the same whether it is packed or not."""
        return PurePosixPath(self.member).name if self.member is not None else self.path.name

    def __str__(self) -> str:
        return str(self.path) if self.member is None else f"{self.path} ({_plain(self.member)})"

    def read(self) -> bytes:
        """The content.

        Raises:
            VttdataError: when it cannot be read, is damaged, encrypted or larger than `_LARGEST`.
        """
        try:
            if self.member is None:
                self._check_size(self.path.stat().st_size)
                return self.path.read_bytes()
            with zipfile.ZipFile(self.path) as archive:
                entry = archive.getinfo(self.member)
                self._check_size(entry.file_size)
                if entry.flag_bits & 1:
                    raise VttdataError(f"{self}: is encrypted; unpack it with its password.")
                return archive.read(entry)
        except OSError as error:
            raise VttdataError(f"{self}: cannot be read ({error.strerror or error}).") from error
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, KeyError, ValueError) as error:
            raise VttdataError(f"{self}: damaged or not complete ({error}); get it again.") from error

    def _check_size(self, size: int) -> None:
        if size > _LARGEST:
            raise VttdataError(f"{self}: has {size} bytes, more than the {_LARGEST} that an official file may have.")


def list_files(folder: Path, suffixes: Collection[str]) -> list[OfficialFile]:
    """The files with one of these suffixes in a folder, in its zip archives and in its subfolders, sorted by name.

    Of files of one name those in archives come first, then those in the folder itself. Hidden ones are left out.

    Raises:
        VttdataError: when the folder or an archive cannot be read.
    """
    try:
        visible = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
        inner = [path for sub in visible if sub.is_dir() for path in sorted(sub.iterdir())]
    except OSError as error:
        raise VttdataError(f"{folder}: cannot be read ({error.strerror or error}).") from error
    found = [
        member for path in visible if path.suffix.lower() == ".zip" and path.is_file() for member in _members(path)
    ]
    found += [OfficialFile(path) for path in (*visible, *inner) if path.is_file()]
    wanted = [file for file in found if PurePosixPath(file.name).suffix.lower() in suffixes]
    return sorted((file for file in wanted if not file.name.startswith(".")), key=lambda file: file.name)


def _members(archive: Path) -> Iterator[OfficialFile]:
    try:
        with zipfile.ZipFile(archive) as opened:
            for entry in opened.infolist():
                if not entry.is_dir():
                    yield OfficialFile(archive, entry.filename)
    except (OSError, zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise VttdataError(f"{archive}: damaged or not complete ({error}); get it again.") from error


def read_text(file: OfficialFile, checksums: dict[str, str]) -> str:
    """The text of a file in UTF-8, with or without a byte order mark; its SHA-256 goes into `checksums` by its name.

    Raises:
        VttdataError: when the file cannot be read or is no UTF-8.
    """
    raw = file.read()
    checksums[file.name] = hashlib.sha256(raw).hexdigest()
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise VttdataError(f"{file}: not UTF-8 text ({error.reason} at byte {error.start}).") from error


def read_json(file: OfficialFile, shape: pydantic.TypeAdapter[Shape], checksums: dict[str, str]) -> Shape:
    """The content of a JSON file in its shape; its SHA-256 goes into `checksums` by its name.

    Raises:
        VttdataError: when it is no JSON, holds a key twice or half a character, or has another shape; the sentence
            names the place, such as ``videos[17]["start time"]``.
    """
    text = read_text(file, checksums)
    try:
        value = json.loads(text, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise VttdataError(f"{file}: cut off, damaged or not JSON ({error}).") from error
    if _HALF_SIGN.search(text):
        _refuse_half_signs(file, value, ())
    try:
        return shape.validate_json(text)
    except pydantic.ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = key_path(first["loc"])
        if first["type"] == "missing":
            raise VttdataError(f"{file}: {place} is missing.") from error
        found = json.dumps(first["input"], ensure_ascii=True)
        found = found if len(found) <= _SHOWN else f"{found[:_SHOWN]}..."
        raise VttdataError(f"{file}: {place}: found {found}; {_wanted(first['msg'])}.") from error


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        doubled, _ = Counter(name for name, _ in pairs).most_common(1)[0]
        raise ValueError(f"the key {json.dumps(doubled)} stands twice in one object")
    return value


def _refuse_half_signs(file: OfficialFile, value: Any, place: tuple[str | int, ...]) -> None:
    """Lone surrogates are no text: no table and no UTF-8 file can hold them."""
    if isinstance(value, str):
        if not _is_text(value):
            raise VttdataError(f"{file}: {key_path(place)}: holds half a character ({json.dumps(value)[:_SHOWN]}).")
    elif isinstance(value, dict):
        for key, inner in value.items():
            _refuse_half_signs(file, key, (*place, key))
            _refuse_half_signs(file, inner, (*place, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            _refuse_half_signs(file, inner, (*place, index))


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def key_path(steps: tuple[str | int, ...]) -> str:
    """Where a value stands in a JSON file, as one would write it in code; the file's top when there are no steps."""
    first, *rest = steps or ("its top",)
    shown = [f"[{step}]" if isinstance(step, int) else f"[{json.dumps(step)}]" for step in rest]
    return _plain(str(first)) + "".join(shown)


def _plain(text: str) -> str:
    """Text from outside as one line of ASCII."""
    return json.dumps(text)[1:-1]


def _wanted(message: str) -> str:
    return re.sub(r"^(Input|\w+) should be", "it should be", message.removeprefix("Value error, ")).rstrip(".")
