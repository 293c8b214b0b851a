"""Download files whose digests are known beforehand, and keep each under its digest.

A file is either whole and checked, or absent. Partial downloads are kept separately, continued where they were cut off,
and moved to their digest in one step. Proxies and certificates are those of the environment, as `requests` reads them
(``HTTPS_PROXY``, ``NO_PROXY``, ``REQUESTS_CA_BUNDLE``).
"""

from __future__ import annotations

import contextlib
import datetime
import email.utils
import errno
import glob
import hashlib
import os
import shutil
import sys
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vttdata.errors import VttdataError, halt_on_disk_errors
from vttdata.files.addresses import hide_secrets, without_secrets
from vttdata.files.file_lock import wait_for_lock
from vttdata.files.reading import file_sha256
from vttdata.public_hosts import check_host, hosts_of, resolve
from vttdata.settings import environment_number
from vttdata.version import __version__

if TYPE_CHECKING:
    import requests

MIRROR_VARIABLE = "VTTDATA_MIRROR"
TIMEOUT_VARIABLE = "VTTDATA_DOWNLOAD_TIMEOUT"
# Those of the Hub's clients count too.
OFFLINE_VARIABLES = ("VTTDATA_OFFLINE", "HF_HUB_OFFLINE")

_DEFAULT_SECONDS = 600
# Missing files that an error names; more are counted.
_NAMED_FILES = 8
# What has come of a piece is lost with the connection.
_PIECE_BYTES = 2**13
# Of a file whose size is not known, and of one that turns out to be another, such as a proxy's page.
_MAX_UNKNOWN_BYTES = 2**28
_MAX_WRONG_BYTES = 2**24
# Answers after which the same request may succeed.
_TRY_AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504})
# How often a host that is not reached is tried again.
_MAX_CONNECT_ATTEMPTS = 2
_CONTINUED, _CANNOT_CONTINUE = 206, 416
_SHA1_DIGITS = 40


@dataclass(frozen=True, slots=True)
class OriginFile:
    """File of somebody else's release.

    Fields:
        benchmark: name of the release, and of its folder in a mirror.
        name: path in the folder of the release, such as ``train.json``.
        addresses: where it is, the first one first; HTTP or HTTPS. Empty where none is known.
        bytes: size; None where it is not known.
        digest: SHA-256, or the id of a Git blob (SHA-1), in hexadecimal digits.
        licence: what is known of its licence and terms.
        is_optional: whether its benchmark can be built without it.
    """

    benchmark: str
    name: str
    addresses: tuple[str, ...]
    bytes: int | None
    digest: str
    licence: str
    is_optional: bool = False

    def __str__(self) -> str:
        return f"{self.benchmark}/{self.name}"

    @property
    def digest_name(self) -> str:
        """What `digest` is, for people."""
        return "Git blob id" if len(self.digest) == _SHA1_DIGITS else "SHA-256"

    def digest_of(self, path: Path) -> str:
        """Return the digest of another file, of the same kind."""
        if len(self.digest) != _SHA1_DIGITS:
            return file_sha256(path)
        digest = hashlib.sha1(f"blob {path.stat().st_size}\0".encode(), usedforsecurity=False)
        with path.open("rb") as stream:
            while piece := stream.read(2**20):
                digest.update(piece)
        return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How long to wait for a server, in seconds.

    Fields:
        waits: before each further request after one that failed; a request that brought something begins them anew.
        connect: for a connection.
        read: for the next bytes.
        total: for a file, all requests and waits together.
    """

    waits: Sequence[float] = (1.0, 2.0, 4.0, 8.0)
    connect: float = 10.0
    read: float = 30.0
    total: float = _DEFAULT_SECONDS


class UnreachableError(VttdataError):
    """File that nobody could be asked for: this machine is offline, no host was reached, or no address is known."""


class _AddressError(Exception):
    """Reason why an address does not give the file, and whether its host was not even reached."""

    def __init__(self, reason: str, *, is_unreachable: bool = False) -> None:
        super().__init__(reason)
        self.is_unreachable = is_unreachable


class _PassingError(Exception):
    """Reason that may pass, the seconds that the server wants to be left alone, and whether it was reached at all."""

    def __init__(self, reason: str, wait: float | None = None, *, is_unreachable: bool = False) -> None:
        super().__init__(reason)
        self.wait = wait
        self.is_unreachable = is_unreachable


class DownloadStore:
    """Folder of downloaded files under their SHA-256.

    Args:
        folder: of the files; made when it is needed.
        mirror: folder or address that is asked first; by default that in ``VTTDATA_MIRROR``.
        offline: use nothing but the store and a mirror that is a folder; by default where one of `OFFLINE_VARIABLES` is
            set.
        timeouts: by default with the total of ``VTTDATA_DOWNLOAD_TIMEOUT``.
        note: is called with sentences that a user should read.
    """

    def __init__(
        self,
        folder: Path,
        *,
        mirror: str | None = None,
        offline: bool | None = None,
        timeouts: Timeouts | None = None,
        note: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.folder = folder
        self.mirror = (os.environ.get(MIRROR_VARIABLE, "") if mirror is None else mirror).rstrip("/")
        self.offline = is_offline() if offline is None else offline
        self._timeouts = timeouts or Timeouts(total=environment_number(TIMEOUT_VARIABLE, _DEFAULT_SECONDS, "seconds"))
        self._note = note
        self._unreachable: set[str] = set()
        self._mirror_folder = None if not self.mirror or "://" in self.mirror else Path(self.mirror).expanduser()
        if self._mirror_folder is not None and not self._mirror_folder.is_dir():
            name = hide_secrets(self.mirror)[:200]
            raise VttdataError(f"{MIRROR_VARIABLE}: '{name}' is neither an existing folder nor an address.")
        if "://" in self.mirror and "://" not in without_secrets(self.mirror):
            raise VttdataError(
                f"{MIRROR_VARIABLE}: the address has no host; write '/' and '@' in a password as %2F and %40."
            )

    def find(self, file: OriginFile) -> Path | None:
        """Return the stored file, after a look whether it is whole; None if there is none."""
        path = self.folder / file.digest
        if not path.is_file() or file.bytes not in (None, path.stat().st_size):
            return None
        return path if file.digest_of(path) == file.digest else None

    def fetch(self, files: Iterable[OriginFile]) -> dict[OriginFile, Path]:
        """Return the path of each file in the store, after downloading those that are missing.

        Raises:
            UnreachableError: when nobody could be asked for a file; says where to put it.
            VttdataError: when a file cannot be had for another reason, or is another one than it should be.
            HaltError: when the disk is full or cannot be written.
        """
        paths = {file: self.find(file) for file in files}
        missing = [file for file, path in paths.items() if path is None]
        if missing:
            # Every build knows this class, and few of them download.
            import requests
            from rich.console import Console
            from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

            columns = (
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                DownloadColumn(),
                TimeRemainingColumn(),
            )
            console = Console(stderr=True)
            progress = Progress(*columns, console=console, transient=True, disable=not sys.stderr.isatty())
            with halt_on_disk_errors(self.folder), requests.Session() as session, progress:
                for folder in (self.folder / "partial", self.folder / "refused"):
                    folder.mkdir(parents=True, exist_ok=True)
                task = progress.add_task("", total=sum(file.bytes or 0 for file in missing) or None)
                for number, file in enumerate(missing):
                    progress.update(task, description=file.name)
                    try:
                        paths[file] = self._fetch(file, session, lambda got: progress.advance(task, got))
                    except _AddressError as error:
                        kind = UnreachableError if error.is_unreachable else VttdataError
                        raise kind(_explain(missing[number:], str(error))) from error
        return {file: path for file, path in paths.items() if path is not None}

    def _fetch(self, file: OriginFile, session: requests.Session, advance: Callable[[int], None]) -> Path:
        """Download one file under its lock.

        Raises:
            _AddressError: when no address gives it.
        """
        partial = self.folder / "partial" / file.digest
        waiting = f"{file} is being downloaded by another process; waiting for it"
        with wait_for_lock(partial.with_suffix(".lock"), lambda: self._note(waiting), self._timeouts.total):
            if (stored := self.find(file)) is not None:
                return stored
            if self._copy_from_mirror(file, partial):
                return self._store(file, partial)
            if self.offline:
                raise _AddressError("this machine is offline", is_unreachable=True)
            reasons, is_unreachable = [], True
            for address in self._addresses(file):
                try:
                    self._receive(file, address, session, partial, advance)
                    return self._store(file, partial)
                except _AddressError as error:
                    reasons.append(f"{_host(address)} {error}")
                    # A mirror that lacks a file does not speak for its origin.
                    is_unreachable &= error.is_unreachable or address not in file.addresses
            raise _AddressError("; ".join(reasons) or "no address of it is known", is_unreachable=is_unreachable)

    def _addresses(self, file: OriginFile) -> Iterator[str]:
        if self.mirror and self._mirror_folder is None:
            yield from (f"{self.mirror}/{urllib.parse.quote(name)}" for name in (file.digest, str(file)))
        yield from file.addresses

    def _copy_from_mirror(self, file: OriginFile, partial: Path) -> bool:
        """Copy a file out of a mirror that is a folder: by digest, or by its name in any folder and with its digest."""
        if self._mirror_folder is None:
            return False
        own_name = file.name.rpartition("/")[2]
        named = sorted(self._mirror_folder.rglob(glob.escape(own_name)))
        for path in (self._mirror_folder / str(file), self._mirror_folder / file.digest, *named):
            if path.is_file() and file.bytes in (None, path.stat().st_size):
                self._check_space(path.stat().st_size)
                shutil.copyfile(path, partial)
                if file.digest_of(partial) == file.digest:
                    return True
                partial.unlink()
        return False

    def _receive(
        self, file: OriginFile, address: str, session: requests.Session, partial: Path, advance: Callable[[int], None]
    ) -> None:
        """Bring `partial` to the content of an address, in as many requests as it takes.

        Raises:
            _AddressError: when the address does not answer or gives something else, which is kept aside.
        """
        if _host(address) in self._unreachable:
            raise _AddressError("cannot be reached", is_unreachable=True)
        deadline = time.monotonic() + self._timeouts.total
        for continues in (True, False):
            if not continues or (file.bytes is not None and _size(partial) > file.bytes):
                partial.unlink(missing_ok=True)
            was_continued = _size(partial) > 0
            self._receive_whole(file, address, session, partial, advance, deadline)
            digest = file.digest_of(partial)
            if digest == file.digest:
                return
            # What it was continued from may have been of another file.
            if not was_continued:
                break
        aside = self.folder / "refused" / f"{digest}-{file.name.replace('/', '-')[-100:]}"
        partial.replace(aside)
        raise _AddressError(
            f"gives another file: its {file.digest_name} is {digest} instead of {file.digest}, so either the file has "
            f"changed or something between answers in its place; it is kept in {aside}"
        )

    def _receive_whole(
        self,
        file: OriginFile,
        address: str,
        session: requests.Session,
        partial: Path,
        advance: Callable[[int], None],
        deadline: float,
    ) -> None:
        failed = 0
        while file.bytes is None or _size(partial) < file.bytes:
            before = _size(partial)
            self._check_space((file.bytes or 0) - before)
            reception = _Reception(file, address, session, partial, self._timeouts)
            try:
                if reception.run_until(deadline, advance):
                    return
                reason, wait, is_unreachable = "cuts the connection", None, False
            except _PassingError as error:
                reason, wait, is_unreachable = str(error), error.wait, error.is_unreachable
            failed = 1 if _size(partial) > before else failed + 1
            if is_unreachable and failed > _MAX_CONNECT_ATTEMPTS:
                self._unreachable.add(_host(address))
                raise _AddressError(reason, is_unreachable=True)
            if failed > len(self._timeouts.waits):
                raise _AddressError(f"{reason}, after {_size(partial):,} of {file.bytes or 'unknown'} bytes")
            wait = self._timeouts.waits[failed - 1] if wait is None else wait
            if time.monotonic() + wait >= deadline:
                raise _AddressError(f"{reason}, and {self._timeouts.total:g} s are over ({TIMEOUT_VARIABLE})")
            time.sleep(wait)

    def _store(self, file: OriginFile, partial: Path) -> Path:
        """Move a checked file to its digest."""
        with partial.open("rb") as stream:
            os.fsync(stream.fileno())
        path = self.folder / file.digest
        partial.replace(path)
        return path

    def _check_space(self, needed: int) -> None:
        if shutil.disk_usage(self.folder).free < needed:
            # The system's own error comes only when the disk is full to the last byte.
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.folder))


class _Reception:
    """Request for what is missing of a file, in a thread of its own.

    The limits of sockets begin anew with each byte, so that only another thread can end a request in time.
    """

    def __init__(
        self, file: OriginFile, address: str, session: requests.Session, partial: Path, timeouts: Timeouts
    ) -> None:
        self._file, self._address, self._session = file, address, session
        self._partial, self._timeouts = partial, timeouts
        self._done, self._is_stopped = threading.Event(), False
        self._received = 0
        self._is_whole = False
        self._error: BaseException | None = None

    def run_until(self, deadline: float, advance: Callable[[int], None]) -> bool:
        """Receive, and return whether the answer was complete as far as can be told.

        Raises:
            _AddressError: when the answer is a refusal, or time is over.
            _PassingError: when a later request may succeed.
        """
        threading.Thread(target=self._run, daemon=True).start()
        shown = 0
        try:
            while not self._done.wait(0.1):
                shown = self._show(shown, advance)
                if time.monotonic() >= deadline:
                    raise _AddressError(f"has not sent it in {self._timeouts.total:g} s ({TIMEOUT_VARIABLE})")
        finally:
            self._is_stopped = True
        self._show(shown, advance)
        if self._error is not None:
            raise self._error
        return self._is_whole

    def _show(self, shown: int, advance: Callable[[int], None]) -> int:
        received = self._received
        advance(received - shown)
        return received

    def _run(self) -> None:
        import requests

        try:
            self._request()
        except requests.exceptions.SSLError as error:
            self._error = _AddressError(
                f"has a certificate that is not trusted ({_short(error)}); REQUESTS_CA_BUNDLE names that of a proxy"
            )
        except requests.exceptions.ProxyError as error:
            reason = f"is not reached through the proxy of the environment ({_short(error)})"
            self._error = _PassingError(reason, is_unreachable=True)
        except requests.exceptions.Timeout:
            self._error = _PassingError(f"has sent nothing for {self._timeouts.read:g} s")
        except requests.exceptions.ChunkedEncodingError:
            self._error = _PassingError("cuts the connection")
        except requests.exceptions.ConnectionError as error:
            self._error = _PassingError(f"cannot be reached ({_short(error)})", is_unreachable=True)
        except requests.exceptions.RequestException as error:
            self._error = _AddressError(f"does not answer as it should ({_short(error)})")
        except BaseException as error:
            self._error = error
        finally:
            self._done.set()

    def _request(self) -> None:
        start = _size(self._partial)
        headers = {"Accept-Encoding": "identity", "User-Agent": f"vttdata/{__version__}"}
        if start:
            headers["Range"] = f"bytes={start}-"
        timeout = (self._timeouts.connect, self._timeouts.read)
        options: dict[str, Any] = {"headers": headers, "timeout": timeout, "hooks": {"response": self._check_redirect}}
        with self._session.get(self._address, stream=True, **options) as response:
            if response.status_code == _CANNOT_CONTINUE and start:
                self._partial.unlink()
                raise _PassingError("cannot continue the file")
            if response.status_code in _TRY_AGAIN:
                raise _PassingError(f"answers {response.status_code} {response.reason}", _wanted_wait(response.headers))
            is_rest = response.status_code == _CONTINUED
            if is_rest and not response.headers.get("Content-Range", "").startswith(f"bytes {start}-"):
                self._partial.unlink(missing_ok=True)
                raise _PassingError("continues the file elsewhere than it was asked to")
            if response.status_code not in (200, _CONTINUED):
                raise _AddressError(f"answers {response.status_code} {response.reason}")
            self._write(response, start if is_rest else 0)
            # Without a length, an answer that was cut off looks complete.
            length = response.headers.get("Content-Length", "" if self._file.bytes else str(self._received))
            self._is_whole = length == str(self._received)

    def _check_redirect(self, response: requests.Response, **_options: object) -> None:
        """Raise _AddressError if an answer leads from a public address, or another host, into a network."""
        target = self._session.get_redirect_target(response)
        if target is None:
            return
        try:
            host = urllib.parse.urlsplit(urllib.parse.urljoin(response.url, target)).hostname or ""
            check_host(host, frozenset().union(*map(resolve, hosts_of([self._address]))))
        except (PermissionError, ValueError) as error:
            raise _AddressError(f"redirects elsewhere: {error}") from error

    def _write(self, response: requests.Response, start: int) -> None:
        size = self._file.bytes
        limit = _MAX_UNKNOWN_BYTES if size is None else max(size, _MAX_WRONG_BYTES)
        with self._partial.open("ab" if start else "wb") as stream:
            for piece in response.iter_content(_PIECE_BYTES):
                if self._is_stopped:
                    return
                if start + self._received + len(piece) > limit:
                    raise _AddressError(f"sends more than {limit:,} bytes")
                stream.write(piece)
                self._received += len(piece)


def is_offline() -> bool:
    """Return whether the environment says that no server may be asked."""
    return any(os.environ.get(name, "").strip().upper() in ("1", "ON", "YES", "TRUE") for name in OFFLINE_VARIABLES)


def _explain(missing: Sequence[OriginFile], reason: str) -> str:
    """Return the sentences on files that are missing, and on the ways to give them; `reason` is that of the first."""
    named = []
    for file in missing[:_NAMED_FILES]:
        size = "" if file.bytes is None else f"{file.bytes:,} bytes, "
        named.append(f"{file} ({size}{file.digest_name} {file.digest}; {file.licence})")
    if more := len(missing) - len(named):
        named.append(f"{more:,} more")
    is_one = len(missing) == 1
    return (
        f"{', '.join(named)} {'is' if is_one else 'are'} missing: {reason}. If you have {'it' if is_one else 'them'}, "
        f"name the folder with --set annotations=FOLDER; or set {MIRROR_VARIABLE} to a folder that has "
        f"{'it' if is_one else 'them'} as named here or under {'its digest' if is_one else 'their digests'}. "
        f"'vttdata fetch {missing[0].benchmark} --out FOLDER' fills such a folder on a machine with a network."
    )


def _size(path: Path) -> int:
    with contextlib.suppress(FileNotFoundError):
        return path.stat().st_size
    return 0


def _wanted_wait(headers: requests.structures.CaseInsensitiveDict[str]) -> float | None:
    """Return the seconds of ``Retry-After``, which are a number or a date (RFC 9110, 10.2.3)."""
    text = headers.get("Retry-After", "").strip()
    if text.isascii() and text.isdecimal():
        return float(text[:9])
    with contextlib.suppress(ValueError):
        moment = email.utils.parsedate_to_datetime(text)
        return max((moment - datetime.datetime.now(datetime.UTC)).total_seconds(), 0.0)
    return None


def _host(address: str) -> str:
    return urllib.parse.urlsplit(address).netloc.rpartition("@")[2]


def _short(error: BaseException) -> str:
    """Return the innermost reason of an error of `requests`, which repeats the whole address."""
    reason: BaseException = error
    while reason.args and isinstance(reason.args[-1], BaseException):
        reason = reason.args[-1]
    inner = getattr(reason, "reason", None)
    return hide_secrets(" ".join(str(inner if isinstance(inner, BaseException) else reason).split()))[-160:]
