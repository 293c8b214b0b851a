"""Version of the package, where `pyproject.toml` takes it from."""

__version__ = "0.1.0"
