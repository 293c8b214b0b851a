"""Memory of the search for near-duplicates depends on its result, not on the number of comparisons; and its disk."""

from __future__ import annotations

import base64
import errno
import re
import resource
import tempfile
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from vttdata.records import HASH_SCHEME, Fingerprint
from vttdata.split.near_duplicates import candidates, matches, samples
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


@pytest.mark.parametrize(("module", "limit"), [(candidates, "_CHUNK_PAIRS"), (matches, "_BLOCK_CANDIDATES")])
def test_size_of_blocks_makes_no_difference(module: object, limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(1)
    shown = random.bytes(32 * 12)
    sources = [(f"s{number}", fingerprint(shown[32 * (number % 4) :] + random.bytes(96))) for number in range(8)]
    whole = match_sources(sources).duplicates()
    assert len(whole) == 8 * 7 / 2
    monkeypatch.setattr(module, limit, 7)
    assert match_sources(sources).duplicates() == whole


@pytest.fixture
def sources_in_files(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Fingerprint]]:
    """Draw 100 sources of 10 samples, of which all but the smallest arrays are files."""
    monkeypatch.setattr(samples, "_MAX_BYTES_IN_MEMORY", 1000)
    monkeypatch.setattr(candidates, "_RECORDS_PER_BUCKET", 50)
    random = np.random.default_rng(3)
    return [(f"s{number}", fingerprint(random.bytes(32 * 10))) for number in range(100)]


def test_temporary_files_have_no_names_that_a_killed_search_would_leave(
    sources_in_files: list[tuple[str, Fingerprint]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    original, seen = candidates.look_up, []

    def look_up(*arguments: object) -> object:
        seen.append(list(tmp_path.iterdir()))
        return original(*arguments)

    monkeypatch.setattr(candidates, "look_up", look_up)
    match_sources(sources_in_files)
    assert seen
    assert not any(seen)


# The words take 32,000 bytes, and the records of those that are looked up 96,000.
@pytest.mark.parametrize("limit", [20_000, 60_000])
def test_full_disk_is_an_error_that_names_its_folder(
    limit: int, sources_in_files: list[tuple[str, Fingerprint]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        with pytest.raises(OSError, match=re.escape(str(tmp_path))) as caught:
            match_sources(sources_in_files)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert (caught.value.errno, caught.value.filename) == (errno.EFBIG, str(tmp_path))
