"""Crowd answers read from result files: assessment pages, crowd platforms, and the layouts of WMT."""
