"""Foils: captions in which one visible thing is swapped for another (Shi et al., CVPR 2022)."""
