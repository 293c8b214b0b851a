"""Video files in, records and frames out: probe, decode, shots, quality, clips, cutting. A library of its own."""
