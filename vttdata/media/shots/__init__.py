"""Shot boundary detection by colour histogram, scoring of detections, and contact sheets."""
