"""Open the files of an official release, unpacked or inside a zip archive, and check them against a type.

A file that is damaged, encrypted, oversized or of another shape is refused with one sentence that names the file and
the place in it. Nothing is written and no archive is unpacked.
"""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Annotated, ClassVar, TypeVar

import pydantic

from vttdata.errors import DescribeOSErrors, VttdataError
from vttdata.files.reading import ZIP_ERRORS, read_regular
from vttdata.files.tables import refuse_duplicate_keys
from vttdata.validation import MISSING, describe_problem

# Official files are checked without conversions, for finite numbers; further keys are allowed.
SHAPE = pydantic.ConfigDict(strict=True, allow_inf_nan=False)


class OfficialObject:
    """Base class of objects in official files, which are checked as `SHAPE` says."""

    __slots__ = ()
    __pydantic_config__: ClassVar[pydantic.ConfigDict] = SHAPE


# Times of thirty years and more are damage, and would make durations that no float can hold.
Seconds = Annotated[float, pydantic.Field(gt=-1e9, lt=1e9)]

# Of one unpacked file. The largest file of MSR-VTT, MSVD and ActivityNet Captions has 16 MB.
_MAX_BYTES = 2**27
# Of one JSON file, which takes about 100 bytes of memory for each. Those of MSR-VTT have 900,000.
_MAX_VALUES = 2**23
_CHUNK_BYTES = 2**20
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_MAX_SHOWN = 60

Shape = TypeVar("Shape")


@dataclass(frozen=True, slots=True)
class OfficialFile:
    """File in a folder, or with `member` in a zip archive."""

    path: Path
    member: str | None = None

    @property
    def name(self) -> str:
        """Return the name without folders, the same whether the file is packed or not."""
        return PurePosixPath(self.member).name if self.member is not None else self.path.name

    def __str__(self) -> str:
        return str(self.path) if self.member is None else f"{self.path} ({_plain(self.member)})"

    def read(self) -> bytes:
        """Return the content.

        Raises:
            VttdataError: when it cannot be read, is damaged, encrypted or larger than 128 MiB.
        """
        try:
            if self.member is None:
                self._check_size(self.path.stat().st_size)
                return read_regular(self.path, _MAX_BYTES + 1)
            with zipfile.ZipFile(self.path) as archive:
                entry = archive.getinfo(self.member)
                self._check_size(entry.file_size)
                if entry.flag_bits & 1:
                    raise VttdataError(f"{self}: is encrypted; unpack it with its password.")
                # In pieces, since a whole member is unpacked before its stated size is believed.
                with archive.open(entry) as stream:
                    return b"".join(iter(lambda: stream.read(_CHUNK_BYTES), b""))
        except ZIP_ERRORS as error:
            raise VttdataError(f"{self}: damaged or incomplete ({error}); get it again.") from error
        except OSError as error:
            raise VttdataError(f"{self}: cannot be read ({error.strerror or error}).") from error

    def _check_size(self, size: int) -> None:
        if size > _MAX_BYTES:
            raise VttdataError(f"{self}: has {size} bytes, more than the {_MAX_BYTES} that an official file may have.")


def list_files(folder: Path, suffixes: Collection[str]) -> list[OfficialFile]:
    """Return the files with one of these suffixes in a folder, its zip archives and its subfolders, sorted by name.

    Of files with the same name those in archives come first, then those in the folder itself. Hidden ones are left out.

    Raises:
        VttdataError: when the folder or an archive cannot be read.
    """
    with DescribeOSErrors(f"{folder}: cannot be read"):
        visible = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
        inner = [path for sub in visible if sub.is_dir() for path in sorted(sub.iterdir())]
    archives = [path for path in visible if path.suffix.lower() == ".zip" and path.is_file()]
    files = [member for archive in archives for member in _members(archive)]
    files += [OfficialFile(path) for path in (*visible, *inner) if path.is_file()]
    files = [file for file in files if PurePosixPath(file.name).suffix.lower() in suffixes]
    return sorted((file for file in files if not file.name.startswith(".")), key=lambda file: file.name)


def choose_files(
    folder: Path, patterns: Mapping[str, str], *, optional: Mapping[str, str] | None = None
) -> dict[str, OfficialFile]:
    """Return the file of each role in a folder, its zip archives and its subfolders.

    Args:
        folder: of the official files.
        patterns: role -> name of its file, in lower case, with ``*`` and ``?`` as in a shell.
        optional: further roles, whose files may be missing.

    Raises:
        VttdataError: when a file is missing, or two files have one role, as those of two releases do.
    """
    wanted = {**patterns, **(optional or {})}
    available = list_files(folder, {PurePosixPath(pattern).suffix for pattern in wanted.values()})
    chosen: dict[str, OfficialFile] = {}
    for role, pattern in wanted.items():
        matching = {file.name: file for file in reversed(available) if fnmatchcase(file.name.lower(), pattern)}
        if len(matching) > 1:
            first, second, *_ = sorted(matching)
            raise VttdataError(f"{folder}: both {first} and {second} are the file of {role}; keep one release.")
        if matching:
            chosen[role] = next(iter(matching.values()))
        elif role in patterns:
            names = ", ".join(sorted({file.name for file in available})[:5]) or "no such file"
            raise VttdataError(f"{folder}: the file of {role}, {pattern}, is missing; there is {names}.")
    return chosen


def choose_present_files(folder: Path, files: Mapping[str, str], benchmark: str) -> dict[str, OfficialFile]:
    """Return those files of a benchmark that are in a folder, its zip archives and its subfolders.

    Args:
        folder: of the official files.
        files: role -> name of its file, as of `choose_files`.
        benchmark: name, for messages.

    Raises:
        VttdataError: when there is none of them, or two files have one role.
    """
    chosen = choose_files(folder, {}, optional=files)
    if not chosen:
        suffixes = {PurePosixPath(name).suffix for name in files.values()}
        present = ", ".join(file.name for file in list_files(folder, suffixes)[:5]) or "no such file"
        raise VttdataError(f"{folder}: holds none of {', '.join(files.values())} of {benchmark}; there is {present}.")
    return chosen


def _members(archive: Path) -> Iterator[OfficialFile]:
    try:
        with zipfile.ZipFile(archive) as opened:
            for entry in opened.infolist():
                if entry.filename and not entry.is_dir():
                    yield OfficialFile(archive, entry.filename)
    except (OSError, *ZIP_ERRORS) as error:
        raise VttdataError(f"{archive}: damaged or incomplete ({error}); get it again.") from error


def read_text(file: OfficialFile, checksums: dict[str, str]) -> str:
    """Return the text of a UTF-8 file, with or without a byte order mark; `checksums` gets its SHA-256 by its name.

    Raises:
        VttdataError: when the file cannot be read or is not UTF-8.
    """
    raw = file.read()
    checksums[file.name] = hashlib.sha256(raw).hexdigest()
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise VttdataError(f"{file}:{line}: not UTF-8 text ({error.reason} at byte {error.start}).") from error


def read_json(file: OfficialFile, shape: pydantic.TypeAdapter[Shape], checksums: dict[str, str]) -> Shape:
    """Return the content of a JSON file, checked against a type; `checksums` gets its SHA-256 by its name.

    Raises:
        VttdataError: when it is not JSON, has a duplicate key or an unpaired surrogate, or is of another shape; names
            the place, such as ``videos[17]["start time"]``.
    """
    return parse_json_text(str(file), read_text(file, checksums), shape)


def parse_json_text(file: str, text: str, shape: pydantic.TypeAdapter[Shape]) -> Shape:
    """Return the content of JSON, as `read_json` does; `file` names it in messages."""
    if text.count(",") + text.count("[") + text.count("{") > _MAX_VALUES:
        raise VttdataError(f"{file}: has more than {_MAX_VALUES} values, the limit for an official file.")
    try:
        value = json.loads(text, object_pairs_hook=refuse_duplicate_keys)
    except (ValueError, RecursionError) as error:
        raise VttdataError(f"{file}: cut off, damaged or not JSON ({error}).") from error
    # Walking through the whole value takes longer than reading it, so it is done only where an escape makes it likely.
    if _ESCAPED_SURROGATE.search(text):
        _refuse_surrogates(file, value, ())
    try:
        return shape.validate_json(text)
    except pydantic.ValidationError as error:
        first = error.errors(include_url=False)[0]
        colon = "" if first["type"] in MISSING else ":"
        raise VttdataError(f"{file}: {key_path(first['loc'])}{colon} {describe_problem(first)}.") from error


def _refuse_surrogates(file: str, value: object, keys: tuple[str | int, ...]) -> None:
    """Raise VttdataError for a text with an unpaired surrogate, which neither a table nor a UTF-8 file can hold."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError as error:
            shown = json.dumps(value)[:_MAX_SHOWN]
            raise VttdataError(f"{file}: {key_path(keys)}: contains an unpaired surrogate ({shown}).") from error
    elif isinstance(value, dict):
        for key, inner in value.items():
            _refuse_surrogates(file, key, (*keys, key))
            _refuse_surrogates(file, inner, (*keys, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            _refuse_surrogates(file, inner, (*keys, index))


def key_path(steps: tuple[str | int, ...]) -> str:
    """Return the place of a value in a JSON file, such as ``videos[17]["url"]``; ``its top level`` for no steps."""
    first, *rest = steps or ("its top level",)
    shown = [f"[{step}]" if isinstance(step, int) else f"[{json.dumps(step)}]" for step in rest]
    return _plain(str(first)) + "".join(shown)


def _plain(text: str) -> str:
    """Return text from outside as one line of ASCII."""
    return json.dumps(text)[1:-1]
