"""The records of human judgments: what an assessor said, and what several of them came to."""

from __future__ import annotations

import dataclasses
from typing import Literal

JudgmentKind = Literal["system", "repeat", "human", "degraded", "reference"]


@dataclasses.dataclass(frozen=True, slots=True)
class Judgment:
    """One assessor's score of one caption of one video, 0 worst to 100 best: what Direct Assessment collects.

    `item` names the question within its HIT, `position` is its place there from 0. `system` wrote the caption; of a
    control item it is the system whose caption was repeated, degraded or, with ``reference``, replaced by a human one.
    A ``human`` caption is judged as a system of its own. `seconds` is the time spent on this item, where it is known.
    """

    hit: str
    worker: str
    item: str
    video_id: str
    system: str
    kind: JudgmentKind
    score: float
    position: int = 0
    seconds: float | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class CaptionScore:
    """What assessors gave one system's caption of one video, averaged: `raw` of 0..100, `z` standardised by worker.

    `assessments` counts what was averaged. `campaign` and `hit` say where published scores come from, `sen_id` which
    caption of the video was judged.
    """

    video_id: str
    system: str
    raw: float
    z: float
    assessments: int
    campaign: str = ""
    hit: str | None = None
    sen_id: int | None = None
