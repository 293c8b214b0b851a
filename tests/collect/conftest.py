"""Fixtures for tests of collecting: a tiny real video and a server that serves it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest

from tests.helpers.file_server import FileServer, serving_files
from vttdata.media.ffmpeg_program import ffmpeg_path


@pytest.fixture(scope="session")
def tiny_video(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("video") / "tiny.mp4"
    picture = ["-f", "lavfi", "-i", "testsrc2=size=64x48:rate=10:duration=1"]
    subprocess.run([ffmpeg_path(), "-v", "error", *picture, "-pix_fmt", "yuv420p", str(path)], check=True)
    return path.read_bytes()


@pytest.fixture(scope="session")
def server(tiny_video: bytes) -> Iterator[FileServer]:
    with serving_files(tiny_video) as running:
        yield running
