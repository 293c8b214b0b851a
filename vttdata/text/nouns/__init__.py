"""Nouns for visible things: the lexicon, and the mentions of its nouns in captions."""
