"""Runs stages over records: parts, keys, journal, resume. Nothing outside this room knows how or where a stage runs."""
