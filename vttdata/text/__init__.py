"""Everything about captions as text: reading, matching to clips, cleaning, languages.

A library of its own: it knows nothing of stages, recipes or the command line.
"""
