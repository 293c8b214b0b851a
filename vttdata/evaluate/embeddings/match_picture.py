"""Picture of EMScore's precision: each token of a caption with the frame that it matches best."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw

from vttdata.evaluate.embeddings.clip_model import ClipModel
from vttdata.evaluate.embeddings.matching import Match, match_vectors, video_vector
from vttdata.media.pictures import sample_frames, save_png

# Pixels of a thumbnail, the space around it, and a line of text.
_WIDTH, _HEIGHT, _GAP, _LINE = 160, 90, 6, 16
_COLUMNS = 6
_BACKGROUND, _TEXT = (24, 24, 24), (230, 230, 230)


@dataclass(frozen=True)
class TokenMatch:
    """Token of a caption and the frame that is nearest to it: its number among the frames, its time, the cosine."""

    token: str
    frame: int
    seconds: float
    cosine: float


def match_frames(
    clip: ClipModel, video: Path, caption: str, *, frames: int = 10, target: Path | None = None
) -> tuple[Match, list[TokenMatch]]:
    """Match the tokens of a caption with frames of a video, all tokens with the same weight.

    Args:
        clip: model.
        video: a local video file.
        caption: text.
        frames: how many, spread evenly; 0 for all.
        target: file of the picture, a PNG that is replaced if it exists; None for no picture.

    Returns:
        Parts of EMScore, and the best frame of each token.

    Raises:
        MediaError: when the video cannot be decoded.
        OSError: when the picture cannot be written.
    """
    thumbnails: list[tuple[float, Image.Image]] = []

    def pictures() -> Iterator[npt.NDArray[np.uint8]]:
        # Of the frames, which may be many and large, only thumbnails stay in memory.
        for frame in sample_frames(video, frames):
            thumbnail = Image.fromarray(frame.picture)
            thumbnail.thumbnail((_WIDTH, _HEIGHT))
            thumbnails.append((frame.time, thumbnail))
            yield frame.picture

    frame_vectors = clip.encode_pictures(pictures())
    (tokens,) = clip.tokenize([caption])
    (token_vectors,) = clip.encode_texts([tokens])
    similarity = token_vectors @ frame_vectors.T
    best = similarity.argmax(axis=1)
    matches = [
        TokenMatch(text, int(frame), thumbnails[frame][0], float(row[frame]))
        for text, frame, row in zip(clip.token_texts(tokens), best, similarity, strict=True)
    ]
    if target is not None:
        _draw([thumbnail for _, thumbnail in thumbnails], matches, target)
    coarse = float(token_vectors[-1] @ video_vector(frame_vectors))
    return match_vectors(token_vectors, frame_vectors, coarse), matches


def _draw(thumbnails: Sequence[Image.Image], matches: Sequence[TokenMatch], target: Path) -> None:
    cell_width, cell_height = _WIDTH + _GAP, 2 * _LINE + _HEIGHT + 2 * _GAP
    rows = -(-len(matches) // _COLUMNS)
    sheet = Image.new("RGB", (min(len(matches), _COLUMNS) * cell_width + _GAP, rows * cell_height + _GAP), _BACKGROUND)
    draw = ImageDraw.Draw(sheet)
    for number, match in enumerate(matches):
        x, y = _GAP + number % _COLUMNS * cell_width, _GAP + number // _COLUMNS * cell_height
        thumbnail = thumbnails[match.frame]
        draw.text((x, y), match.token, fill=_TEXT)
        sheet.paste(thumbnail, (x + (_WIDTH - thumbnail.width) // 2, y + _LINE + (_HEIGHT - thumbnail.height) // 2))
        draw.text((x, y + _LINE + _HEIGHT), f"{match.seconds:.2f} s  {match.cosine:.3f}", fill=_TEXT)
    save_png(sheet, target)
