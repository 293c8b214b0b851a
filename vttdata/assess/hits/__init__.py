"""HITs for Direct Assessment: planned, filled with system captions and hidden controls, written to files."""
