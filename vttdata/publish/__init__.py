"""Publication on the HuggingFace Hub: checks, versions, upload, and rebuilding what was published."""
