"""Blind attackers: every module in this folder is one, and so is every module in a user's ``blind/``.

`vttdata.generate.blind.attacker` says what such a module defines, and imports them.
"""

from __future__ import annotations

from pathlib import Path

from vttdata.plugins import PluginKind

ATTACKERS = PluginKind(Path(__file__).parent, "blind", "blind attacker")
