"""vttdata: build, audit, publish and load video-to-text benchmarks that can be trusted."""

__version__ = "0.1.0"
