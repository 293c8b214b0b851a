"""Stages run over records: parts and their keys, the journal, resuming, and where items run."""
