"""Pictures that hold two fields of different times: what their decoder says of them, and their deinterlacing by ffmpeg.

A picture becomes one picture at the same time. Fields are joined with those of the pictures beside them if that gives a
picture without combs, so that film is restored whether it was broadcast field by field or by telecine; the frame that
telecine repeats stays. Pictures that show combs in any case are deinterlaced from their fields and their neighbours.
MPEG-2's flags to repeat fields show film frames as they are.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import av

from vttdata.records import FieldOrder


def field_order(picture: av.VideoFrame) -> FieldOrder:
    """Return in which order the fields of a decoded picture are shown, or that it has none, as its decoder says."""
    if not picture.interlaced_frame:
        return "progressive"
    # PyAV does not tell the order, and the filter lets only pictures pass of which it is true.
    graph = av.filter.Graph()
    source = graph.add_buffer(
        width=picture.width, height=picture.height, format=picture.format, time_base=Fraction(1, 1000)
    )
    graph.link_nodes(source, graph.add("select", "eq(interlace_type,TOPFIRST)"), graph.add("buffersink")).configure()
    graph.push(picture)
    try:
        graph.pull()
    except av.error.BlockingIOError:
        return "bottom_first"
    return "top_first"


def deinterlace(pictures: Any, time_base: Fraction) -> Any:
    """Add the filters to a stream of ffmpeg-python with times in units of `time_base` seconds, which they keep."""
    return (
        pictures.filter("fieldmatch", order="auto", combmatch="full")
        .filter("bwdif", mode="send_frame", parity="auto", deint="interlaced")
        .filter("settb", str(time_base))
    )
