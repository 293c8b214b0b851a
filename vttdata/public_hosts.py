"""Tell addresses of the public internet from those inside of a network, to which redirects must not lead."""

from __future__ import annotations

import ipaddress
import re
import socket
import urllib.parse
from collections.abc import Iterable

NOT_PUBLIC = "is not a public address, and the listed one is elsewhere"

_HOST = re.compile(r"[a-z0-9._:-]+", re.IGNORECASE | re.ASCII)

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

    `allowed` are IP addresses that may be, although they are not public. Names are ASCII, since programs read escapes
    and other letters in different ways.
    """
    if not _HOST.fullmatch(host):
        raise PermissionError(f"{host!a} is not the name of a host")
    for address in resolve(host):
        if address not in allowed and not is_public(address):
            raise PermissionError(f"{address} {NOT_PUBLIC}")
