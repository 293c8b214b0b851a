"""Metrics and evaluations compared with human judgments."""
