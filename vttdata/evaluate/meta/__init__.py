"""Compare metrics and evaluations with human judgments."""
