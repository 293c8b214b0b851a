"""Embeddings of videos and texts for metrics: from a file, or by a model, whose results are kept by content.

A file of features is an ``.npz`` with the arrays of videos, of texts, or both:

* ``video_ids`` and ``frame_counts``, (n,), and one below the other the frames of all videos: ``frame_vectors``, (v, d),
  and ``frame_times`` in seconds, (v,), which may be left out;
* ``texts`` and ``token_counts``, (m,), and one below the other the tokens of all texts, the end token of each last:
  ``tokens``, (t,), and ``token_vectors``, (t, d);
* ``model``: how the model is called, for signatures.

With both videos and texts in the file neither a model nor torch is needed.
"""

from __future__ import annotations

import functools
import hashlib
import math
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vttdata.errors import MediaError, VttdataError
from vttdata.evaluate.embeddings.matching import Tokens, Vectors, unit_vectors
from vttdata.evaluate.metric import MetricInputs, VideoMetric, VideoSpan
from vttdata.evaluate.score_cache import keep_arrays, read_arrays
from vttdata.files.reading import file_sha256, refuse_special
from vttdata.ids import VIDEO_EXTENSIONS
from vttdata.text.lm.pretrained import explain_missing, identify_model, split_revision

DEFAULT_MODEL = "openai/clip-vit-base-patch32"
"""CLIP ViT-B/32, which the papers of CLIPScore and EMScore use."""

# Raised whenever the vectors of a video can change.
_VERSION = 1
# Texts of 15 tokens with vectors of 512 numbers take 30 kB each.
_MAX_TEXTS = 16_384


class FrameVectors(NamedTuple):
    """Unit vectors of a video's frames, (v, d), and their times in seconds, (v,); NaN where they are unknown."""

    times: NDArray[np.float64]
    vectors: Vectors


class TextVectors(NamedTuple):
    """Tokens of a text, (t,), and their unit vectors, (t, d); the last one is the whole text's."""

    tokens: Tokens
    vectors: Vectors


@dataclass(frozen=True, slots=True)
class FeatureFile:
    """Content of a file of features: `videos` by their ids, `texts` by themselves; `model` is empty if unknown."""

    path: Path
    model: str
    videos: Mapping[str, FrameVectors]
    texts: Mapping[str, TextVectors]
    digest: str

    @classmethod
    def read(cls, path: Path) -> FeatureFile:
        """Read a file.

        Raises:
            VttdataError: if it cannot be read, its arrays do not fit each other, or a number is not finite.
        """
        try:
            refuse_special(path)
            digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
            with np.load(path, allow_pickle=False) as file:
                arrays = dict(file)
        except (OSError, EOFError, ValueError, zipfile.BadZipFile) as error:
            raise VttdataError(f"{path}: cannot be read as a file of features ({error}).") from error
        videos: dict[str, FrameVectors] = {}
        texts: dict[str, TextVectors] = {}
        if "frame_vectors" in arrays:
            unknown = np.full(len(arrays["frame_vectors"]), math.nan)
            times = np.asarray(arrays.get("frame_times", unknown), dtype=np.float64)
            rows = _split_rows(path, arrays, "video_ids", "frame_counts", "frame_vectors", times)
            videos = {name: FrameVectors(times, vectors) for name, times, vectors in rows}
        if "token_vectors" in arrays:
            tokens = np.asarray(arrays.get("tokens", np.zeros(0)), dtype=np.int64)
            rows = _split_rows(path, arrays, "texts", "token_counts", "token_vectors", tokens)
            texts = {name: TextVectors(tokens, vectors) for name, tokens, vectors in rows}
        if not videos and not texts:
            raise VttdataError(
                f"{path}: holds neither frame_vectors nor token_vectors; docs/evaluate.md has the format."
            )
        widths = {len(row.vectors[0]) for rows in (videos.values(), texts.values()) for row in rows}
        if len(widths) > 1:
            raise VttdataError(f"{path}: the vectors of videos and texts have different lengths.")
        return cls(path, str(arrays.get("model", "")), videos, texts, digest)


def _split_rows(
    path: Path,
    arrays: Mapping[str, NDArray[Any]],
    names: str,
    counts: str,
    vectors: str,
    beside: NDArray[Any],
) -> list[tuple[str, NDArray[Any], Vectors]]:
    """Return the name, the rows of `beside` and the unit vectors of each video or text."""
    missing = [name for name in (names, counts) if name not in arrays]
    if missing:
        raise VttdataError(f"{path}: has {vectors} without {missing[0]}.")
    rows, sizes = arrays[vectors], arrays[counts]
    fits = rows.ndim == 2 and sizes.shape == arrays[names].shape and sizes.ndim == 1 and len(beside) == len(rows)
    if not fits or (sizes < 1).any() or sizes.sum() != len(rows):
        raise VttdataError(f"{path}: {names}, {counts} and {vectors} do not fit each other.")
    if rows.dtype.kind != "f" or not np.isfinite(rows).all():
        raise VttdataError(f"{path}: {vectors} holds something that is not a finite number.")
    ends = np.cumsum(sizes)[:-1]
    parts = (np.split(array, ends) for array in (beside, unit_vectors(rows)))
    return list(zip(map(str, arrays[names].tolist()), *parts, strict=True))


@dataclass(frozen=True)
class Features:
    """Embeddings of videos and texts: those of a file, all others by a model.

    Fields:
        model: name or folder of a model of the CLIP family, with ``@REVISION`` where needed.
        device: where the model computes.
        file: features that are known.
        videos: video file of each video.
        frames: frames of each video, spread evenly; 0 for all.
        cache: folder for vectors of frames, by content; None to keep nothing.
    """

    model: str
    device: str = "cpu"
    file: FeatureFile | None = None
    videos: Mapping[str, Path] = field(default_factory=dict)
    frames: int = 10
    cache: Path | None = None
    _texts: dict[str, TextVectors] = field(default_factory=dict, init=False, repr=False)

    @property
    def identity(self) -> str:
        """Return what vectors depend on, for signatures and caches."""
        parts = [f"{self.file.model or 'features'}@{self.file.digest}"] if self.file else []
        if self.file is None or not (self.file.videos and self.file.texts):
            parts.append(identify_model(*split_revision(self.model)))
        if self.file is None or not self.file.videos:
            files = sorted((name, path.stat().st_size) for name, path in self.videos.items())
            parts.append(f"{self.frames or 'all'}-frames@{hashlib.sha256(repr(files).encode()).hexdigest()[:12]}")
        return ",".join(parts)

    @property
    def _clip(self) -> Any:
        return load_clip(self.model, self.device)

    def read_video(self, span: VideoSpan) -> FrameVectors:
        """Return the vectors of the frames of a video.

        Raises:
            VttdataError: if there is no such video, it cannot be decoded, or it has no frame in the span.
        """
        if self.file is not None and self.file.videos:
            return self._read_known(self.file, span)
        path = self.videos.get(span.video_id)
        if path is None:
            raise VttdataError(
                f"There is no file of the video {span.video_id!a}; --videos DIR names a folder with files "
                "<video_id>.<extension>."
            )
        content = file_sha256(path)
        name = self._name_frames(content, span)
        known = read_arrays(self.cache, name, lambda arrays: FrameVectors(arrays["times"], arrays["vectors"]))
        if known is not None:
            return known
        from vttdata.media.pictures import sample_frames

        times: list[float] = []
        try:
            vectors = self._clip.encode_pictures(
                _note_times(sample_frames(path, self.frames, span.start, span.end), times)
            )
        except MediaError as error:
            raise VttdataError(f"{path}: {error}") from error
        read = FrameVectors(np.array(times), vectors)
        # The commit of a model on the Hub is not known before it was loaded.
        keep_arrays(self.cache, self._name_frames(content, span), read._asdict())
        return read

    def _name_frames(self, content: str, span: VideoSpan) -> str:
        key = [_VERSION, identify_model(*split_revision(self.model)), self.frames, content, span.start, span.end]
        return f"frames-{hashlib.sha256(repr(key).encode()).hexdigest()[:32]}"

    @staticmethod
    def _read_known(file: FeatureFile, span: VideoSpan) -> FrameVectors:
        if span.video_id not in file.videos:
            raise VttdataError(f"{file.path}: has no frames of the video {span.video_id!a}.")
        video = file.videos[span.video_id]
        if span.is_whole:
            return video
        inside = (video.times >= span.start) & (video.times < span.end)
        if not inside.any():
            raise VttdataError(
                f"{file.path}: no frame of the video {span.video_id!a} has a time between {span.start:g} and "
                f"{span.end:g} s."
            )
        return FrameVectors(video.times[inside], video.vectors[inside])

    def tokenize(self, texts: Sequence[str]) -> list[Tokens]:
        """Return the tokens of texts.

        Raises:
            VttdataError: if a file of features has texts and one of these is not among them.
        """
        if self.file is not None and self.file.texts:
            return [_find_text(self.file, text).tokens for text in texts]
        tokens: list[Tokens] = self._clip.tokenize(texts)
        return tokens

    def encode_texts(self, texts: Iterable[str]) -> dict[str, TextVectors]:
        """Return the vectors of texts, each text once.

        Raises:
            VttdataError: as `tokenize`.
        """
        different = list(dict.fromkeys(texts))
        if self.file is not None and self.file.texts:
            return {text: _find_text(self.file, text) for text in different}
        new = [text for text in different if text not in self._texts]
        tokens = self._clip.tokenize(new)
        vectors = self._clip.encode_texts(tokens)
        encoded = {text: self._texts[text] for text in different if text in self._texts}
        encoded |= zip(new, map(TextVectors, tokens, vectors), strict=True)
        # Systems are scored one after another against the same references.
        if len(self._texts) + len(new) > _MAX_TEXTS:
            self._texts.clear()
        self._texts.update(encoded)
        return encoded

    def write(self, path: Path, video_ids: Iterable[str], texts: Iterable[str]) -> None:
        """Write a file of features, from which metrics can be computed without a model.

        Raises:
            VttdataError: as `read_video`.
        """
        videos = {name: self.read_video(VideoSpan(name)) for name in dict.fromkeys(video_ids)}
        encoded = self.encode_texts(texts)
        arrays: dict[str, Any] = {"model": np.array(identify_model(*split_revision(self.model)))}
        if videos:
            arrays |= _join_rows(videos, "video_ids", "frame_counts", ("frame_times", "frame_vectors"))
        if encoded:
            arrays |= _join_rows(encoded, "texts", "token_counts", ("tokens", "token_vectors"))
        np.savez(path, allow_pickle=False, **arrays)


def open_features(inputs: MetricInputs, family: str, cache: Path | None) -> Features:
    """Return the embeddings that a metric works with.

    Raises:
        VttdataError: if the file of features cannot be read.
    """
    return Features(
        inputs.model_of(family) or DEFAULT_MODEL,
        inputs.device,
        FeatureFile.read(inputs.features) if inputs.features else None,
        find_videos(inputs.videos),
        inputs.frames,
        cache,
    )


def _find_text(file: FeatureFile, text: str) -> TextVectors:
    if text not in file.texts:
        raise VttdataError(f"{file.path}: has no vectors of the text {text[:80]!a}.")
    return file.texts[text]


def _join_rows(rows: Mapping[str, Any], names: str, counts: str, columns: tuple[str, str]) -> dict[str, NDArray[Any]]:
    joined = {
        column: np.concatenate(parts) for column, parts in zip(columns, zip(*rows.values(), strict=True), strict=True)
    }
    return {names: np.array(list(rows)), counts: np.array([len(row[0]) for row in rows.values()]), **joined}


def _note_times(frames: Iterable[Any], times: list[float]) -> Iterable[NDArray[np.uint8]]:
    for frame in frames:
        times.append(frame.time)
        yield frame.picture


@functools.lru_cache(maxsize=2)
def load_clip(model: str, device: str) -> Any:
    """Return a model of the CLIP family, loaded once for all metrics; see `Features` for the arguments.

    Raises:
        VttdataError: as `ClipModel.load`.
    """
    from vttdata.evaluate.embeddings.clip_model import ClipModel

    name, revision = split_revision(model)
    return ClipModel.load(name, revision=revision, device=device)


def find_videos(folders: Iterable[Path]) -> dict[str, Path]:
    """Return the video files in folders and their subfolders by their names without extension; the first one counts."""
    found: dict[str, Path] = {}
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.suffix.lower() in VIDEO_EXTENSIONS and path.is_file():
                found.setdefault(path.stem, path)
    return found


class ClipMetric(VideoMetric):
    """Metric that compares embeddings of captions and frames, by a model or from a file."""

    needs = "a CLIP model or a file of embeddings: pip install 'vttdata[build,lm]'"
    uses_tokens = False

    @cached_property
    def features(self) -> Features:
        """Embeddings that the metric's inputs give.

        Raises:
            VttdataError: if the inputs name neither a model nor a file, or these cannot be read.
        """
        return open_features(self.inputs, self.name, self.cache)

    def unavailable(self) -> str | None:
        """Return which library is missing where embeddings are not all in a file."""
        return None if self.inputs.features else explain_missing("av")
