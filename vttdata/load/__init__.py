"""Loading datasets by name: local builds first, then the HuggingFace Hub."""
