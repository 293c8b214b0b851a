"""The dataset card (README.md) of a dataset folder."""
