"""Dataset folders of foils."""
