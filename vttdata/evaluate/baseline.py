"""Contract of baselines, and what they work from: training clips, stored colours of shots, draws by item.

A baseline is a module of `vttdata.evaluate.baselines`, or of ``baselines/`` in a user's folder of plugins, that defines
`BASELINE`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, NamedTuple

import numpy as np

from vttdata.dataset.front_matter import read_layout
from vttdata.dataset.parquet import read_parquet_rows
from vttdata.errors import VttdataError
from vttdata.evaluate.baselines import BASELINES
from vttdata.evaluate.embeddings.features import FeatureFile
from vttdata.evaluate.embeddings.matching import video_vector
from vttdata.evaluate.items import ItemsT
from vttdata.export.reader import DatasetReader
from vttdata.json_types import Row
from vttdata.statistics.arrays import Floats

# Share of training sources on which settings are chosen where there is no split for it.
_TUNING_SHARE = 0.1


class TrainingClip(NamedTuple):
    """Clip with its human captions that a baseline learns from."""

    video_id: str
    source_id: str
    category: object
    captions: Sequence[str]


@dataclass(frozen=True)
class Setting(Generic[ItemsT]):
    """Items to predict for, and what a baseline may use.

    `items` come without their captions' being used as predictions for themselves; `seed` is that of random choices, and
    `features` a file of embeddings of clips, training ones too, see `vttdata.evaluate.embeddings.features`.
    """

    items: ItemsT
    folder: Path
    seed: int = 0
    features: Path | None = None

    @cached_property
    def training(self) -> list[TrainingClip]:
        """Clips of the split ``train``, without those of the items' sources.

        Raises:
            VttdataError: if there is no such split, it is the one that is scored, or all its clips are of the items'
                sources.
        """
        clips = self._clips("train")
        if clips is None:
            raise VttdataError(f"{self.folder}: this baseline learns from the split train, which is not there.")
        if not clips:
            raise VttdataError(
                f"{self.folder}: no clip of the split train has captions and is of another source than the items, so "
                "this baseline cannot learn."
            )
        return clips

    def divide_training(self) -> tuple[list[TrainingClip], list[TrainingClip]]:
        """Return clips to learn from, and clips on which settings are chosen: those of the split ``validation``.

        Without such a split it is every tenth training source, drawn by its name; there may be none. Sources of the
        items and of clips to learn from are left out.
        """
        validation = self._clips("validation")
        if validation:
            learned = {clip.source_id for clip in self.training}
            return self.training, [clip for clip in validation if clip.source_id not in learned]
        is_tuning = {c.source_id: self.draw(c.source_id, "tuning").random() < _TUNING_SHARE for c in self.training}
        if all(is_tuning.values()):
            return self.training, []
        learned_from = [clip for clip in self.training if not is_tuning[clip.source_id]]
        return learned_from, [clip for clip in self.training if is_tuning[clip.source_id]]

    def _clips(self, split: str) -> list[TrainingClip] | None:
        """Return the captioned clips of a split that are of other sources than the items; None without the split."""
        files = read_layout(self.folder, needs="clips").files
        config = self.items.config if split in files.get(self.items.config, {}) else "clips"
        if split not in files[config] or (config, split) == (self.items.config, self.items.split):
            return None
        sources = set(self.items.source_ids)
        names = DatasetReader(self.folder).categories
        columns = ("video_id", "source_id", "category", "captions")
        return [
            TrainingClip(
                row["video_id"],
                row["source_id"],
                names[row["category"]] if isinstance(row["category"], int) else row["category"],
                row["captions"],
            )
            for row in read_parquet_rows(files[config][split], columns)
            if row["captions"] and row["source_id"] not in sources
        ]

    def draw(self, item: str, purpose: str) -> random.Random:
        """Return a generator that depends on the seed, the item and the purpose alone."""
        return random.Random(f"{self.seed}\n{item}\n{purpose}")

    def compare_looks(self, video_ids: Sequence[str], others: Sequence[str]) -> Floats:
        """Return how alike n clips and m others look, (n, m), by a kernel.

        With a file of features it is the cosine of the directions of their mean vectors, else the intersection of the
        colour histograms that the build stored.

        Raises:
            VttdataError: if a clip has no features, or the build stored no colours of it.
        """
        if self.features is None:
            ours, theirs = self.colours(video_ids), self.colours(others)
            return np.stack([np.minimum(histogram, theirs).sum(axis=1) for histogram in ours])
        cosines: Floats = self._read_features(video_ids) @ self._read_features(others).T
        return cosines

    @cached_property
    def _feature_file(self) -> FeatureFile:
        assert self.features is not None
        return FeatureFile.read(self.features)

    def _read_features(self, video_ids: Sequence[str]) -> Floats:
        videos = self._feature_file.videos
        missing = [video_id for video_id in video_ids if video_id not in videos]
        if missing:
            raise VttdataError(
                f"{self.features}: has no features of {len(missing):,} of {len(video_ids):,} clips that the baseline "
                f"needs (first {missing[0][:80]!a}); it needs those of training clips, too."
            )
        return np.stack([video_vector(videos[video_id].vectors) for video_id in video_ids]).astype(np.float64)

    def colours(self, video_ids: Sequence[str]) -> Floats:
        """Return the mean colour histogram of each clip's shots, as the build stored them; n x bins.

        Raises:
            VttdataError: if the dataset is not in a build with shots, or a clip has none.
        """
        stages = self.folder.parent / "stages"
        paths = [stages / "shots" / "kept.parquet", stages / "split" / "kept.parquet"]
        if not all(path.is_file() for path in paths):
            raise VttdataError(
                f"{self.folder}: colours of shots are stored by builds that find shots; this dataset is in none. "
                "Name a file of features (--features)."
            )
        shots: dict[str, list[Row]] = {}
        for shot in read_parquet_rows(paths[:1], ("source_id", "start", "end", "colours")):
            shots.setdefault(shot["source_id"], []).append(shot)
        clips = {
            row["video_id"]: row for row in read_parquet_rows(paths[1:], ("video_id", "source_id", "start", "end"))
        }
        return np.stack([_mean_colours(video_id, clips, shots) for video_id in video_ids])


def _mean_colours(video_id: str, clips: dict[str, Row], shots: dict[str, list[Row]]) -> Floats:
    weighted = []
    if video_id in clips:
        clip = clips[video_id]
        for shot in shots.get(clip["source_id"], ()):
            shared = min(clip["end"], shot["end"]) - max(clip["start"], shot["start"])
            if shared > 0 and shot["colours"]:
                weighted.append((shared, np.array(shot["colours"])))
    if not weighted:
        raise VttdataError(f"The build stored no shot of the clip {video_id!a}.")
    total: Floats = sum(seconds * colours for seconds, colours in weighted) / sum(seconds for seconds, _ in weighted)
    return total


@dataclass(frozen=True, slots=True)
class Baseline:
    """Baseline of a task.

    Fields:
        task: that it predicts for.
        predict: captions of the items (n texts), similarities of their first captions and the clips (n x n), or scores
            of the true text and the foil (n pairs); raises VttdataError where it cannot be computed.
    """

    task: str
    predict: Callable[[Setting[Any]], Any]


def load_baseline(name: str) -> Baseline:
    """Import a baseline.

    Raises:
        VttdataError: if there is none of this name, or its module does not define `BASELINE`.
    """
    return BASELINES.load_definition(name, "BASELINE", Baseline)


def word_vectors(texts: Sequence[str], others: Sequence[str]) -> tuple[Any, Any]:
    """Return TF-IDF vectors of texts and of others as sparse matrices with rows of length 1.

    Words are those of `others`, which also say how rare each is.

    Raises:
        VttdataError: if scikit-learn is not installed.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer: Any = TfidfVectorizer()
    vectors = vectorizer.fit_transform(others)
    return vectorizer.transform(texts), vectors
