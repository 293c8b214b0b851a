"""Write the dataset card (README.md) of a dataset folder."""
