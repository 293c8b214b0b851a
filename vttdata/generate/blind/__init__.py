"""Blind attacks, which try to tell true texts from foils, and answers from other options, without the video."""
