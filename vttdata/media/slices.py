"""Reads from an H.264 packet whether its picture is predicted from both sides and whether others refer to it.

Looks at the head of the first slice alone and knows no other syntax.
"""

from __future__ import annotations

from typing import Literal

Kind = Literal[0, 1, 2]
"""0: an I or P picture; 1: a B picture that others refer to; 2: a B picture to which none refers."""

_SLICES = frozenset({1, 5})  # unit types that begin with a slice header: ISO/IEC 14496-10, table 7-1
_B = 1
_HEAD = 16
_REACH = 4096  # bytes of units that may stand before the first slice when start codes divide them


def picture_kind(data: memoryview, length_bytes: int) -> Kind | None:
    """What kind of picture a packet holds, None where that cannot be read.

    Args:
        data: the packet's bytes.
        length_bytes: how many bytes give each unit's length, 0 where start codes divide them.
    """
    at = _first_slice_by_length(data, length_bytes) if length_bytes else _first_slice_by_code(data)
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


def _first_slice_by_length(data: memoryview, length_bytes: int) -> int | None:
    at = 0
    while at + length_bytes < len(data):
        if data[at + length_bytes] & 31 in _SLICES:
            return at + length_bytes
        at += length_bytes + int.from_bytes(data[at : at + length_bytes], "big")
    return None


def _first_slice_by_code(data: memoryview) -> int | None:
    head = bytes(data[:_REACH])
    at = head.find(b"\0\0\1")
    while 0 <= at < len(head) - 3:
        if head[at + 3] & 31 in _SLICES:
            return at + 3
        at = head.find(b"\0\0\1", at + 3)
    return None


def unit_length_bytes(extradata: bytes) -> int:
    """How many bytes give the length of each unit of a stream, by its ``avcC`` box; 0 where start codes are used."""
    return (extradata[4] & 3) + 1 if len(extradata) > 6 and extradata[0] == 1 else 0
