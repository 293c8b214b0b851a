"""Keep what decides shot boundaries, signals and times of every frame, in a compact file.

Reading the frames costs nearly all of shot detection; from these features, other settings take milliseconds.
"""

from __future__ import annotations

import contextlib
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from vttdata.errors import UnavailableError
from vttdata.media.shots.signals import Floats, Signals
from vttdata.partial_file import partial_file


@dataclass(frozen=True, slots=True)
class ShotFeatures:
    """Signals of a video's n frames.

    Attributes:
        signals: of all frames.
        times: (n + 1,) seconds: when each frame starts, and when the last one ends.
        stated_rate: frames a second by the container.
    """

    signals: Signals
    times: Floats
    stated_rate: float


# What zipfile, zlib and NumPy raise for a file that is not there or damaged.
_DAMAGE = (
    *(OSError, ValueError, KeyError, EOFError, TypeError, RuntimeError, SyntaxError, OverflowError, MemoryError),
    *(zipfile.BadZipFile, zlib.error, struct.error, tokenize.TokenError),
)


def save_features(features: ShotFeatures, path: Path) -> None:
    """Write features to a file, which appears under its name only when it is complete."""
    with partial_file(path) as partial, zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, values in _pack_fields(features):
            # A date of their own would make the bytes of equal features differ.
            member = zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0))
            member.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(member, "w", force_zip64=True) as stream:
                np.lib.format.write_array(stream, values, allow_pickle=False)


def load_features(path: Path) -> ShotFeatures:
    """Read what `save_features` wrote.

    Raises:
        UnavailableError: when the file is not there or damaged.
    """
    with _open(path) as arrays:
        return ShotFeatures(
            Signals(*(_unpack(arrays[field.name]) for field in fields(Signals))),
            arrays["times"],
            float(arrays["stated_rate"]),
        )


def load_times(path: Path) -> Floats:
    """Read the times alone of what `save_features` wrote.

    Raises:
        UnavailableError: when the file is not there or damaged.
    """
    with _open(path) as arrays:
        times: Floats = arrays["times"]
    return times


@contextlib.contextmanager
def _open(path: Path) -> Iterator[Mapping[str, np.ndarray]]:
    try:
        with np.load(path, allow_pickle=False) as arrays:
            yield arrays
    except _DAMAGE as error:
        facts = f"the features in {path} cannot be read; building again makes all that are damaged again."
        raise UnavailableError("io_error", facts) from error


def _pack_fields(features: ShotFeatures) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the arrays of features one by one: those of a long film take as much memory as its reading."""
    yield "times", features.times
    yield "stated_rate", np.array(features.stated_rate)
    for field in fields(Signals):
        yield field.name, _pack(getattr(features.signals, field.name))


def _pack(values: np.ndarray) -> np.ndarray:
    """Return signals in the precision that they have, integers as differences from frame to frame."""
    if values.dtype == np.float64:
        return values.astype(np.float32)
    if values.dtype == bool:
        return values
    differences = values.copy()
    differences[1:] -= values[:-1]
    return differences


def _unpack(values: np.ndarray) -> np.ndarray:
    if values.dtype == np.float32:
        return values.astype(np.float64)
    return values if values.dtype == bool else values.cumsum(0, dtype=values.dtype)
