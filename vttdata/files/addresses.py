"""Take what signs or authorises a request out of web addresses, before they are published."""

from __future__ import annotations

import re
import urllib.parse

# Names of parameters of signed links and of services' keys: S3, Google Cloud, Azure, CloudFront, Akamai and others.
_SECRET_NAME = re.compile(
    r"(x-(amz|goog|oss|cos)-.*|.*(sig|signature|token|secret|passw(or)?d|credentials?|session(id)?|jwt|hmac|auth)|pwd"
    r"|sas|(api|access|private|app)?[_-]?key([_-]?(id|pair[_-]?id))?|policy|expires?|exp|se|st|sp|sv|sr|sks\w+|hdne[at])",
    re.IGNORECASE,
)
# Longer than any id, such as a UUID, with a digit and without a space.
_SECRET_VALUE = re.compile(r"(?=\D*\d)[\w+/=.~%-]{48,}", re.ASCII)


def without_secrets(url: str) -> str:
    """Return a web address without its user name, its fragment and parameters that look like signatures or tokens.

    Other parameters, such as ``v=`` and ``id=``, stay as they are written. An address without such parts is returned
    unchanged, and what is no address, too.
    """
    try:
        parts = urllib.parse.urlsplit(url)
    except ValueError:
        return url
    if not parts.scheme or not parts.netloc:
        return url
    pieces = re.split("([&;])", parts.query)
    kept = [piece for piece in pieces[::2] if not _is_secret(piece)]
    fragment = "" if any(map(_is_secret, re.split("[&;]", parts.fragment))) else parts.fragment
    host = parts.netloc.rpartition("@")[2]
    if len(kept) == len(pieces[::2]) and fragment == parts.fragment and host == parts.netloc:
        return url
    query = pieces[1] if len(pieces) > 1 else "&"
    return urllib.parse.urlunsplit(parts._replace(netloc=host, query=query.join(kept), fragment=fragment))


def _is_secret(parameter: str) -> bool:
    name, _, value = parameter.partition("=")
    name = urllib.parse.unquote(name)
    return bool(value) and bool(_SECRET_NAME.fullmatch(name) or _SECRET_VALUE.fullmatch(urllib.parse.unquote(value)))
