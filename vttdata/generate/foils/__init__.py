"""Foils: captions with one visible thing swapped for another that the video does not show (EMScore, CVPR 2022)."""
