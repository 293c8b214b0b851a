"""Have people choose, caption, rate and check, invited or on a crowd platform, and score what they answer.

Ratings of captions are judged by Direct Assessment (Graham et al., PLOS ONE 2018). Statistical tests need SciPy.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vttdata.people.answers.intake import Results
    from vttdata.people.answers.manifest import read_manifest
    from vttdata.people.answers.read import read_results
    from vttdata.people.answers.wmt import read_moments
    from vttdata.people.campaign import make_campaign
    from vttdata.people.hits.hit_records import HitPlan, HitSettings
    from vttdata.people.hits.make import make_hits
    from vttdata.people.scoring.score_hits import Summary, score_hits, summarise
    from vttdata.people.scoring.scores import (
        caption_scores,
        standardise,
        system_intervals,
        system_scores,
        worker_moments,
    )
    from vttdata.people.scoring.significance import Significance, significance
    from vttdata.people.scoring.two_evaluations import replication
    from vttdata.people.scoring.workers import ReliabilitySettings, WorkerReport, judge_workers, reliable_only

__all__ = [
    "HitPlan",
    "HitSettings",
    "ReliabilitySettings",
    "Results",
    "Significance",
    "Summary",
    "WorkerReport",
    "caption_scores",
    "judge_workers",
    "make_campaign",
    "make_hits",
    "read_manifest",
    "read_moments",
    "read_results",
    "reliable_only",
    "replication",
    "score_hits",
    "significance",
    "standardise",
    "summarise",
    "system_intervals",
    "system_scores",
    "worker_moments",
]

_MODULES = {
    "HitPlan": "vttdata.people.hits.hit_records",
    "HitSettings": "vttdata.people.hits.hit_records",
    "ReliabilitySettings": "vttdata.people.scoring.workers",
    "Results": "vttdata.people.answers.intake",
    "Significance": "vttdata.people.scoring.significance",
    "Summary": "vttdata.people.scoring.score_hits",
    "WorkerReport": "vttdata.people.scoring.workers",
    "caption_scores": "vttdata.people.scoring.scores",
    "judge_workers": "vttdata.people.scoring.workers",
    "make_campaign": "vttdata.people.campaign",
    "make_hits": "vttdata.people.hits.make",
    "read_manifest": "vttdata.people.answers.manifest",
    "read_moments": "vttdata.people.answers.wmt",
    "read_results": "vttdata.people.answers.read",
    "reliable_only": "vttdata.people.scoring.workers",
    "replication": "vttdata.people.scoring.two_evaluations",
    "score_hits": "vttdata.people.scoring.score_hits",
    "significance": "vttdata.people.scoring.significance",
    "standardise": "vttdata.people.scoring.scores",
    "summarise": "vttdata.people.scoring.score_hits",
    "system_intervals": "vttdata.people.scoring.scores",
    "system_scores": "vttdata.people.scoring.scores",
    "worker_moments": "vttdata.people.scoring.scores",
}


def __getattr__(name: str) -> Any:
    """Import a public function on first use, so that the list of tasks is read without NumPy."""
    if name not in _MODULES:
        raise AttributeError(f"module 'vttdata.people' has no attribute '{name}'")
    return getattr(importlib.import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    """Return the public names, also those that are not imported yet."""
    return [*__all__]
