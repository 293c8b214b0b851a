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
from vttdata.load.catalog import describe_dataset
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
    # Without media nothing is cut.
    assert "cut" not in account(out)
    assert not list((out / "dataset").rglob("*.mp4"))
    published = [pd.read_parquet(path).video for path in (out / "dataset" / "clips").glob("*.parquet")]
    assert pd.concat(published).isna().all()
    rows = pd.concat(pd.read_parquet(path) for path in sorted((out / "dataset" / "sources").glob("*.parquet")))
    assert set(rows.hash_scheme) == {"halves-2"}
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


def test_one_source_of_each_family_is_kept(tmp_path: Path) -> None:
    folder = tmp_path / "videos"
    folder.mkdir()
    films = [write_film(folder / f"film{number}.mp4", number) for number in range(3)]
    edit(films[0], folder / "small.mp4", "scale=96:54,hue=s=0")
    edit(
        films[0],
        folder / "large-sepia.mp4",
        "colorchannelmixer=.393:.769:.189:0:.349:.686:.168:0:.272:.534:.131,scale=320:180",
    )
    edit(films[0], folder / "worn.mp4", "scale=80:44,scale=160:90")
    edit(films[0], folder / "shorter.mp4", "trim=start=1.3,setpts=PTS-STARTPTS")
    settings = [f"collect.folder={folder}", *LOOSE, "media.keep=none", "clips.min_seconds=1", "clips.per_source=1"]
    settings += ["split.ratios={train: 0.5, test: 0.5}"]
    out = tmp_path / "out"
    assert build(out, *settings).returncode == 0
    everything = pd.read_parquet(out / "stages" / "split" / "kept.parquet")
    assert len(everything) == 7
    assert "families" not in account(out)

    kept_one = build(out, *settings, "near_duplicates=keep_one")
    assert kept_one.returncode == 0, kept_one.stderr
    stage = account(out)["families"]
    assert (stage["in"], stage["kept"], stage["rejected"]) == (7, 3, {"near_duplicate": 4})
    listed = pd.read_parquet(out / "stages" / "filter" / "kept.parquet")
    names = dict(zip(listed.source_id, listed.file, strict=True))
    kept = pd.read_parquet(out / "stages" / "split" / "kept.parquet")
    assert sorted(names[source] for source in kept.source_id) == ["film0.mp4", "film1.mp4", "film2.mp4"]
    rejected = pd.read_parquet(out / "stages" / "families" / "rejected.parquet")
    (original,) = (source for source, name in names.items() if name == "film0.mp4")
    assert all(f"shows the same as film0.mp4 ({original})" in detail for detail in rejected.detail)
    result = audit_dataset(out / "dataset")
    assert sum((result.families or {}).values()) == 3
    assert "near_duplicates: keep_one" in (out / "dataset" / "recipe.yaml").read_text()

    # A pinned clip's source stays, whatever its picture.
    (small,) = (source for source, name in names.items() if name == "small.mp4")
    (pinned,) = everything.video_id[everything.source_id == small]
    (tmp_path / "pins.csv").write_text(f"video_id,split\n{pinned},test\n")
    assert build(out, *settings, "near_duplicates=keep_one", f"split.pin={tmp_path / 'pins.csv'}").returncode == 0
    kept = pd.read_parquet(out / "stages" / "split" / "kept.parquet")
    assert sorted(names[source] for source in kept.source_id) == ["film1.mp4", "film2.mp4", "small.mp4"]


def test_card_and_build_warn_of_a_split_of_one_family(tmp_path: Path) -> None:
    folder = tmp_path / "videos"
    folder.mkdir()
    films = [write_film(folder / f"film{number}.mp4", number) for number in range(2)]
    edit(films[0], folder / "copy.mp4", "hue=s=0")
    settings = [f"collect.folder={folder}", *LOOSE, "media.keep=none", "clips.min_seconds=1", "clips.per_source=1"]
    done = build(tmp_path / "out", *settings, "split.ratios={train: 0.4, test: 0.6}")
    assert done.returncode == 0
    title, _, verdict, _, warning, *_ = (
        (tmp_path / "out" / "dataset" / "README.md").read_text().split("---\n")[-1].splitlines()[1:]
    )
    assert title.startswith("# ")
    assert verdict.startswith("**No leaks found by ")
    assert verdict.endswith("fingerprints.**")
    assert warning.startswith("**WARNING: The split ")
    assert "WARNING: The split" in done.stderr
    assert describe_dataset(tmp_path / "out").about == "A video-to-text benchmark built with vttdata."
