"""Near-duplicates in whole builds and in audits of datasets."""

from __future__ import annotations

import base64
from pathlib import Path

import numpy as np
import pandas as pd

from tests.helpers.builds import LOOSE, account, build
from tests.helpers.films import edit, write_film
from vttdata.dataset import Metadata, write_dataset
from vttdata.dataset.leak_audit import audit_dataset
from vttdata.records import HASH_SCHEME, Clip, Fingerprint, Source

WORDS = base64.b64encode(np.random.default_rng(1).bytes(16 * 40)).decode()
"""A fingerprint of twenty seconds in which everything moves."""


def test_copy_gets_the_split_of_its_original(tmp_path: Path) -> None:
    folder = tmp_path / "videos"
    folder.mkdir()
    films = [write_film(folder / f"film{number}.mp4", number) for number in range(4)]
    edit(films[0], folder / "copy.mp4", "scale=128:72,hue=s=0,trim=start=1.3,setpts=PTS-STARTPTS")
    out = tmp_path / "out"
    settings = [f"collect.folder={folder}", *LOOSE, "media.keep=none", "clips.min_seconds=1", "clips.per_source=1"]
    split = ["split.ratios={train: 0.5, test: 0.5}", "split.together=[source, near_duplicate]"]
    for seed in range(3):
        done = build(out, *settings, *split, f"seed={seed}")
        assert done.returncode == 0, done.stderr
        clips = pd.read_parquet(out / "stages" / "split" / "kept.parquet")
        split_of = dict(zip(clips.source_id, clips.split, strict=True))
        pairs = pd.read_parquet(out / "stages" / "copies" / "kept.parquet")
        assert len(pairs) == 1
        source_a, source_b = pairs.source_a[0], pairs.source_b[0]
        assert source_a != source_b
        assert split_of[source_a] == split_of[source_b]
        assert len(set(split_of.values())) == 2
    assert account(out)["copies"]["in"] == 5
    rows = pd.concat(pd.read_parquet(path) for path in sorted((out / "dataset" / "sources").glob("*.parquet")))
    assert set(rows.hash_scheme) == {"halves-1"}
    assert rows.hashes.str.len().min() > 200


def test_sources_without_a_fingerprint_are_counted_by_the_audit(tmp_path: Path) -> None:
    clips = [Clip(f"v{s}", s, 0.0, 5.0, None, None, 1, split="train" if s < "c" else "test") for s in "abcd"]
    scheme_of = {"a": HASH_SCHEME, "c": HASH_SCHEME, "d": "older-0"}
    sources = [
        Source(
            s, f"{s}.mp4", "listed", s * 64, 9, fingerprint=Fingerprint(scheme_of[s], WORDS) if s in scheme_of else None
        )
        for s in "abcd"
    ]
    write_dataset(tmp_path / "d", clips=clips, captions=[], sources=sources, metadata=Metadata("me/x"), media=None)
    result = audit_dataset(tmp_path / "d")
    assert result.unknown["fingerprints"] == 2
    assert result.leaks["near_duplicate"]["pairs"] == 1
