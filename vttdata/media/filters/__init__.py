"""Filters of source videos and the quality scores that they judge."""
