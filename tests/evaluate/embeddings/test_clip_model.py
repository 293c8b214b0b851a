"""A tiny CLIP with drawn weights, saved in the test: its vectors, metrics by it from videos, and what is refused."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.helpers.builds import film
from tests.helpers.needs import library
from tests.helpers.tiny_models import save_clip, save_encoder
from vttdata.cli.main import main
from vttdata.errors import VttdataError
from vttdata.evaluate.embeddings.clip_model import ClipModel
from vttdata.evaluate.embeddings.features import Features, find_videos, load_clip
from vttdata.evaluate.metric import MetricInputs, VideoSpan, load_metric
from vttdata.media.ffmpeg_program import ffmpeg_path

CAPTIONS = ["a man runs", "two dogs play in the snow", "a man", "a test picture with colours"]
REFERENCES = [["a man is running", "someone runs"], ["dogs in snow"], ["a man sits"], ["colours", "a test picture"]]
VIDEOS = [VideoSpan(name) for name in ("testsrc2", "mandelbrot", "testsrc2", "smptehdbars")]
SCORES = ("emscore", "emscore-code", "clip-score")


@pytest.fixture(scope="module")
def torch() -> Any:
    library("transformers")
    return library("torch")


@pytest.fixture(scope="module")
def folder(torch: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_clip(tmp_path_factory.mktemp("clip") / "tiny", [*CAPTIONS, *(t for group in REFERENCES for t in group)])


@pytest.fixture(scope="module")
def clip(folder: Path) -> ClipModel:
    return ClipModel.load(str(folder))


def test_vectors_are_those_of_the_model(torch: Any, folder: Path, clip: ClipModel) -> None:
    import transformers

    model = transformers.CLIPModel.from_pretrained(folder).eval()
    tokens = clip.tokenize(CAPTIONS)
    vectors = clip.encode_texts(tokens)
    pixels = np.random.default_rng(0).integers(0, 256, (3, 32, 32, 3), dtype=np.uint8)
    mean, deviation = ([0.48145466, 0.4578275, 0.40821073], [0.26862954, 0.26130258, 0.27577711])
    inputs = torch.tensor(((pixels / 255 - mean) / deviation).transpose(0, 3, 1, 2), dtype=torch.float32)
    with torch.inference_mode():
        for row, encoded in zip(tokens, vectors, strict=True):
            text = model.get_text_features(input_ids=torch.from_numpy(row)[None]).pooler_output[0].numpy()
            np.testing.assert_allclose(encoded[-1], text / np.linalg.norm(text), atol=1e-5)
            assert encoded.shape == (len(row), 16)
        pictures = model.get_image_features(pixel_values=inputs).pooler_output.numpy()
    expected = pictures / np.linalg.norm(pictures, axis=1, keepdims=True)
    np.testing.assert_allclose(clip.encode_pictures(pixels), expected, atol=1e-4)


def test_batches_change_no_vector(torch: Any, clip: ClipModel, monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = clip.tokenize(CAPTIONS)
    together = clip.encode_texts(tokens)
    pictures = np.random.default_rng(0).integers(0, 256, (5, 48, 40, 3), dtype=np.uint8)
    at_once = clip.encode_pictures(pictures)
    text_model, failed = clip._model.text_model.forward, []

    def forward(input_ids: Any, **others: Any) -> Any:
        if len(input_ids) > 1:
            failed.append(len(input_ids))
            raise torch.OutOfMemoryError
        return text_model(input_ids=input_ids, **others)

    monkeypatch.setattr(clip._model.text_model, "forward", forward)
    for alone, vectors in zip(clip.encode_texts(tokens), together, strict=True):
        np.testing.assert_allclose(alone, vectors, atol=1e-5)
    assert failed == [4, 2, 2]
    monkeypatch.setattr("vttdata.evaluate.embeddings.clip_model._PICTURES_PER_BATCH", 2)
    np.testing.assert_allclose(clip.encode_pictures(pictures), at_once, atol=1e-5)


def test_long_text_is_cut_and_keeps_its_end(clip: ClipModel) -> None:
    (tokens,) = clip.tokenize(["a man " * 100])
    assert (len(tokens), tokens[0], tokens[-1]) == (77, 0, 1)


def test_metrics_from_videos_are_those_from_a_file_of_their_features(
    folder: Path, videos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inputs = MetricInputs({"": str(folder)}, videos=[videos], frames=4)
    watched = {}
    for name in SCORES:
        metric = load_metric(name, cache=tmp_path / "cache", inputs=inputs)
        watched[name] = metric.score_videos(CAPTIONS, REFERENCES, VIDEOS)
        assert "4-frames" in metric.signature()
        assert f"{folder.name}@" in metric.signature()
    features = Features(str(folder), videos=find_videos([videos]), frames=4)
    texts = [*CAPTIONS, *(text for group in REFERENCES for text in group)]
    file = tmp_path / "features.npz"
    features.write(file, [video.video_id for video in VIDEOS], [*texts, *("A photo depicts " + text for text in texts)])
    # From the cache no video is decoded again, and from the file no model is loaded either.
    monkeypatch.setattr("vttdata.media.pictures.sample_frames", lambda *given: pytest.fail("decoded again"))
    again = load_metric("emscore", cache=tmp_path / "cache", inputs=inputs).score_videos(CAPTIONS, REFERENCES, VIDEOS)
    np.testing.assert_array_equal(again["emscore"].items, watched["emscore"]["emscore"].items)
    load_clip.cache_clear()
    monkeypatch.setitem(sys.modules, "torch", None)
    for name in SCORES:
        read = load_metric(name, inputs=MetricInputs(features=file)).score_videos(CAPTIONS, REFERENCES, VIDEOS)
        for column, scores in read.items():
            np.testing.assert_allclose(scores.items, watched[name][column].items, atol=1e-6)
            assert len(np.unique(scores.items.round(6))) > 2, column


def test_changed_model_or_video_is_not_taken_from_the_cache(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "videos").mkdir()
    film(tmp_path / "videos" / "v.mp4", 1, "testsrc2")
    model = shutil.copytree(folder, tmp_path / "model")
    scores, signatures = [], []
    for step in range(3):
        if step == 1:
            film(tmp_path / "videos" / "v.mp4", 1, "mandelbrot")
        if step == 2:
            save_clip(model, [*CAPTIONS, *(t for group in REFERENCES for t in group)], seed=5)
            load_clip.cache_clear()
        inputs = MetricInputs({"emscore": str(model)}, videos=[tmp_path / "videos"], frames=2)
        metric = load_metric("emscore", cache=tmp_path / "cache", inputs=inputs)
        scores.append(metric.score_videos(["a man"], [["a man runs"]], [VideoSpan("v")])["emscore"].score)
        signatures.append(metric.signature())
    assert len({round(score, 6) for score in scores}) == len(set(signatures)) == 3


def test_what_is_no_clip_is_refused(torch: Any, folder: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file

    encoder = save_encoder(tmp_path / "bert", CAPTIONS)
    with pytest.raises(VttdataError, match=r"bert' is a BertModel and no CLIP"):
        ClipModel.load(str(encoder))
    with pytest.raises(VttdataError, match=r"The CLIP model '.*' cannot be loaded on cpu"):
        ClipModel.load(str(tmp_path))
    with pytest.raises(VttdataError, match="cannot be loaded on nonsense"):
        ClipModel.load(str(folder), device="nonsense")
    pickled = shutil.copytree(folder, tmp_path / "pickled")
    torch.save(load_file(pickled / "model.safetensors"), pickled / "pytorch_model.bin")
    (pickled / "model.safetensors").unlink()
    with pytest.raises(VttdataError, match="cannot be loaded on cpu: "):
        ClipModel.load(str(pickled))
    config = json.loads((folder / "preprocessor_config.json").read_text())
    for change, message in [({"resample": 1}, "filter 1"), ({"size": "big"}, "incomplete")]:
        other = shutil.copytree(folder, tmp_path / f"other-{message[:4]}")
        (other / "preprocessor_config.json").write_text(json.dumps(config | change))
        with pytest.raises(VttdataError, match=f"does not say how pictures are prepared: .*{message}"):
            ClipModel.load(str(other))


def test_missing_library_or_video_is_named(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    metric = load_metric("emscore", inputs=MetricInputs({"": str(folder)}))
    with pytest.raises(VttdataError, match=r"no file of the video 'v1'; --videos DIR"):
        metric.score_videos(["a man"], [["a man"]], [VideoSpan("v1")])
    (tmp_path / "v1.mp4").write_bytes(b"no video")
    metric = load_metric("emscore", inputs=MetricInputs({"": str(folder)}, videos=[tmp_path]))
    with pytest.raises(VttdataError, match=r"v1.mp4: .*not a readable video"):
        metric.score_videos(["a man"], [["a man"]], [VideoSpan("v1")])
    monkeypatch.setattr("vttdata.text.lm.pretrained.find_spec", lambda name: None)
    for name in SCORES:
        assert "pip install 'vttdata[build,lm]'" in str(load_metric(name).unavailable())
    assert "pip install 'vttdata[lm]'" in str(load_metric("sentence-similarity").unavailable())


def test_sentence_similarity_is_that_of_the_best_reference(torch: Any, tmp_path: Path) -> None:
    import transformers

    folder = save_encoder(tmp_path / "encoder", CAPTIONS)
    metric = load_metric("sentence-similarity", inputs=MetricInputs({"sentence-similarity": str(folder)}))
    scores = metric.score(CAPTIONS, REFERENCES)["sentence-similarity"]
    model, tokenizer = (
        transformers.AutoModel.from_pretrained(folder),
        transformers.AutoTokenizer.from_pretrained(folder),
    )

    def encode(text: str) -> Any:
        with torch.inference_mode():
            return model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0].mean(0).numpy()

    for row, (caption, texts) in enumerate(zip(CAPTIONS, REFERENCES, strict=True)):
        cosines = [
            encode(caption) @ encode(text) / np.linalg.norm(encode(caption)) / np.linalg.norm(encode(text))
            for text in texts
        ]
        assert scores.items[row] == pytest.approx(max(cosines), abs=1e-5)
    assert metric.signature().startswith("sentence-similarity|tok:none|model:encoder@")


def test_matched_frames_are_printed_and_drawn(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from PIL import Image

    colours = ["red", "green", "blue"]
    movie = tmp_path / "movie.mp4"
    inputs = [
        part for colour in colours for part in ("-f", "lavfi", "-i", f"color={colour}:size=64x48:rate=5:duration=1")
    ]
    graph = ["-filter_complex", "concat=n=3", "-c:v", "libx264", str(movie)]
    subprocess.run([ffmpeg_path(), "-v", "error", *inputs, *graph], check=True)
    arguments = ["video", "match", str(movie), "a man runs", "--model", str(folder), "--frames", "3"]
    assert main([*arguments, "--out", str(tmp_path / "matches.png"), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    tokens = report["tokens"]
    assert [token["token"] for token in tokens[:1] + tokens[-1:]] == ["<|startoftext|>", "<|endoftext|>"]
    assert report["precision"] == pytest.approx(np.mean([token["cosine"] for token in tokens]), abs=1e-6)
    assert {token["seconds"] for token in tokens} <= {0.0, 1.4, 2.8}
    picture = np.asarray(Image.open(tmp_path / "matches.png").convert("RGB"))
    for number, token in enumerate(tokens):
        shown = picture[6 + number // 6 * 134 + 16 + 45, 6 + number % 6 * 166 + 80]
        assert int(np.argmax(shown)) == token["frame"], token
    assert main(arguments) == 0
    assert "all tokens weigh the same" in capsys.readouterr().out
    assert main(["video", "match", str(tmp_path / "red.mp4"), "a man", "--model", str(folder)]) == 2
    assert "red.mp4: the file cannot be read" in capsys.readouterr().err
    assert main([*arguments, "--out", str(tmp_path / "no" / "matches.png")]) == 2
    assert "cannot be written" in capsys.readouterr().err
