"""Small datasets to publish: clips with captions, clips with files, and foils."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from vttdata.dataset import Metadata, WriteHooks, write_dataset
from vttdata.dataset.foils.write import FoilSet, write_foils
from vttdata.dataset.leak_audit import audit_all
from vttdata.dataset.videos import MediaFiles, MediaMode
from vttdata.generate.foils.documents import FoilPair
from vttdata.generate.foils.swaps import Swap
from vttdata.records import Caption, Clip, ClipMedia, Source

FREE = "cc-by-4.0"


def build(
    folder: Path,
    texts: Sequence[str] = ("a person waves", "a dog runs"),
    *,
    media: Path | None = None,
    mode: MediaMode = "files",
    sources: Sequence[str] = (),
    **about: Any,
) -> Path:
    """A dataset with one clip a text, the last one for testing, and with one source a clip unless they are named."""
    names = list(sources) or [f"s{number}" for number in range(len(texts))]
    clips = [
        Clip(f"v{number}", source, 10.0 * number, 10.0 * number + 9, 0, 249, 1, category="life", split="train")
        for number, source in enumerate(names)
    ]
    clips[-1] = dataclasses.replace(clips[-1], split="test")
    if media is not None:
        clips = [dataclasses.replace(clip, media=_film(media, clip.video_id)) for clip in clips]
    write_dataset(
        folder,
        clips=clips,
        captions=[Caption(f"v{number}", 1, text) for number, text in enumerate(texts)],
        sources=[
            Source(name, f"{name}.mp4", "listed", hashlib.sha256(name.encode()).hexdigest(), 9, category="life")
            for name in sorted({*names})
        ],
        metadata=Metadata(**{"name": "vttdata/small", "licence": FREE, **about}),
        media=MediaFiles.chosen(media, mode),
        hooks=WriteHooks(audit_all),
    )
    return folder


def _film(folder: Path, name: str) -> ClipMedia:
    folder.mkdir(exist_ok=True)
    content = f"film of {name}".encode()
    (folder / f"{name}.mp4").write_bytes(content)
    return ClipMedia(f"videos/{name}.mp4", hashlib.sha256(content).hexdigest(), len(content), 225, 9.0, 320, 240, 9.0)


def build_foils(folder: Path) -> Path:
    """A dataset of foils."""
    swap = Swap(2, 5, "cat", "dog", "cat", "animal", "dog", "cat", 0)
    pairs = [FoilPair(f"v{n}", f"v{n}#1", 0, f"a dog runs {n}", f"a cat runs {n}", swap, 9.0, 10.0) for n in range(3)]
    write_foils(folder, FoilSet(pairs, "balanced", 1, "1", "none"), Metadata("vttdata/small-foil", licence=FREE))
    return folder


def seal(dataset: Path) -> None:
    """Make the manifest agree with the files as they are now, as a careful forger would."""
    path = dataset / "manifest.json"
    manifest = json.loads(path.read_text())
    for name, facts in manifest["files"].items():
        content = (dataset / name).read_bytes()
        facts |= {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
    path.write_text(json.dumps(manifest))


def edit(dataset: Path, old: str, new: str) -> None:
    """Change the card, and the manifest with it."""
    card = dataset / "README.md"
    text = card.read_text()
    assert old in text
    card.write_text(text.replace(old, new))
    seal(dataset)
