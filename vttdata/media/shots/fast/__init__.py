"""Shot detection that decodes part of the frames, chosen by what packets say without decoding."""
