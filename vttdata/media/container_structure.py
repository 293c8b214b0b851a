"""Walk the elements of a container without decoding, to notice a file that was cut off or has a hole.

Demuxers resume after damage and end quietly where a file ends, so what is missing shows neither in packets nor in
frames. ISO media, Matroska (WebM), FLV and AVI state the size of each element, and Ogg numbers its pages, marks the
last one and states a checksum of each. MPEG-TS, MPEG-PS and raw streams state neither sizes nor a duration; a part of
such a file is a whole one.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import BinaryIO, NamedTuple

from vttdata.errors import MediaError

MAX_ELEMENTS = 10_000_000
"""Limit on the elements of a file; a day of video at 60 frames a second with its sound has fewer."""

# Elements of Matroska whose children are walked.
_PARENTS = {0x18538067: "Segment", 0x1F43B675: "Cluster"}
# The others outside of and in them (RFC 9559, 5.1), and those that may be anywhere (RFC 8794, 11.3, and its draft of
# 2012). Readers skip an element that they do not know with all that its size claims, so that noise hides what follows.
_EBML_CHILDREN = frozenset(
    (
        *(0x1A45DFA3, 0x114D9B74, 0x1549A966, 0x1654AE6B, 0x1C53BB6B, 0x1941A469, 0x1043A770, 0x1254C367),
        *(0xE7, 0xAB, 0xA7, 0xA3, 0xA0, 0xAF, 0x5854),
        *(0xEC, 0xBF, 0x1B538667),
    )
)
_FLV_TAGS = frozenset({8, 9, 18})
_OGG_LAST_PAGE = 4
_REVERSED_BITS = bytes(int(f"{value:08b}"[::-1], 2) for value in range(256))
# A number of a stream and two letters, an index, or a name.
_FOURCC = re.compile(rb"[0-9A-F]{2}[a-z_]{2}|ix[0-9]{2}|[A-Za-z_][A-Za-z0-9_ ]{3}")
_MEDIA_BOX, _INDEX_BOX = "'mdat' box", "'moov' box"
# Boxes with which ISO media begin.
_FIRST_BOXES = tuple(f"'{name}' box" for name in ("ftyp", "mdat", "moov", "wide", "free", "skip"))
_AVI_PARENTS = (b"RIFF", b"LIST")
_AVI_FRAME_LISTS = (b"movi", b"rec ")


class Element(NamedTuple):
    """Element of a container: a name for messages, the position after its last byte, and where the next one begins.

    `end` is None where the element states no size. What follows the outermost element is not the container's. An
    element whose `following` comes before its `end` has children.
    """

    name: str
    end: int | None
    following: int
    is_outermost: bool = False


class GapError(Exception):
    """Bytes that are no element of the format."""


def check_structure(path: Path, container: str, seconds: float) -> int:
    """Check that the elements of a container follow each other without a gap and lie inside the file.

    `container` is the format's name in libavformat; formats that state no sizes are not checked. The message says which
    duration in seconds the container states.

    Returns:
        Bytes that the last box of pictures and sound ('mdat') of ISO media claims beyond the end of the file, 0 in
        whole files and in other formats. Which of them are missing is in the index of the file.

    Raises:
        MediaError: ``truncated`` when another element claims bytes beyond the end of the file, whose copy was
            interrupted; ``gaps`` when bytes are no element of the format; ``damaged`` when a size is impossible or a
            checksum does not match, or for more than `MAX_ELEMENTS`.
    """
    read = OggPages().read if container == "ogg" else _READERS.get(container)
    if read is None:
        return 0
    size = limit = path.stat().st_size
    position = parent_end = 0
    stated = f"the container states {seconds:.2f} s"
    with path.open("rb") as stream:
        for _ in range(MAX_ELEMENTS):
            stream.seek(position)
            gap = MediaError("gaps", f"{stated}, and at byte {position} of {size} are bytes that are no part of it.")
            try:
                element = read(stream, position, size) if position < size else None
            except GapError:
                if position < limit:
                    raise gap from None
                return 0
            if element is None or (position >= limit and not element.is_outermost):
                return 0
            end = element.following if element.end is None else element.end
            if end > size:
                return _excess(element.name, end, size, stated)
            if element.is_outermost:
                limit = size if element.end is None else end
            elif end > (parent_end if position < parent_end else limit):
                raise gap
            elif element.following < end:
                parent_end = end
            position = element.following
    raise MediaError("damaged", f"the file has more than {MAX_ELEMENTS} elements.")


def _excess(name: str, end: int, size: int, stated: str) -> int:
    if name == _MEDIA_BOX:
        return end - size
    excess = f"the {name} ends {end - size} bytes after the end of the file ({size} bytes)"
    raise MediaError("truncated", f"{stated}, and {excess}.")


def check_index(path: Path) -> None:
    """Check that a file that begins as ISO media holds its index, without which no demuxer opens it.

    Raises:
        MediaError: ``truncated`` when the file ends before its index, or within it; ``damaged`` for a box of an
            impossible length.
    """
    size, position = path.stat().st_size, 0
    with path.open("rb") as stream:
        for _ in range(MAX_ELEMENTS):
            stream.seek(position)
            box = read_box(stream, position, size)
            if box is None or (position == 0 and box.name not in _FIRST_BOXES):
                break
            missing = box.following - size
            if missing > 0:
                lacks = "its index (the 'moov' box) is missing" if box.name != _INDEX_BOX else "its index is incomplete"
                excess = f"the file ends after {size} bytes, and the {box.name} needs {missing} bytes more"
                raise MediaError("truncated", f"{lacks}: {excess}.")
            if box.name == _INDEX_BOX:
                return
            position = box.following
    if position:
        lacks = "its index (the 'moov' box), which most recorders write last, is missing"
        raise MediaError("truncated", f"{lacks}: the file ends after {size} bytes.")


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
    if length == mask or element_id not in _EBML_CHILDREN:
        raise GapError
    # A frame of track 0, which is none.
    if element_id == 0xA3 and head[start : start + 1] == b"\x80":
        raise GapError
    return Element(f"element {element_id:X}", position + start + length, position + start + length)


def read_flv(stream: BinaryIO, position: int, size: int) -> Element | None:  # noqa: ARG001
    """Read the header of an FLV file, or a tag with the size of the tag before it (Adobe FLV 10.1, annex E)."""
    head = stream.read(15)
    if position == 0:
        end = int.from_bytes(head[5:9])
        return Element("header", end, end)
    # The size of the last tag follows it, which some writers leave out.
    if len(head) == 4:
        return None
    if len(head) == 15 and head[4] & 0x1F not in _FLV_TAGS:
        raise GapError
    end = position + 15 + int.from_bytes(head[5:8]) if len(head) == 15 else position + 15
    return Element("last tag", end, end)


def read_riff(stream: BinaryIO, position: int, size: int) -> Element | None:
    """Read a chunk of an AVI file; of RIFF and of its lists of frames the children follow."""
    # Some writers do not pad chunks of odd length.
    stream.seek(max(position - 1, 0))
    head = stream.read(13)
    if position:
        if _FOURCC.match(head, 1) or not _FOURCC.match(head):
            head = head[1:]
        else:
            position -= 1
    name, length, list_type = head[:4], int.from_bytes(head[4:8], "little"), head[8:12]
    if len(head) < 8 and position + len(head) >= size:
        return None
    if not _FOURCC.match(name):
        raise GapError
    # Encoders that were interrupted, or write to a pipe, leave 0 or the greatest number.
    if name in _AVI_PARENTS and length in (0, 2**32 - 1):
        return None
    end = position + 8 + length
    # The byte that pads an odd chunk may be left out at the end.
    following, end = end + length % 2, size if end == size + 1 else end
    if name == b"RIFF" or (name == b"LIST" and list_type in _AVI_FRAME_LISTS):
        following = position + 12
    return Element(f"'{name.decode()}' chunk", end, following, is_outermost=name == b"RIFF")


class OggPages:
    """Pages of an Ogg file (RFC 3533, 6), in the order of the file."""

    def __init__(self) -> None:
        # Streams whose last page has not come, and the number of their next page.
        self._next_pages: dict[bytes, int] = {}

    def read(self, stream: BinaryIO, position: int, size: int) -> Element | None:
        """Read a page; the end of the file is beyond its end while the last page of a stream is still to come."""
        head = stream.read(27)
        is_page = head[:4] == b"OggS"[: len(head)]
        if not is_page and position and not self._next_pages:
            return None
        if not is_page:
            raise GapError
        if len(head) < 27:
            return Element("last page", position + 27, position + 27)
        serial, number = head[14:18], int.from_bytes(head[18:22], "little")
        if self._next_pages.get(serial, number) != number:
            raise GapError
        self._next_pages[serial] = (number + 1) % 2**32
        if head[5] & _OGG_LAST_PAGE:
            del self._next_pages[serial]
        lengths = stream.read(head[26])
        end = position + 27 + head[26] + sum(lengths)
        if end <= size:
            # The checksum was computed with zeros in its place. The polynomial is zlib's, but it takes the bits of each
            # byte in the other order, and starts and ends with zeros.
            page = b"".join((head[:22], bytes(4), head[26:], lengths, stream.read(sum(lengths))))
            stated = int.from_bytes(head[22:26].translate(_REVERSED_BITS))
            if zlib.crc32(page.translate(_REVERSED_BITS), 2**32 - 1) ^ (2**32 - 1) != stated:
                raise MediaError("damaged", f"the page at byte {position} does not match its checksum.")
        if end == size and self._next_pages:
            return Element("page that should follow", end + 27, end)
        return Element("last page", end, end)


_READERS: Mapping[str, Callable[[BinaryIO, int, int], Element | None]] = {
    "mov,mp4,m4a,3gp,3g2,mj2": read_box,
    "matroska,webm": read_ebml,
    "flv": read_flv,
    "avi": read_riff,
}
