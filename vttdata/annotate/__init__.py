"""Pages on which people annotate: Direct Assessment of captions."""
