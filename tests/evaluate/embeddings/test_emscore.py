"""EMScore and CLIPScore from files of features, which need no model."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.helpers.emscore_literal import emscore, idf
from vttdata.errors import VttdataError
from vttdata.evaluate.metric import MetricInputs, VideoSpan, load_metric

START, END = 298, 299
CANDIDATES = ["a man runs", "two dogs play in the snow", "a man", "rain!"]
REFERENCES = [
    ["a man is running", "someone runs fast"],
    ["dogs in snow"],
    ["a woman", "a man sits", "people sit on a bench in the park"],
    ["it rains", "rain!"],
]
ALL_REFERENCES = [text for group in REFERENCES for text in group]
VIDEOS = [VideoSpan(name) for name in ("v1", "v2", "v1", "v3")]


@pytest.fixture(autouse=True)
def no_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)


def units(rng: np.random.Generator, number: int) -> np.ndarray[Any, Any]:
    # Around a common direction, as embeddings of CLIP are; with vectors all around P + R would come near 0.
    vectors = rng.normal(size=(number, 8)) + 1.5
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def drawn_features() -> dict[str, Any]:
    rng = np.random.default_rng(7)
    prompted = ["A photo depicts " + text for text in (*CANDIDATES, *ALL_REFERENCES)]
    texts = list(dict.fromkeys([*CANDIDATES, *ALL_REFERENCES, *prompted]))
    words: dict[str, int] = {"!": 0}
    rows = [
        [START, *(words.setdefault(word, len(words)) for word in text.replace("!", " !").split()), END]
        for text in texts
    ]
    frames = {"v1": 3, "v2": 1, "v3": 5}
    return {
        "model": np.array("drawn"),
        "video_ids": np.array(list(frames)),
        "frame_counts": np.array(list(frames.values())),
        "frame_vectors": units(rng, 9),
        "frame_times": np.array([0.0, 1, 2, 0, 0, 1, 2, 3, 4]),
        "texts": np.array(texts),
        "token_counts": np.array(list(map(len, rows))),
        "tokens": np.array([token for row in rows for token in row]),
        "token_vectors": units(rng, sum(map(len, rows))),
    }


@pytest.fixture
def file(tmp_path: Path) -> Path:
    np.savez(tmp_path / "features.npz", **drawn_features())
    return tmp_path / "features.npz"


def split(rows: Any, counts: Any) -> list[list[Any]]:
    return [part.tolist() for part in np.split(rows, np.cumsum(counts)[:-1])]


@pytest.mark.parametrize(("family", "convention"), [("emscore", "paper"), ("emscore-code", "code")])
def test_scores_are_those_of_the_formulas(family: str, convention: str, file: Path, tmp_path: Path) -> None:
    features = drawn_features()
    counts = features["token_counts"]
    texts = dict(
        zip(
            features["texts"].tolist(),
            zip(split(features["tokens"], counts), split(features["token_vectors"], counts), strict=True),
            strict=True,
        )
    )
    frames = dict(zip(features["video_ids"], split(features["frame_vectors"], features["frame_counts"]), strict=True))
    weights = idf([texts[text][0] for group in REFERENCES for text in group], convention)
    metric = load_metric(family, cache=tmp_path / "cache", inputs=MetricInputs(features=file))
    for _ in range(2):  # the second time from the cache
        scores = metric.score_videos(CANDIDATES, REFERENCES, VIDEOS)
        for row, (candidate, references, video) in enumerate(zip(CANDIDATES, REFERENCES, VIDEOS, strict=True)):
            expected = emscore(
                texts[candidate], frames[video.video_id], [texts[text] for text in references], weights, convention
            )
            for part, values in zip(("", "-ref"), expected, strict=True):
                got = [scores[f"{family}{part}{ending}"].items[row] for ending in ("", "-coarse", "-f", "-p", "-r")]
                assert got == pytest.approx(values, abs=1e-6), (row, part)


def test_conventions_differ_and_weights_can_be_left_out(file: Path) -> None:
    inputs = MetricInputs(features=file)
    paper, code = (
        load_metric(f, inputs=inputs).score_videos(CANDIDATES, REFERENCES, VIDEOS) for f in ("emscore", "emscore-code")
    )
    assert not np.allclose(paper["emscore-ref"].items, code["emscore-code-ref"].items, atol=1e-3)
    np.testing.assert_array_equal(paper["emscore-no-idf"].items, code["emscore-code-no-idf"].items)
    assert not np.allclose(paper["emscore-no-idf"].items, paper["emscore"].items, atol=1e-3)
    # The parts of the best reference of all belong together in the paper's convention.
    np.testing.assert_allclose(
        paper["emscore-ref"].items, (paper["emscore-ref-coarse"].items + paper["emscore-ref-f"].items) / 2, atol=1e-12
    )


def test_clip_score_is_that_of_its_formulas(file: Path) -> None:
    features = drawn_features()
    vectors = {
        text: np.array(part[-1])
        for text, part in zip(
            features["texts"].tolist(), split(features["token_vectors"], features["token_counts"]), strict=True
        )
    }
    scores = load_metric("clip-score", inputs=MetricInputs(features=file)).score_videos(CANDIDATES, REFERENCES, VIDEOS)
    caption = vectors["A photo depicts rain!"]
    video = np.mean([2.5 * max(float(frame @ caption), 0) for frame in features["frame_vectors"][4:]])
    best = max(float(vectors["A photo depicts " + text] @ caption) for text in REFERENCES[3])
    assert scores["clip-score"].items[3] == pytest.approx(video)
    assert scores["clip-score-ref"].items[3] == pytest.approx(2 * video * best / (video + best))


def test_part_of_a_video_has_the_frames_of_its_times(file: Path) -> None:
    metric = load_metric("emscore", inputs=MetricInputs(features=file))
    part = metric.score_videos(CANDIDATES[:1], REFERENCES[:1], [VideoSpan("v3", 1.0, 2.0)])
    features = drawn_features()
    one = {**features, "frame_vectors": np.vstack([features["frame_vectors"][:8], features["frame_vectors"][5:6]])}
    np.savez(file, **one | {"frame_counts": np.array([3, 5, 1])})
    alone = load_metric("emscore", inputs=MetricInputs(features=file)).score_videos(
        CANDIDATES[:1], REFERENCES[:1], [VideoSpan("v3")]
    )
    assert part["emscore"].items == pytest.approx(alone["emscore"].items)
    with pytest.raises(VttdataError, match="no frame of the video 'v3' has a time between 7 and 8 s"):
        metric.score_videos(CANDIDATES[:1], REFERENCES[:1], [VideoSpan("v3", 7, 8)])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"frame_counts": np.array([3, 1, 4])}, "do not fit each other"),
        ({"token_vectors": np.full((3, 8), np.nan)}, "do not fit each other"),
        ({"frame_vectors": np.full((9, 8), np.nan)}, "not a finite number"),
        ({"frame_vectors": np.ones((9, 5))}, "different lengths"),
        ({"video_ids": None}, "has frame_vectors without video_ids"),
        ({"frame_vectors": None, "token_vectors": None}, "holds neither frame_vectors nor token_vectors"),
        ({"texts": np.array([{}], dtype=object)}, "cannot be read as a file of features"),
    ],
)
def test_damaged_file_is_refused(change: dict[str, Any], message: str, file: Path) -> None:
    arrays = {name: value for name, value in (drawn_features() | change).items() if value is not None}
    np.savez(file, **arrays)
    with pytest.raises(VttdataError, match=message):
        load_metric("emscore", inputs=MetricInputs(features=file)).score_videos(CANDIDATES, REFERENCES, VIDEOS)


def test_what_is_missing_is_named(file: Path, tmp_path: Path) -> None:
    metric = load_metric("emscore", inputs=MetricInputs(features=file))
    with pytest.raises(VttdataError, match=r"features.npz: has no frames of the video 'v9'"):
        metric.score_videos(["a man"], [["a man"]], [VideoSpan("v9")])
    with pytest.raises(VttdataError, match=r"features.npz: has no vectors of the text 'unheard of'"):
        metric.score_videos(["unheard of"], [["a man"]], [VideoSpan("v1")])
    with pytest.raises(VttdataError, match="compares captions with videos"):
        metric.score(["a man"], [["a man"]])
    (tmp_path / "empty.npz").write_bytes(b"")
    with pytest.raises(VttdataError, match="cannot be read as a file of features"):
        load_metric("clip-score", inputs=MetricInputs(features=tmp_path / "empty.npz")).signature()
