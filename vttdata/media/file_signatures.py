"""First bytes by which files of moving pictures are told from others, whatever their names. Nothing is decoded."""

from __future__ import annotations

import re
from pathlib import Path

_READ_BYTES = 4096
# Sound alone, in containers whose first bytes are those of films too.
_SOUND = frozenset({".mka", ".wma", ".ra"})
# ISO media whose brand (ISO/IEC 14496-12, section 4.3) is of still pictures or sound alone are left out.
_SIGNATURES = (
    rb"\0.{3}(ftyp(?!hei[cx]|mif1|avif|crx |jp[2x] |M4[ABP] )|moov|mdat|wide|RED[12])",  # ISO media, QuickTime, R3D
    rb"\x1aE\xdf\xa3|FLV\x01|DKIF|YUV4MPEG2 |\.RMF|GIF8[79]a|nut/multimedia container|RIFF.{4}AVI ",
    rb"\x30\x26\xb2\x75\x8e\x66\xcf\x11|\x06\x0e\x2b\x34|\xb7\xd8\x00 7I\xda\x11",  # ASF, MXF, WTV
    rb"\x1f\x07\0[\x3f\xbf]|\x12\0\x0a",  # DV, AV1
    rb"OggS.{0,300}?(theora|OVP80|BBCD|\x01video)|\x89PNG\r\n\x1a\n.{0,300}?acTL",
    rb"(.{4})?G.{187}(.{4})?G.{187}(.{4})?G",  # MPEG-TS, with a time before each packet in M2TS
    rb"\0{2,3}\x01([\x27\x47\x67]|\x09[\x10-\xf0]|[\x40\x46]\x01|\xba|\xb3)",  # H.264, H.265, MPEG-PS, MPEG-1 and 2
)
_FILM = re.compile(rb"|".join(_SIGNATURES), re.DOTALL)
# Bit 1 of the flags of an extended file: WebP Container Specification, RFC 9649, section 2.7.
_EXTENDED_WEBP = re.compile(rb"RIFF.{4}WEBPVP8X.{4}(.)", re.DOTALL)


def looks_like_film(path: Path) -> bool:
    """Check the first bytes of a file for those of a container, stream or animation; False if it cannot be read."""
    if path.suffix.lower() in _SOUND:
        return False
    head = _first_bytes(path)
    return _FILM.match(head) is not None or _is_animated_webp(head)


def is_animated_webp(path: Path) -> bool:
    """Check whether a file is a WebP animation, which libavformat does not read."""
    return _is_animated_webp(_first_bytes(path))


def _is_animated_webp(head: bytes) -> bool:
    match = _EXTENDED_WEBP.match(head)
    return match is not None and bool(match[1][0] & 2)


def _first_bytes(path: Path) -> bytes:
    try:
        # Opening a pipe would block.
        if not path.is_file():
            return b""
        with path.open("rb") as file:
            return file.read(_READ_BYTES)
    except OSError:
        return b""
