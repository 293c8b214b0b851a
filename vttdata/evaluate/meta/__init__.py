"""Compare metrics and evaluations with human judgments: ``vttdata metric test``, `evaluate_metrics`."""

from vttdata.evaluate.meta.comparison import ComparisonSettings, evaluate_metrics

__all__ = ["ComparisonSettings", "evaluate_metrics"]
