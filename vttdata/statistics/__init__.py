"""Statistics of arrays: intervals, correlations, agreement and tests."""
