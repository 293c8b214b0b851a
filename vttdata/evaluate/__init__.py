"""Scores of predictions, and agreement of scores with human judgments."""
