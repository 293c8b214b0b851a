"""Judges what was made: accuracies with their intervals, and how far a set of foils can be solved without a video."""
