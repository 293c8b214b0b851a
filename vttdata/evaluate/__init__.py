"""Score predictions, and measure the agreement of scores with human judgments."""
