"""Shot boundary detection that decodes only the groups of pictures in which something changes."""
