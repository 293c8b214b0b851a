"""Near-duplicate sources, found by their fingerprints."""
