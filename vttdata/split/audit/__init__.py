"""Audit of splits: sources, overlaps, near-duplicates and captions that cross a split."""
