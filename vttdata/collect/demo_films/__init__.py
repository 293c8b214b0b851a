"""Films generated for the demo, whose content, cuts and captions are known exactly."""
