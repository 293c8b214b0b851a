"""Stages that builders compose; each wraps one thing that another room does."""
