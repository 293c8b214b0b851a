"""Text of captions: reading, matching to clips, cleaning, languages, nouns and language models.

It knows nothing of stages, recipes or the command line.
"""
