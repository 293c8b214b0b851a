"""Datasets loaded by name: local builds first, then the HuggingFace Hub."""
