"""Stages that builders compose; each wraps one function of another subpackage."""
