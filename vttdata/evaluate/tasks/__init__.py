"""Evaluation tasks: every module in this folder is one, and so is every module in a user's ``evaluation_tasks/``.

Tasks are listed without importing them, so that help texts stay fast; `vttdata.evaluate.task` imports them.
"""

from __future__ import annotations

from pathlib import Path

from vttdata.plugins import PluginKind

TASKS = PluginKind(Path(__file__).parent, "evaluation_tasks", "task")
