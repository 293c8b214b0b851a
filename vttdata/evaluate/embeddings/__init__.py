"""Embeddings of texts and frames by models of the CLIP family, and the scores that compare them."""
