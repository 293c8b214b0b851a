"""Walk the elements of a container without decoding, to notice a file that was cut off or has a hole.

Demuxers resume after damage and end quietly where a file ends, so what is missing shows neither in packets nor in
frames. ISO media, Matroska (WebM), FLV and AVI state the size of each element. MPEG-TS, MPEG-PS, Ogg and raw streams
state neither sizes nor a duration; a part of such a file is a whole one.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import BinaryIO, NamedTuple

from vttdata.errors import MediaError

MAX_ELEMENTS = 10_000_000
"""Limit on the elements of a file; a day of video at 60 frames a second with its sound has fewer."""

# Elements of Matroska whose children are walked.
_PARENTS = {0x18538067: "Segment", 0x1F43B675: "Cluster"}
_FLV_TAGS = frozenset({8, 9, 18})


class Element(NamedTuple):
    """Element of a container: a name for messages, the position after its last byte, and where the next one begins.

    `end` is None where the element states no size. What follows the outermost element is not the container's.
    """

    name: str
    end: int | None
    following: int
    is_outermost: bool = False


class GapError(Exception):
    """Bytes that are no element of the format."""


def check_structure(path: Path, container: str, seconds: float) -> None:
    """Check that the elements of a container follow each other without a gap and lie inside the file.

    Args:
        path: the file.
        container: the format's name in libavformat; formats that state no sizes are not checked.
        seconds: duration that the container states, for the message.

    Raises:
        MediaError: ``truncated`` when an element claims bytes beyond the end of the file, whose copy was interrupted;
            ``gaps`` when bytes are no element of the format; ``damaged`` when a size is impossible, or for more than
            `MAX_ELEMENTS`.
    """
    read = _READERS.get(container)
    if read is None:
        return
    size = limit = path.stat().st_size
    position = 0
    with path.open("rb") as stream:
        for _ in range(MAX_ELEMENTS):
            stream.seek(position)
            try:
                element = read(stream, position, size) if position < limit else None
            except GapError:
                where = f"at byte {position} of {size} are bytes that are no part of it"
                raise MediaError("gaps", f"the container states {seconds:.2f} s, and {where}.") from None
            if element is None:
                return
            if element.end is not None and element.end > size:
                excess = f"the {element.name} ends {element.end - size} bytes after the end of the file"
                raise MediaError("truncated", f"the container states {seconds:.2f} s, and {excess} ({size} bytes).")
            if element.is_outermost and element.end is not None:
                limit = element.end
            position = element.following
    raise MediaError("damaged", f"the file has more than {MAX_ELEMENTS} elements.")


def read_box(stream: BinaryIO, position: int, size: int) -> Element | None:
    """Read a top-level box of ISO media (ISO/IEC 14496-12, 4.2)."""
    head = stream.read(16)
    if len(head) < 8:
        return None
    length, name = struct.unpack(">I4s", head[:8])
    # Length 1 announces a 64-bit length, length 0 a box that extends to the end of the file.
    if length == 1 and len(head) == 16:
        length = struct.unpack(">Q", head[8:])[0]
    elif length == 0:
        length = size - position
    if length < 8:
        raise MediaError("damaged", f"the box at byte {position} has an impossible length of {length}.")
    return Element(f"'{name.decode('latin-1')}' box", position + length, position + length)


def read_ebml(stream: BinaryIO, position: int, size: int) -> Element | None:  # noqa: ARG001
    """Read an element of Matroska (RFC 8794, 4 to 6; RFC 9559, 5); of Segment and Cluster the children follow."""
    head = stream.read(12)
    id_length = 9 - head[0].bit_length()
    if id_length > 4:
        raise GapError
    if len(head) <= id_length:
        return None
    size_length = 9 - head[id_length].bit_length()
    if size_length > 8:
        raise GapError
    start = id_length + size_length
    if len(head) < start:
        return None
    element_id = int.from_bytes(head[:id_length])
    mask = (1 << 7 * size_length) - 1
    length = int.from_bytes(head[id_length:start]) & mask
    if element_id in _PARENTS:
        end = None if length == mask else position + start + length
        name = _PARENTS[element_id]
        return Element(name, end, position + start, is_outermost=name == "Segment")
    if length == mask:
        raise GapError
    return Element(f"element {element_id:X}", position + start + length, position + start + length)


def read_flv(stream: BinaryIO, position: int, size: int) -> Element | None:  # noqa: ARG001
    """Read the header of an FLV file, or a tag with the size of the tag before it (Adobe FLV 10.1, annex E)."""
    head = stream.read(15)
    if position == 0:
        end = int.from_bytes(head[5:9])
        return Element("header", end, end)
    if len(head) < 15:
        return None
    if head[4] & 0x1F not in _FLV_TAGS:
        raise GapError
    end = position + 15 + int.from_bytes(head[5:8])
    return Element("last tag", end, end)


def read_riff(stream: BinaryIO, position: int, size: int) -> Element | None:
    """Read a RIFF chunk of an AVI file."""
    head = stream.read(8)
    length = int.from_bytes(head[4:], "little")
    # Encoders that were interrupted, or write to a pipe, leave 0 or the greatest number.
    if head[:4] != b"RIFF" or length in (0, 2**32 - 1):
        return None
    end = position + 8 + length
    # The byte that pads an odd chunk may be left out at the end.
    return Element("RIFF chunk", size if end == size + 1 else end, end + length % 2)


_READERS: Mapping[str, Callable[[BinaryIO, int, int], Element | None]] = {
    "mov,mp4,m4a,3gp,3g2,mj2": read_box,
    "matroska,webm": read_ebml,
    "flv": read_flv,
    "avi": read_riff,
}
