"""Frame types and references, read from the packets of H.264, HEVC, MPEG-1 and MPEG-2 streams without decoding.

Reads the head of the first slice or picture and no other syntax.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple


class FrameType(IntEnum):
    """Role of an H.264 frame in prediction."""

    I_OR_P = 0
    REFERENCED_B = 1
    UNREFERENCED_B = 2


class FrameReference(NamedTuple):
    """Role of a frame: whether others may be predicted from it, and its temporal layer (0 is the lowest)."""

    is_referenced: bool
    temporal_layer: int


# First bytes of NAL units that begin with a slice header: ISO/IEC 14496-10, table 7-1, for any `nal_ref_idc`.
_H264_SLICES = frozenset(byte for byte in range(256) if byte & 31 in (1, 5))
# ISO/IEC 23008-2, table 7-1: NAL unit types 0 to 31 with `nuh_layer_id` 0.
_HEVC_SLICES = frozenset(range(0, 64, 2))
# Broken-link access pictures; decoders drop leading pictures that follow them.
_HEVC_BROKEN_LINKS = frozenset({16, 17, 18})
# Types 0 to 14 with an even number (TRAIL_N, RASL_N, ...) are no references within their temporal layer.
_HEVC_LAST_SUB_LAYER_TYPE = 14
_H264_B_SLICE = 1
# ISO/IEC 13818-2, table 6-12.
_MPEG_B_PICTURE = 3
# Bytes of a slice header that hold its first two Exp-Golomb codes.
_SLICE_HEADER_BYTES = 16
# Bytes searched for the first slice where start codes divide a packet.
_SEARCH_BYTES = 4096


def has_whole_units(data: memoryview, length_size: int) -> bool:
    """Return whether the NAL units of a packet of H.264 or HEVC can be what their encoder wrote.

    Their lengths have to add up to that of the packet, and no unit holds three zero bytes in a row (ISO/IEC 14496-10,
    7.4.1). True where start codes divide the units: there every packet begins where one is found.
    """
    position, end = 0, len(data)
    while length_size and position < end:
        start = position + length_size
        position = start + int.from_bytes(data[position:start], "big")
        if position > end or b"\0\0\0" in bytes(data[start:position]):
            return False
    return True


def h264_frame_type(data: memoryview, length_size: int) -> FrameType | None:
    """Return the type of the frame in an H.264 packet, or None where it cannot be read.

    Args:
        data: the packet's bytes.
        length_size: bytes of the length before each NAL unit, 0 where start codes divide the units.
    """
    slice_start = _find_first_slice(data, length_size, _H264_SLICES)
    if slice_start is None:
        return None
    is_referenced = data[slice_start] >> 5 & 3
    header = data[slice_start + 1 : slice_start + 1 + _SLICE_HEADER_BYTES]
    bits, bits_left = int.from_bytes(header, "big"), 8 * len(header)
    # Two Exp-Golomb codes (14496-10, 9.1): `first_mb_in_slice` and `slice_type`.
    values: list[int] = []
    while len(values) < 2:
        significant = (bits & ((1 << bits_left) - 1)).bit_length()
        zeros = bits_left - significant
        if significant <= zeros:
            return None
        bits_left = significant - zeros - 1
        values.append(((bits >> bits_left) & ((1 << (zeros + 1)) - 1)) - 1)
    if values[1] % 5 != _H264_B_SLICE:
        return FrameType.I_OR_P
    return FrameType.REFERENCED_B if is_referenced else FrameType.UNREFERENCED_B


def hevc_reference(data: memoryview, length_size: int) -> FrameReference | None:
    """Return whether frames of the same temporal layer may refer to the frame in an HEVC packet.

    Args:
        data: the packet's bytes.
        length_size: bytes of the length before each NAL unit, 0 where start codes divide the units.

    Returns:
        None where that cannot be read, for damaged packets, and for broken-link frames.
    """
    if not has_whole_units(data, length_size):
        return None
    slice_start = _find_first_slice(data, length_size, _HEVC_SLICES)
    if slice_start is None or slice_start + 1 >= len(data):
        return None
    unit_type = data[slice_start] >> 1
    if unit_type in _HEVC_BROKEN_LINKS:
        return None
    return FrameReference(unit_type > _HEVC_LAST_SUB_LAYER_TYPE or unit_type % 2 == 1, data[slice_start + 1] & 7)


def mpeg_reference(data: memoryview) -> FrameReference | None:
    """Return whether other frames may refer to the frame in an MPEG-1 or MPEG-2 packet: to all but B-frames."""
    head = bytes(data[:_SEARCH_BYTES])
    picture_start = head.find(b"\0\0\1\0")
    if not 0 <= picture_start < len(head) - 5:
        return None
    return FrameReference(head[picture_start + 5] >> 3 & 7 != _MPEG_B_PICTURE, 0)


def _find_first_slice(data: memoryview, length_size: int, slices: frozenset[int]) -> int | None:
    """Return the position of the first NAL unit whose first byte is among `slices`."""
    if length_size:
        position = 0
        while position + length_size < len(data):
            if data[position + length_size] in slices:
                return position + length_size
            position += length_size + int.from_bytes(data[position : position + length_size], "big")
        return None
    head = bytes(data[:_SEARCH_BYTES])
    position = head.find(b"\0\0\1")
    while 0 <= position < len(head) - 3:
        if head[position + 3] in slices:
            return position + 3
        position = head.find(b"\0\0\1", position + 3)
    return None


def h264_nal_length_size(extradata: bytes) -> int:
    """Return the bytes of the length before each NAL unit, by the ``avcC`` box; 0 where start codes are used."""
    return _nal_length_size(extradata, 4)


def hevc_nal_length_size(extradata: bytes) -> int:
    """Return the bytes of the length before each NAL unit, by the ``hvcC`` box; 0 where start codes are used."""
    return _nal_length_size(extradata, 21)


def _nal_length_size(box: bytes, position: int) -> int:
    return (box[position] & 3) + 1 if len(box) > position + 2 and box[0] == 1 else 0
