"""Official files of the TRECVID video-to-text task and its Direct Assessment judgments."""
