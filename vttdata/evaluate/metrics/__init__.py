"""Captioning metrics: every module in this folder is a family, and so is every module in a user's ``metrics/``.

Metrics are listed without importing them, so that help texts stay fast; `vttdata.evaluate.metric` imports them.
"""

from __future__ import annotations

from pathlib import Path

from vttdata.plugins import PluginKind

METRICS = PluginKind(Path(__file__).parent, "metrics", "metric")

DEFAULT_METRICS = ("bleu", "rouge-l", "cider-d", "chrf")
"""Metrics that are computed where none is named."""
