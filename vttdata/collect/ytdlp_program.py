"""Run yt-dlp so that redirects and embedded players lead to no address inside of the user's network.

Run as a program by its path, so that little else of this package is imported. Connections to loopback, private and
other addresses that are not public are refused, except to the host of the address that was listed and to proxies, whose
names are resolved at the start. What an HTTP proxy connects to is the proxy's matter. No other program, such as ffmpeg,
may download: its connections could not be watched.

What only exceptions know is printed to standard error: the class of an error before its message, and how long a server
asks to wait after one (``Retry-After``).
"""

from __future__ import annotations

import os
import sys
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    # Run by its path, this program does not know where the package is.
    sys.path.append(str(Path(__file__).parents[2]))

from vttdata.public_hosts import check_host, hosts_of, resolve

EXTERNAL = "the stream needs an external program to download it, whose connections cannot be watched"
RETRY_AFTER = "Retry-After: "
ERROR_CLASS = "Class: "


def guard(arguments: Sequence[str]) -> None:
    """Watch all connections of this process, and start no program with an address.

    The last of yt-dlp's arguments is the listed address.
    """
    proxies = [text.partition("=")[2] for text in arguments if text.startswith("--proxy=")]
    hosts = hosts_of([arguments[-1], *proxies, *urllib.request.getproxies().values()])
    allowed = frozenset().union(*map(resolve, hosts))

    def watch(event: str, details: tuple[Any, ...]) -> None:
        if event == "socket.connect" and isinstance(details[1], tuple):
            check_host(str(details[1][0]), allowed)
        elif event == "subprocess.Popen":
            command = details[1] if isinstance(details[1], list | tuple) else [details[1]]
            if any("://" in os.fsdecode(part) for part in command):
                raise PermissionError(EXTERNAL)

    sys.addaudithook(watch)


def run_guarded() -> None:
    """Run yt-dlp with the arguments of this process."""
    guard(sys.argv)
    import yt_dlp
    from yt_dlp.networking.exceptions import HTTPError

    initialise = HTTPError.__init__

    def print_retry_after(error: HTTPError, response: Any, *details: Any, **named: Any) -> None:
        initialise(error, response, *details, **named)
        if seconds := response.headers.get("Retry-After"):
            print(f"{RETRY_AFTER}{seconds!r}", file=sys.stderr)

    trouble = yt_dlp.YoutubeDL.trouble

    def print_class(program: Any, *details: Any, **named: Any) -> None:
        if error := sys.exception():
            print(f"{ERROR_CLASS}{type(error).__name__!r}", file=sys.stderr)
        trouble(program, *details, **named)

    HTTPError.__init__ = print_retry_after
    yt_dlp.YoutubeDL.trouble = print_class
    yt_dlp.main()


if __name__ == "__main__":
    run_guarded()
