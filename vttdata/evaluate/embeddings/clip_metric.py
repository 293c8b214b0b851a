"""Base of metrics by embeddings of a CLIP model."""

from __future__ import annotations

from functools import cached_property

from vttdata.evaluate.embeddings.features import Features, open_features
from vttdata.evaluate.metric import VideoMetric
from vttdata.text.lm.pretrained import explain_missing


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
