"""Files in remote storage, reached through fsspec: list, read and copy what lies below an address; nothing is written.

An address is that of a folder, such as ``s3://bucket/prefix``. Credentials, regions and endpoints come from the
environment, as the protocol's library reads them, and never from an address. Nothing is cached here.
"""

from __future__ import annotations

import errno
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from vttdata.errors import HaltError, VttdataError, disk_error_halt
from vttdata.files.addresses import without_secrets
from vttdata.files.output_file import write_whole
from vttdata.files.reading import is_inside
from vttdata.partial_file import partial_file

# Protocol -> what to install for it; empty where the base install suffices.
PROTOCOLS = {"file": "", "gs": "gcsfs", "hf": "", "s3": "vttdata[remote]"}

# Those of web pages and of their videos are no folders.
_ADDRESS = re.compile(r"(?!https?:)([a-z][a-z0-9+.-]*)://.*", re.DOTALL)
_TRANSFERS_AT_ONCE = 8
# Errors of libraries by name, since the libraries may be absent: credentials are missing or wrong.
_REFUSALS = {"NoCredentialsError", "PartialCredentialsError", "TokenRetrievalError", "GatedRepoError"}


class StoredFile(NamedTuple):
    """Size of a file in bytes, and a text that changes when the file does: its ETag, checksum or time."""

    bytes: int
    version: str


def is_remote(reference: object) -> bool:
    """Return True for an address such as ``s3://bucket/folder``, whether or not its protocol is known."""
    return isinstance(reference, str) and _ADDRESS.fullmatch(reference) is not None


class RemoteFolder:
    """Folder in remote storage, by an address of ``file://``, ``gs://``, ``hf://`` or ``s3://``, and a path.

    Raises:
        VttdataError: If the protocol is not known, its library is missing, or the address contains a password.
    """

    def __init__(self, address: str) -> None:
        match = _ADDRESS.fullmatch(address)
        protocol = match[1] if match else ""
        if protocol not in PROTOCOLS:
            known = ", ".join(f"{name}://" for name in PROTOCOLS)
            raise VttdataError(f"{without_secrets(address)}: addresses of remote storage begin with {known}.")
        self.protocol, self.address = protocol, address.rstrip("/")
        path = self.address.partition("://")[2]
        if "@" in path.partition("/")[0]:
            raise VttdataError(f"{protocol}://: the address contains a user name or key; put it into the environment.")
        if not path.strip("/") or not address.isprintable() or not is_inside(path.lstrip("/")):
            raise VttdataError(f"{ascii(address)[1:-1]}: is not an address such as s3://bucket/folder.")
        import fsspec

        try:
            self._fs, root = fsspec.core.url_to_fs(self.address, use_listings_cache=False, skip_instance_cache=True)
        except ImportError as error:
            install = PROTOCOLS[protocol] or protocol
            raise VttdataError(
                f"{address}: the library for {protocol}:// is missing: pip install '{install}'."
            ) from error
        except Exception as error:
            raise self._explain(error, "") from error
        self._root = str(root).rstrip("/")

    @property
    def name(self) -> str:
        """Last part of the address."""
        return self.address.rpartition("/")[2]

    @property
    def parent(self) -> RemoteFolder:
        """Folder around this one."""
        return RemoteFolder(self.address.rpartition("/")[0])

    def is_file(self) -> bool:
        """Return True if the address is that of a file."""
        with self._explained(""):
            return bool(self._fs.isfile(self._root))

    def files(self, below: str = "") -> dict[str, StoredFile]:
        """Return all files below the folder by their relative paths, sorted; none if there is no such folder.

        Raises:
            VttdataError: If the folder cannot be listed, or a path in it cannot be one of this machine.
        """
        with self._explained(below):
            try:
                listed = self._fs.find(self._path(below), detail=True)
            except FileNotFoundError:
                # A bucket that is missing is an error, and a folder is not.
                bucket = self._root.partition("/")[0]
                if self.protocol != "file" and not self._fs.exists(bucket):
                    raise
                listed = {}
        found = {}
        for path, facts in listed.items():
            name = path.removeprefix(self._root).lstrip("/")
            if not name or path.endswith("/") or facts.get("type") == "directory":
                continue
            if not _is_file_name(name) or not path.startswith(f"{self._root}/"):
                raise VttdataError(f"{self.address}: {name!a} cannot be the name of a file here; rename it.")
            versions = (facts.get(key) for key in ("ETag", "etag", "md5Hash", "blob_id", "mtime", "LastModified"))
            found[name] = StoredFile(facts["size"] or 0, str(next(filter(None, versions), "")).strip('"'))
        return dict(sorted(found.items()))

    def read(self, name: str, limit: int = 2**26) -> bytes | None:
        """Return the content of a file, None if there is none.

        Raises:
            VttdataError: If it is larger than `limit` bytes or cannot be read.
        """
        with self._explained(name):
            try:
                with self._fs.open(self._path(name), "rb", block_size=2**20, cache_type="none") as stream:
                    content: bytes = stream.read(limit + 1)
            except FileNotFoundError:
                return None
        if len(content) > limit:
            raise VttdataError(f"{self.address}/{name}: is larger than {limit} bytes, the limit for such a file.")
        return content

    def download(
        self, files: Iterable[tuple[str, Path]], check: Callable[[str, Path], None] = lambda _name, _path: None
    ) -> None:
        """Copy files, by their names, to paths on this machine, each in one step, several at once.

        `check` is called with a file's name and its copy before that gets its path, and may raise.
        """

        def copy(file: tuple[str, Path]) -> None:
            name, path = file
            path.parent.mkdir(parents=True, exist_ok=True)
            with partial_file(path) as partial:
                with self._explained(name):
                    self._fs.get_file(self._path(name), str(partial))
                check(name, partial)

        _run_all(copy, files)

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}" if name else self._root

    @contextmanager
    def _explained(self, name: str) -> Iterator[None]:
        try:
            yield
        except VttdataError:
            raise
        # Libraries raise errors of their own for refusals, timeouts and lost connections.
        except Exception as error:
            raise self._explain(error, name) from error

    def _explain(self, error: Exception, name: str) -> VttdataError:
        """Return the error for one of a library, in one sentence."""
        where = f"{self.address}/{name}" if name else self.address
        detail = (" ".join(str(error).split()) or type(error).__name__)[:200].rstrip(".")
        if isinstance(error, PermissionError) or type(error).__name__ in _REFUSALS:
            return VttdataError(
                f"{where}: access is denied ({detail}); check the credentials in the environment and their rights."
            )
        if isinstance(error, FileNotFoundError):
            return VttdataError(f"{where}: does not exist ({detail}).")
        if isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EROFS}:
            return disk_error_halt(error, where)
        return HaltError(f"{where}: the store did not answer as it should ({detail}); run the same command again.")


def fetch_copy(address: str, cache: Path) -> Path:
    """Bring the copy of a remote file or folder in the folder `cache` up to date, and return the path of the copy.

    A folder is copied with all that is below it. The last part of the path is that of the address.

    Raises:
        VttdataError: If there is nothing at the address, or the store refuses access or does not answer.
    """
    remote = RemoteFolder(address)
    cache_folder = cache / hashlib.sha256(remote.address.encode()).hexdigest()[:16]
    copy, state = cache_folder / "inputs" / remote.name, cache_folder / "versions.json"
    if remote.is_file():
        folder, remote_files = copy.parent, {remote.name: remote.parent.files(remote.name)[remote.name]}
        remote = remote.parent
    else:
        folder, remote_files = copy, remote.files()
    if not remote_files:
        raise VttdataError(f"{address}: there is no such file or folder, or nothing in it.")
    try:
        known = json.loads(state.read_bytes())
    except (OSError, ValueError):
        known = {}
    versions = {name: f"{file.bytes} {file.version}" for name, file in remote_files.items()}
    stale = [name for name in remote_files if known.get(name) != versions[name] or not (folder / name).is_file()]
    state.unlink(missing_ok=True)
    for name in known.keys() - remote_files.keys():
        (folder / name).unlink(missing_ok=True)
    remote.download((name, folder / name) for name in stale)
    write_whole(state, json.dumps(versions))
    return copy


def _is_file_name(name: str) -> bool:
    parts = name.split("/")
    fits = all(part not in ("", ".", "..") and len(part.encode(errors="replace")) < 256 for part in parts)
    return fits and "\0" not in name and len(name) < 1024


def _run_all(function: Callable[[Any], None], items: Iterable[object]) -> None:
    """Call a function with each item, several at once; after an error, no further one begins."""
    with ThreadPoolExecutor(_TRANSFERS_AT_ONCE) as pool:
        futures = [pool.submit(function, item) for item in items]
        try:
            for future in futures:
                future.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
