"""Makes new texts from captions: pure functions on records, which read and write no files."""
