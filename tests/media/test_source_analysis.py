"""One reading of a source gives what separate readings give, and shots follow from the stored features alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.media.shots.test_detect import encode, scene
from vttdata.errors import MediaError, UnavailableError
from vttdata.media.decode import open_video
from vttdata.media.fingerprint import Fingerprinter, Hasher
from vttdata.media.measure import measure
from vttdata.media.shots.detect import ShotSettings, detect_shots, find_shots
from vttdata.media.shots.features import load_features, load_times, save_features
from vttdata.media.source_analysis import analyse_source


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return three scenes of 80 frames in GOPs of 40."""
    frames = np.concatenate([scene(seed, 80) for seed in (1, 2, 3)])
    return encode(tmp_path_factory.mktemp("film") / "film.mp4", frames, "-c:v", "libx264", "-g", "40")


def test_one_reading_is_that_of_measure_and_fingerprint(film: Path) -> None:
    fingerprinter = Fingerprinter()
    measured = measure(film, watch=fingerprinter.add)
    analysis = analyse_source(film)
    assert analysis.measure == measured
    assert analysis.fingerprint == fingerprinter.finish(measured.seconds)


def test_samples_of_a_batch_are_hashed_as_alone() -> None:
    thumbnails = np.random.default_rng(0).integers(16, 235, (230, 64, 64), np.uint8)
    hasher = Hasher((2.5, 2.5), (0, 0))
    apart = np.concatenate(
        [hasher.hash(thumbnails[:100]), hasher.hash(thumbnails[100:229]), hasher.hash(thumbnails[229:])]
    )
    assert np.array_equal(hasher.hash(thumbnails), apart)


def test_shots_come_from_stored_features(film: Path, tmp_path: Path) -> None:
    new = analyse_source(film).features
    save_features(new, tmp_path / "film.npz")
    assert [path.name for path in tmp_path.iterdir()] == ["film.npz"]
    assert (tmp_path / "film.npz").stat().st_size < 240 * 200
    stored = load_features(tmp_path / "film.npz")
    assert np.array_equal(load_times(tmp_path / "film.npz"), new.times)
    for settings in (ShotSettings(), ShotSettings(min_seconds=5.0)):
        shots = find_shots(stored, settings).shots
        assert shots == find_shots(new, settings).shots
        # Blocks are smoothed in more frames here, so that colours differ a little.
        detected = detect_shots(film, settings).shots
        assert [(shot.start, shot.transition) for shot in shots] == [(shot.start, shot.transition) for shot in detected]


def test_features_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.npz").write_bytes(b"PK damaged")
    for name in ("a.npz", "missing.npz"):
        with pytest.raises(UnavailableError, match=f"{name} cannot be read; building again makes"):
            load_features(tmp_path / name)
        with pytest.raises(UnavailableError):
            load_times(tmp_path / name)


def test_damage_in_packets_between_keyframes_is_refused(film: Path, tmp_path: Path) -> None:
    with open_video(film) as video:
        packets = [packet for packet in video.packets() if packet.size]
        largest = max((packet for packet in packets if not packet.is_keyframe), key=lambda packet: packet.size)
    content = bytearray(film.read_bytes())
    assert largest.pos is not None
    for packet in packets:
        if not packet.is_keyframe and packet.pos >= largest.pos:
            content[packet.pos + 5 : packet.pos + packet.size] = bytes(packet.size - 5)
    damaged = tmp_path / "damaged.mp4"
    damaged.write_bytes(content)
    with pytest.raises(MediaError) as refusal:
        analyse_source(damaged)
    assert refusal.value.reason == "damaged"
