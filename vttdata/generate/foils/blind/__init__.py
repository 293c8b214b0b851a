"""Blind attackers: classifiers and language models that solve foils without the videos."""
