"""Executors: where the stages of a build run."""
