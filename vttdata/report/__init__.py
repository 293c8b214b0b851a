"""Tells people what a build did."""
