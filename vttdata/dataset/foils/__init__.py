"""Foil sets as dataset folders."""
