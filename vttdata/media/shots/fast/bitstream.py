"""Reads from a packet of H.264, HEVC, MPEG-1 or MPEG-2 how its picture is predicted and whether others refer to it.

Looks at the head of the first slice or picture alone and knows no other syntax.
"""

from __future__ import annotations

from typing import Literal

Kind = Literal[0, 1, 2]
"""0: an I or P picture; 1: a B picture that others refer to; 2: a B picture to which none refers."""

# First bytes of units that begin with a slice header.
_H264_SLICES = frozenset(one for one in range(256) if one & 31 in (1, 5))  # ISO/IEC 14496-10, table 7-1
_HEVC_SLICES = frozenset(range(0, 64, 2))  # ISO/IEC 23008-2, table 7-1: types 0 to 31 of the lowest layer
_HEVC_LINKS = frozenset({16, 17, 18})  # keyframes after which pictures are dropped: types of 23008-2, table 7-1
_B = 1
_MPEG_B = 3  # ISO/IEC 13818-2, table 6-12
_HEAD = 16
_REACH = 4096  # bytes of units that may stand before the first slice when start codes divide them


def picture_kind(data: memoryview, length_bytes: int) -> Kind | None:
    """What kind of picture a packet holds, None where that cannot be read.

    Args:
        data: the packet's bytes.
        length_bytes: how many bytes give each unit's length, 0 where start codes divide them.
    """
    at = _first_slice(data, length_bytes, _H264_SLICES)
    if at is None:
        return None
    referenced = data[at] >> 5 & 3
    bits = int.from_bytes(data[at + 1 : at + 1 + _HEAD], "big")
    left = 8 * len(data[at + 1 : at + 1 + _HEAD])
    values: list[int] = []
    while len(values) < 2:
        code = (bits & ((1 << left) - 1)).bit_length()
        zeros = left - code
        if code <= zeros:
            return None
        left = code - zeros - 1
        values.append(((bits >> left) & ((1 << (zeros + 1)) - 1)) - 1)
    if values[1] % 5 != _B:
        return 0
    return 1 if referenced else 2


def hevc_reference(data: memoryview, length_bytes: int) -> tuple[bool, int] | None:
    """Whether pictures of the same temporal layer may refer to a packet's picture, and the number of that layer.

    None where that cannot be read, and where pictures that follow are not to be shown. Arguments as in `picture_kind`.
    """
    at = _first_slice(data, length_bytes, _HEVC_SLICES)
    if at is None or at + 1 >= len(data) or data[at] >> 1 in _HEVC_LINKS:
        return None
    kind = data[at] >> 1
    return kind > 14 or kind % 2 == 1, data[at + 1] & 7


def mpeg_reference(data: memoryview) -> tuple[bool, int] | None:
    """The same of an MPEG-1 or MPEG-2 packet, whose layer is 0: others refer to all but B pictures."""
    head = bytes(data[:_REACH])
    at = head.find(b"\0\0\1\0")
    if not 0 <= at < len(head) - 5:
        return None
    return head[at + 5] >> 3 & 7 != _MPEG_B, 0


def _first_slice(data: memoryview, length_bytes: int, slices: frozenset[int]) -> int | None:
    return _by_length(data, length_bytes, slices) if length_bytes else _by_code(data, slices)


def _by_length(data: memoryview, length_bytes: int, slices: frozenset[int]) -> int | None:
    at = 0
    while at + length_bytes < len(data):
        if data[at + length_bytes] in slices:
            return at + length_bytes
        at += length_bytes + int.from_bytes(data[at : at + length_bytes], "big")
    return None


def _by_code(data: memoryview, slices: frozenset[int]) -> int | None:
    head = bytes(data[:_REACH])
    at = head.find(b"\0\0\1")
    while 0 <= at < len(head) - 3:
        if head[at + 3] in slices:
            return at + 3
        at = head.find(b"\0\0\1", at + 3)
    return None


def unit_length_bytes(extradata: bytes) -> int:
    """How many bytes give the length of each unit of a stream, by its ``avcC`` box; 0 where start codes are used."""
    return _length_bytes(extradata, 4)


def hevc_unit_length_bytes(extradata: bytes) -> int:
    """The same by the ``hvcC`` box of HEVC."""
    return _length_bytes(extradata, 21)


def _length_bytes(box: bytes, at: int) -> int:
    return (box[at] & 3) + 1 if len(box) > at + 2 and box[0] == 1 else 0
