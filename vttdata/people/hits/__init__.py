"""Make HITs for Direct Assessment: choose captions and hidden controls, order them, and write the files."""
