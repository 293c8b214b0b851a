"""Learned metrics: an encoder of texts and a regression on people's scores, as BERTHA is."""
