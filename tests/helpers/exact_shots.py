"""Detect shots in exact mode, for tests of rules that must see every frame."""

from __future__ import annotations

from pathlib import Path

from vttdata.media.shots import detect as shots
from vttdata.media.shots.detect import Detection, ShotSettings

EXACT = ShotSettings(method="exact")


def detect_shots(path: Path, settings: ShotSettings = EXACT, *, source_id: str = "", threads: int = 1) -> Detection:
    return shots.detect_shots(path, settings, source_id=source_id, threads=threads)
