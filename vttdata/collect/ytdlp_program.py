"""Run yt-dlp so that redirects and embedded players lead to no address inside of the user's network.

Run as a program by its path, so that nothing else of this package is imported. Connections to loopback, private and
other addresses that are not public are refused, except to the host of the address that was listed and to proxies, whose
names are resolved at the start. What an HTTP proxy connects to is the proxy's matter.
"""

from __future__ import annotations

import ipaddress
import os
import socket
import sys
import urllib.parse
import urllib.request
from collections.abc import Iterable, Sequence
from typing import Any

NOT_PUBLIC = "is not a public address, and the listed one is elsewhere"


def resolve(host: str) -> frozenset[str]:
    """Return the IP addresses of a host; none if it is not known."""
    try:
        return frozenset(str(entry[4][0]).partition("%")[0] for entry in socket.getaddrinfo(host, None))
    except (OSError, UnicodeError):
        return frozenset()


def is_public(address: str) -> bool:
    """Return whether an IP address is one of the public internet."""
    ip = ipaddress.ip_address(address)
    return (getattr(ip, "ipv4_mapped", None) or ip).is_global


def hosts_of(texts: Iterable[str]) -> set[str]:
    """Return the hosts of those texts that are addresses."""
    hosts = set()
    for text in texts:
        try:
            hosts.add(urllib.parse.urlsplit(text).hostname or "")
        except ValueError:
            continue
    return hosts - {""}


def check_host(host: str, allowed: Iterable[str]) -> None:
    """Raise PermissionError if a host, an IP address or a name, may not be connected to.

    `allowed` are IP addresses that may be, although they are not public.
    """
    for address in resolve(host):
        if address not in allowed and not is_public(address):
            raise PermissionError(f"{address} {NOT_PUBLIC}")


def guard(arguments: Sequence[str]) -> None:
    """Watch all connections of this process, and the addresses that it gives to programs such as ffmpeg.

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
            for host in hosts_of(os.fsdecode(part) for part in command if "://" in os.fsdecode(part)):
                check_host(host, allowed)

    sys.addaudithook(watch)


if __name__ == "__main__":
    guard(sys.argv)
    import yt_dlp

    yt_dlp.main()
