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
from vttdata.media.shots.detect import Method, ShotSettings, detect_shots, find_shots, read_features
from vttdata.media.shots.features import load_features, save_features
from vttdata.media.source_analysis import analyse_source

METHODS: tuple[Method, Method] = ("exact", "fast")


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return three scenes of 80 frames in GOPs of 40, of which the fast method skips a part."""
    frames = np.concatenate([scene(seed, 80) for seed in (1, 2, 3)])
    return encode(tmp_path_factory.mktemp("film") / "film.mp4", frames, "-c:v", "libx264", "-g", "40")


def test_exact_reading_is_that_of_measure_and_fingerprint(film: Path) -> None:
    fingerprinter = Fingerprinter()
    measured = measure(film, watch=fingerprinter.add)
    analysis = analyse_source(film, "exact")
    assert analysis.measure == measured
    assert analysis.fingerprint == fingerprinter.finish(measured.seconds)


def test_fast_reading_counts_what_it_skips(film: Path) -> None:
    exact, fast = (analyse_source(film, method) for method in METHODS)
    assert fast.features.skipped is not None
    assert not fast.features.skipped.is_decoded.all()
    assert (fast.measure.frames, fast.measure.seconds) == (exact.measure.frames, exact.measure.seconds) == (240, 9.6)
    for name, score in exact.measure.scores.items():
        assert fast.measure.scores[name] == pytest.approx(score, abs=0.05), name


def test_short_videos_are_read_whole(tmp_path: Path) -> None:
    short = encode(tmp_path / "short.mp4", scene(1, 150), "-c:v", "libx264", "-g", "40")
    exact, fast = (analyse_source(short, method) for method in METHODS)
    assert read_features(short, "fast").skipped is not None
    assert (fast.measure, fast.fingerprint) == (exact.measure, exact.fingerprint)


def test_samples_of_a_batch_are_hashed_as_alone() -> None:
    thumbnails = np.random.default_rng(0).integers(16, 235, (230, 64, 64), np.uint8)
    hasher = Hasher((2.5, 2.5), (0, 0))
    apart = np.concatenate(
        [hasher.hash(thumbnails[:100]), hasher.hash(thumbnails[100:229]), hasher.hash(thumbnails[229:])]
    )
    assert np.array_equal(hasher.hash(thumbnails), apart)


@pytest.mark.parametrize("method", METHODS)
def test_shots_come_from_stored_features_without_decoding(film: Path, tmp_path: Path, method: Method) -> None:
    new = analyse_source(film, method).features
    save_features(new, tmp_path / "film.npz")
    assert [path.name for path in tmp_path.iterdir()] == ["film.npz"]
    assert (tmp_path / "film.npz").stat().st_size < 240 * 200
    stored = load_features(tmp_path / "film.npz")
    for settings in (ShotSettings(method), ShotSettings(method, min_seconds=5.0)):
        shots = find_shots(tmp_path / "no-file", stored, settings).shots
        assert shots == find_shots(tmp_path / "no-file", new, settings).shots
        # Blocks are smoothed in more frames here, so that colours differ a little.
        detected = detect_shots(film, settings).shots
        assert [(shot.start, shot.transition) for shot in shots] == [(shot.start, shot.transition) for shot in detected]


def test_features_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.npz").write_bytes(b"PK damaged")
    for name in ("a.npz", "missing.npz"):
        with pytest.raises(UnavailableError, match=f"{name} cannot be read; delete .* and build again"):
            load_features(tmp_path / name)


def test_fast_reading_refuses_damage_in_packets_that_it_skips(film: Path, tmp_path: Path) -> None:
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
    for method in METHODS:
        with pytest.raises(MediaError) as refusal:
            analyse_source(damaged, method)
        assert refusal.value.reason == "damaged"
