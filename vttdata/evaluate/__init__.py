"""Measure the agreement of metrics and evaluations with human judgments."""
