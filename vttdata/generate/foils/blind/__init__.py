"""Blind attacks on foils, which try to tell true texts from false ones without the video."""
