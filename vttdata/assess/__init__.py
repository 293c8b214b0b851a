"""Assess captions by Direct Assessment (Graham et al., PLOS ONE 2018): make HITs, judge workers, score systems.

Files are exchanged with crowd platforms, but nothing is sent to them. Statistical tests need SciPy, which
``vttdata[assess]`` installs.
"""

from vttdata.assess.answers.intake import Results
from vttdata.assess.answers.read import read_results
from vttdata.assess.answers.wmt import read_moments
from vttdata.assess.hits.hit_records import HitPlan, HitSettings
from vttdata.assess.hits.make import make_hits
from vttdata.assess.manifest import read_manifest
from vttdata.assess.scores import caption_scores, standardise, system_intervals, system_scores, worker_moments
from vttdata.assess.significance import Significance, significance
from vttdata.assess.summary import Summary, score_hits, summarise
from vttdata.assess.two_evaluations import replication
from vttdata.assess.workers import ReliabilitySettings, WorkerReport, judge_workers, reliable_only

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
