"""Direct Assessment of captions (Graham et al., PLOS ONE 2018): judgments in, reliable workers, scores, significance.

It reads and reckons; making HITs and pages is not done here. Tests need SciPy, which ``vttdata[assess]`` brings.
"""

from vttdata.assess.correlation import (
    Correlation,
    WilliamsTest,
    compare_metrics,
    correlate,
    metric_agreement,
    replication,
    williams,
)
from vttdata.assess.layouts import read_results
from vttdata.assess.reliability import ReliabilitySettings, WorkerReport, judge_workers, reliable_only
from vttdata.assess.results import Results, read_manifest
from vttdata.assess.scores import bootstrap, caption_scores, standardise, system_scores, worker_moments
from vttdata.assess.significance import Significance, significance
from vttdata.assess.summary import Summary, summarise
from vttdata.assess.wmt import read_moments

__all__ = [
    "Correlation",
    "ReliabilitySettings",
    "Results",
    "Significance",
    "Summary",
    "WilliamsTest",
    "WorkerReport",
    "bootstrap",
    "caption_scores",
    "compare_metrics",
    "correlate",
    "judge_workers",
    "metric_agreement",
    "read_manifest",
    "read_moments",
    "read_results",
    "reliable_only",
    "replication",
    "significance",
    "standardise",
    "summarise",
    "system_scores",
    "williams",
    "worker_moments",
]
