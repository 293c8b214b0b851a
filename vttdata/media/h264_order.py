"""Order in which an H.264 stream in MP4 shows its frames, read from slice headers without decoding.

Reads what encoders write by default: frames that are not interlaced, and picture order counts of type 0 or 2.
"""

from __future__ import annotations

# ISO/IEC 14496-10, 7.3.2.1.1: profiles whose parameters tell the chroma format and the bit depth.
_HIGH_PROFILES = frozenset({100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135})
_CHROMA_444 = 3
_SLICE, _IDR_SLICE = 1, 5
# Bytes that hold a slice header's fields up to the picture order count, of numbers with 32 bits each.
_HEADER_BYTES = 40


class UnreadableOrderError(Exception):
    """Stream whose headers use syntax that is not read here, or are damaged."""


class _Bits:
    """Reader of the fixed and the Exp-Golomb codes at the start of a NAL unit."""

    def __init__(self, data: bytes) -> None:
        # A byte of 3 after two zeros is not part of the syntax.
        data = data.replace(b"\0\0\3", b"\0\0")
        self._bits, self._left = int.from_bytes(data, "big"), 8 * len(data)

    def read(self, count: int) -> int:
        """Return the next `count` bits as a number."""
        self._left -= count
        if self._left < 0:
            raise UnreadableOrderError
        return self._bits >> self._left & (1 << count) - 1

    def read_code(self) -> int:
        """Return the next unsigned Exp-Golomb code (9.1)."""
        zeros = self._left - (self._bits & (1 << self._left) - 1).bit_length()
        return self.read(2 * zeros + 1) - 1


def read_parameters(extradata: bytes) -> tuple[int, int]:
    """Read the first sequence parameter set of an ``avcC`` box.

    Returns:
        Bits of frame numbers, and of picture order counts: 0 where frames are shown in decoding order.

    Raises:
        UnreadableOrderError: for other boxes, interlaced frames, and picture order counts of type 1.
    """
    if len(extradata) < 9 or extradata[0] != 1:
        raise UnreadableOrderError
    bits = _Bits(extradata[9 : 8 + int.from_bytes(extradata[6:8], "big")])
    profile = bits.read(8)
    bits.read(16)
    bits.read_code()
    if profile in _HIGH_PROFILES:
        if bits.read_code() == _CHROMA_444:
            bits.read(1)
        bits.read_code(), bits.read_code(), bits.read(1)
        if bits.read(1):
            # Scaling matrices.
            raise UnreadableOrderError
    frame_number_bits, order_type = bits.read_code() + 4, bits.read_code()
    if order_type not in (0, 2):
        raise UnreadableOrderError
    order_bits = bits.read_code() + 4 if order_type == 0 else 0
    # References, gaps, width and height.
    bits.read_code(), bits.read(1), bits.read_code(), bits.read_code()
    if not bits.read(1):
        raise UnreadableOrderError
    return frame_number_bits, order_bits


class DisplayOrder:
    """Positions of frames in the order in which they are shown, from packets in decoding order."""

    def __init__(self, extradata: bytes) -> None:
        self._frame_number_bits, self._order_bits = read_parameters(extradata)
        self._length_size = (extradata[4] & 3) + 1
        self._group, self._number, self._reference = 0, 0, 0

    def add(self, data: memoryview) -> tuple[int, int]:
        """Return the position of the next packet's frame; positions ascend in the order of display.

        Raises:
            UnreadableOrderError: when the packet holds no slice, or a damaged header.
        """
        unit = self._first_slice(data)
        is_idr, is_referenced = unit[0] & 31 == _IDR_SLICE, unit[0] >> 5 & 3
        bits = _Bits(unit[1:])
        first, _, _ = bits.read_code(), bits.read_code(), bits.read_code()
        if first:
            raise UnreadableOrderError
        bits.read(self._frame_number_bits)
        if is_idr:
            self._group, self._number, self._reference = self._group + 1, 0, 0
            bits.read_code()
        self._number += 1
        if not self._order_bits:
            return self._group, self._number
        # Counts wrap; they lie within half of their range of the last reference's (8.2.1.1).
        modulus = 1 << self._order_bits
        step = (bits.read(self._order_bits) - self._reference + modulus // 2) % modulus - modulus // 2
        order = self._reference + step
        if is_referenced:
            self._reference = order
        return self._group, order

    def _first_slice(self, data: memoryview) -> bytes:
        position = 0
        while position + self._length_size < len(data):
            start = position + self._length_size
            if data[start] & 31 in (_SLICE, _IDR_SLICE):
                return bytes(data[start : start + _HEADER_BYTES])
            position = start + int.from_bytes(data[position:start], "big")
        raise UnreadableOrderError
