"""Tell a network that is down from hosts that are gone, by connecting to other hosts of the same list."""

from __future__ import annotations

import socket
import urllib.parse
from collections.abc import Collection, Iterable

Address = tuple[str, int]
"""Host and port."""

_PORTS = {"http": 80, "https": 443}
_MAX_TRIED = 32
_CONNECT_SECONDS = 5.0


def addresses(urls: Iterable[str]) -> frozenset[Address]:
    """Return host and port of every URL that has them."""
    found = set()
    for text in urls:
        try:
            url = urllib.parse.urlsplit(text)
            found.add((url.hostname or "", url.port or _PORTS.get(url.scheme, 0)))
        except ValueError:
            continue
    return frozenset(address for address in found if all(address))


def any_answers(hosts: Collection[Address], *, proxy: str | None = None) -> bool:
    """Return True if one of the hosts, of which a few are tried for five seconds at most, accepts a connection.

    Hosts that are behind a proxy, `proxy` or one of the environment, are not tried, since a direct connection would say
    nothing.
    """
    # Worker processes import this module and seldom look for hosts.
    import urllib.request
    from concurrent.futures import ThreadPoolExecutor

    if proxy:
        return False
    direct = sorted(host for host in hosts if not urllib.request.getproxies() or urllib.request.proxy_bypass(host[0]))
    tried = direct[:: max(len(direct) // _MAX_TRIED, 1)][:_MAX_TRIED]
    with ThreadPoolExecutor(_MAX_TRIED) as pool:
        return any(pool.map(_accepts, tried))


def _accepts(address: Address) -> bool:
    try:
        with socket.create_connection(address, _CONNECT_SECONDS):
            return True
    except (OSError, UnicodeError):
        return False
