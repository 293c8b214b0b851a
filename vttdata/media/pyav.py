"""Hide what differs between the versions of PyAV that pip takes: 18 for Python 3.11, 19 and newer for the others.

Before PyAV 19, metadata in another encoding than UTF-8 is an error unless it is told otherwise, and no side data can be
read of a frame that has a type of it which libavutil knows and PyAV does not. Ratios (time bases, frame rates, aspects)
are fractions there and None where they are unset; since then they are numbers that multiply and divide like fractions,
without `as_integer_ratio`, and false where they are unset. A decoder that could not be opened is gone in PyAV 19, where
the next packet raises ValueError and no error of libavcodec.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import av
import numpy as np
import numpy.typing as npt
from av.sidedata.sidedata import Type as SideDataType

_OPEN_OPTIONS: dict[str, Any] = {"metadata_errors": "replace"} if int(av.__version__.split(".")[0]) < 19 else {}


def open_input(url: str, options: Mapping[str, str]) -> Any:
    """Open a media file for reading, with options of libavformat; its metadata may be in any encoding.

    Raises:
        av.error.FFmpegError: when it cannot be opened.
    """
    return av.open(url, options=dict(options), **_OPEN_OPTIONS)


def decode_packet(packet: Any) -> list[Any]:
    """Return the frames that a decoder gives out for a packet.

    Raises:
        av.error.FFmpegError: when it cannot be decoded, or no packet can, since the decoder cannot be opened.
    """
    try:
        return packet.decode()  # type: ignore[no-any-return]
    except av.error.FFmpegError:
        raise
    except ValueError as error:
        raise av.error.InvalidDataError(av.error.tag_to_code(b"INDA"), str(error)) from error


def display_matrix(picture: Any) -> npt.NDArray[np.float64] | None:
    """Return the nine numbers by which a decoded picture is turned and mirrored for display; None without them."""
    data = picture.side_data.get("DISPLAYMATRIX")
    return None if data is None else np.frombuffer(data, np.int32).astype(np.float64)


def _unknown_type(cls: Any, value: object) -> Any:
    """Return a member for a type of side data that PyAV has no name for, as PyAV 19 does."""
    if not isinstance(value, int):
        return None
    member = object.__new__(cls)
    member._name_, member._value_ = f"UNKNOWN_{value}", value
    return cls._value2member_map_.setdefault(value, member)


if "_missing_" not in vars(SideDataType):
    setattr(SideDataType, "_missing_", classmethod(_unknown_type))  # noqa: B010 -- mypy refuses to assign a method
