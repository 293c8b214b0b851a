"""Scoring of people's answers: worker reliability, scores, ranking of systems, agreement, plans, simulation."""
