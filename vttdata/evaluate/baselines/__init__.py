"""Baselines: every module in this folder is one, and so is every module in a user's ``baselines/``.

A baseline uses no model of language or vision. `vttdata.evaluate.baseline` imports them.
"""

from __future__ import annotations

from pathlib import Path

from vttdata.plugins import PluginKind

BASELINES = PluginKind(Path(__file__).parent, "baselines", "baseline")
