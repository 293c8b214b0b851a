"""Memory of the search for near-duplicates depends on its result, not on the number of comparisons."""

from __future__ import annotations

import base64
import tracemalloc

import numpy as np
import pytest

from vttdata.records import HASH_SCHEME, Fingerprint
from vttdata.split.near_duplicates import alignment, candidates, samples
from vttdata.split.near_duplicates.matches import match_sources


def fingerprint(content: bytes) -> Fingerprint:
    return Fingerprint(HASH_SCHEME, base64.b64encode(content).decode())


def test_comparing_all_pairs_takes_little_memory() -> None:
    random = np.random.default_rng(0)
    sources = [(f"s{number}", fingerprint(random.bytes(32 * 10))) for number in range(150)]
    tracemalloc.start()
    match_sources(sources)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # 1.1 million pairs; two indices of 8 bytes for each alone took 17 MB.
    assert peak < 16e6


def test_samples_of_many_sources_are_not_held_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samples, "_MAX_BYTES_IN_MEMORY", 2**16)
    monkeypatch.setattr(samples, "CHUNK_SAMPLES", 2**10)
    random = np.random.default_rng(2)
    sources = ((f"s{999 - number:03}", fingerprint(random.bytes(32 * 100))) for number in range(1000))
    tracemalloc.start()
    collected = samples.collect_samples(sources)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(collected) == 100_000
    assert collected.ids[7] == "s007"
    # The words alone are 3.2 MB.
    assert peak < 1e6


@pytest.mark.parametrize(("module", "limit"), [(candidates, "_CHUNK_PAIRS"), (alignment, "_BLOCK_CANDIDATES")])
def test_size_of_blocks_makes_no_difference(module: object, limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(1)
    shown = random.bytes(32 * 12)
    sources = [(f"s{number}", fingerprint(shown[32 * (number % 4) :] + random.bytes(96))) for number in range(8)]
    whole = match_sources(sources).duplicates()
    assert len(whole) == 8 * 7 / 2
    monkeypatch.setattr(module, limit, 7)
    assert match_sources(sources).duplicates() == whole
