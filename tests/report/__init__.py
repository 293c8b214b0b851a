"""Tests of the pages that people look at."""
