"""Annotation tasks: every module in this folder is one, and so is every module in the user's folder of plugins.

Tasks are listed without importing them, so that help texts stay fast; `vttdata.people.task` imports them.
"""

from __future__ import annotations

from pathlib import Path

from vttdata.plugins import PluginKind

TASKS = PluginKind(Path(__file__).parent, "tasks", "task")
