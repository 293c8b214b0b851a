"""Degraded captions for Direct Assessment (Graham, Awad and Smeaton, PLOS ONE 2018)."""
