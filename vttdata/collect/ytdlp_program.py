"""Run yt-dlp so that redirects and embedded players lead to no address inside of the user's network.

Run as a program by its path, so that nothing else of this package is imported. Connections to loopback, private and
other addresses that are not public are refused, except to the host of the address that was listed and to proxies, whose
names are resolved at the start. What an HTTP proxy connects to is the proxy's matter. No other program, such as ffmpeg,
may download: its connections could not be watched.

How long a server asks to wait after an error (``Retry-After``) is printed to standard error.
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
EXTERNAL = "the stream needs an external program to download it, whose connections cannot be watched"
RETRY_AFTER = "Retry-After: "

# IPv6 networks whose addresses end in an IPv4 address, to which a gateway or the system connects: NAT64 (RFC 6052) and
# IPv4-compatible addresses (RFC 4291, section 2.5.5.1).
_ENDING_IN_IPV4 = tuple(map(ipaddress.IPv6Network, ("64:ff9b::/96", "::/96")))
# NAT64 of one's own network (RFC 8215), in which gateways embed IPv4 addresses in several ways.
_LOCAL_NAT64 = ipaddress.IPv6Network("64:ff9b:1::/48")


def resolve(host: str) -> frozenset[str]:
    """Return the IP addresses of a host; none if it is not known."""
    try:
        return frozenset(str(entry[4][0]).partition("%")[0] for entry in socket.getaddrinfo(host, None))
    except (OSError, UnicodeError):
        return frozenset()


def is_public(address: str) -> bool:
    """Return whether an IP address is one of the public internet, and so is the IPv4 address in it, if there is one."""
    ip = ipaddress.ip_address(address)
    if isinstance(ip, ipaddress.IPv6Address):
        if ip in _LOCAL_NAT64 or ip.is_site_local:
            return False
        if embedded := ip.ipv4_mapped or ip.sixtofour:
            ip = embedded
        elif any(ip in network for network in _ENDING_IN_IPV4):
            ip = ipaddress.IPv4Address(ip.packed[-4:])
    return ip.is_global and not ip.is_multicast


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

    HTTPError.__init__ = print_retry_after
    yt_dlp.main()


if __name__ == "__main__":
    run_guarded()
