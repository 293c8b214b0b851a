"""Compare metrics and evaluations with human judgments: ``vttdata evaluate-metric``, `evaluate_metrics`."""

from vttdata.evaluate.meta.comparison import evaluate_metrics

__all__ = ["evaluate_metrics"]
