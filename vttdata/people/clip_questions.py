"""Questions that only somebody who has seen a clip can answer: which of several captions, or pictures, is of it.

They are drawn from a campaign's own clips: from captions that some of them have, or from a picture of each.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from vttdata.errors import MediaError
from vttdata.people.task import Item, Material

CHOICES = 4
"""Most choices of a question."""

# So many clips are drawn for each question, as some are too much alike.
_CLIPS_PER_QUESTION = 3
# Mean difference of two pictures, 0..255, from which on they are apart: among 32 real videos, nine in ten pairs of
# edited copies of one film differ by less, and nine in ten pairs of different films by more.
_APART = 30.0
_COMPARED = 8
_JPEG_QUALITY = 80


class _Picture(NamedTuple):
    """Picture from the middle of a clip: as the page shows it, and (8, 8, 3) of 0..255 for comparison."""

    address: str
    pixels: npt.NDArray[np.float32]


def clip_questions(
    material: Material,
    clips: Mapping[str, Path | str],
    captions: Mapping[str, str],
    number: int,
    words_of: Callable[[str], Collection[str]],
) -> list[Item]:
    """Return items that ask which of up to four captions, or else pictures, is of a clip.

    The wrong choices are of other sources, and have no word in common with the right one or look different. Pictures
    need videos that are files. An item's facts have ``right``, the index of the right one of ``shown["choices"]``.

    Args:
        material: of the campaign; its secret decides which clips and choices are drawn.
        clips: `video_id` -> file or URL.
        captions: `video_id` -> a caption, for the clips that have one.
        number: most items; there are fewer where clips are too few or too much alike.
        words_of: returns the words by which captions are told apart.
    """
    names = sorted(clips)
    material.draw_in_secret("questions").shuffle(names)
    words = {name: frozenset(words_of(captions[name])) for name in names if name in captions}
    texts = {name: {"text": captions[name]} for name in words if words[name]}
    items = _ask(material, texts, number, lambda one, other: words[one].isdisjoint(words[other]))
    if items:
        return items
    drawn = names[: _CLIPS_PER_QUESTION * number + CHOICES]
    pictures = {name: picture for name in drawn if (picture := _picture(clips[name])) is not None}
    addresses = {name: {"picture": picture.address} for name, picture in pictures.items()}

    def look_different(one: str, other: str) -> bool:
        return float(np.abs(pictures[one].pixels - pictures[other].pixels).mean()) >= _APART

    return _ask(material, addresses, number, look_different)


def _ask(
    material: Material, choices: Mapping[str, Mapping[str, str]], number: int, are_apart: Callable[[str, str], bool]
) -> list[Item]:
    """Return an item for each of some clips that has another one to be told apart from."""
    items: list[Item] = []
    for name in choices:
        source = material.source_of.get(name, name)
        others = [
            other
            for other in choices
            if other != name and material.source_of.get(other, other) != source and are_apart(name, other)
        ]
        if not others or len(items) == number:
            continue
        draw = material.draw_in_secret("question", name)
        offered: Sequence[str] = [name, *draw.sample(others, min(CHOICES - 1, len(others)))]
        offered = draw.sample(offered, len(offered))
        shown: dict[str, Any] = {"choices": [dict(choices[offer]) for offer in offered]}
        facts, wrong = {"right": offered.index(name)}, [offer for offer in offered if offer != name]
        items.append(Item(material.name("question", name), name, shown, facts, wrong))
    return items


def _picture(video: Path | str) -> _Picture | None:
    """Return a picture of a clip, None where it is a URL or has none."""
    if isinstance(video, str):
        return None
    # Pillow and PyAV are needed for files alone.
    from vttdata.media.contact_sheet import middle_thumbnail
    from vttdata.media.pictures import resize

    try:
        picture = middle_thumbnail(video)
    except (MediaError, OSError):
        # A file that cannot be shown is refused by its name when it is prepared for the page.
        return None
    stream = io.BytesIO()
    picture.save(stream, format="JPEG", quality=_JPEG_QUALITY)
    address = f"data:image/jpeg;base64,{base64.b64encode(stream.getvalue()).decode()}"
    return _Picture(address, resize(np.asarray(picture), _COMPARED, _COMPARED, "bilinear"))
