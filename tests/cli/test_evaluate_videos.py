"""`vttdata evaluate` with metrics that compare captions with videos, from a file of features."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.leaking_dataset import write_leaking_dataset, write_predictions
from vttdata.cli.main import main
from vttdata.evaluate.items import read_clips


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """A dataset, captions of its clips, and features of both."""
    dataset = write_leaking_dataset(tmp_path / "dataset")
    captions = write_predictions(tmp_path / "captions.json")
    items = read_clips(dataset)
    texts = list(dict.fromkeys([row["caption"] for row in json.loads(captions.read_text())]))
    texts += [text for text in dict.fromkeys(t for group in items.references for t in group) if text not in texts]
    rng = np.random.default_rng(1)
    np.savez(
        tmp_path / "features.npz",
        video_ids=np.array(items.ids),
        frame_counts=np.full(len(items.ids), 2),
        frame_vectors=rng.normal(size=(2 * len(items.ids), 4)),
        texts=np.array(texts),
        token_counts=np.full(len(texts), 3),
        tokens=np.tile([1, 2, 3], len(texts)),
        token_vectors=rng.normal(size=(3 * len(texts), 4)),
    )
    return ["evaluate", str(dataset), str(captions), "--features", str(tmp_path / "features.npz")]


def test_captions_are_compared_with_features(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*files, "--metric", "emscore", "--metric", "emscore-code-ref", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert {"emscore", "emscore-ref-f", "emscore-code-ref"} <= set(report["scores"])
    assert "emscore|tok:none|convention:paper|idf:references|features:features@" in report["signature"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--metric", "clip-score"], "has no vectors of the text 'A photo depicts"),
        (["--metric", "emscore", "--videos", "nowhere"], "'nowhere' is not an existing folder"),
        (["--metric", "emscore", "--model", "emscore=a", "--model", "emscore=b"], "names a model twice for emscore"),
        (["--metric", "emscore", "--frames", "-1"], "'-1' is not a non-negative integer"),
        (["--metric", "emscore", "--features", "nothing.npz"], "nothing.npz: cannot be read as a file of features"),
    ],
)
def test_bad_use_is_one_sentence(
    files: list[str], arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*files, *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_without_torch_the_extra_is_named(
    files: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vttdata.text.lm.pretrained.find_spec", lambda name: None)
    for metric, extra in (("emscore", "build,lm"), ("clip-score", "build,lm"), ("sentence-similarity", "lm")):
        assert main([*files[:3], "--metric", metric]) == 2
        assert f"torch is not installed: pip install 'vttdata[{extra}]'." in capsys.readouterr().err
