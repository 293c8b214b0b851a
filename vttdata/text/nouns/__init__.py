"""Nouns of visible things: the lexicon, and where captions mention them."""
