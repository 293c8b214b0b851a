"""METEOR by its real program, as pycocoevalcap runs it; SPICE by a stand-in for Java, since its models are not here.

METEOR's own table of 5 million paraphrases takes ten seconds to read, so a table of a few takes its place.
"""

from __future__ import annotations

import gzip
import os
import runpy
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.leaking_dataset import write_predictions
from tests.helpers.needs import library
from vttdata import evaluate
from vttdata.errors import VttdataError
from vttdata.evaluate.evaluation import EvaluationSettings
from vttdata.evaluate.java_scores import JavaError, find_jar
from vttdata.evaluate.metric import load_metric
from vttdata.evaluate.metrics.meteor import JAR, PARAPHRASES, meteor_scores
from vttdata.statistics.scores import ColumnScores
from vttdata.text.tokenizers import load_tokenizer

CANDIDATES = [
    "A man is running in the park.",
    "a dog",
    "",
    "😀",
    "someone cooks ||| pasta in a pan",
    "a woman sings a song on stage",
    "kids are playing soccer outdoors",
]
REFERENCES = [
    ["a man runs through a park", "Someone is jogging."],
    ["a dog"],
    ["a cat sleeps"],
    ["nothing is said"],
    ["a person is cooking noodles", "pasta is made", "a cook stirs a pan"],
    ["a lady performs a song", "a woman sings"],
    ["children play football outside", "the kids played soccer"],
]

FEW_PARAPHRASES = [("is running in the", "runs through a"), ("on stage", "a lady")]
# METEOR prints the matches of paraphrases in these columns.
PARAPHRASE_COLUMNS = slice(16, 20)

# Acts as Java for SPICE 1.0: reads and writes its files, and scores by sets of words.
FAKE_JAVA = f"""#!{sys.executable}
import json, sys
if sys.argv[1] == "-version":
    sys.exit('openjdk version "1.8.0_312"')
assert sys.argv[1:5] == ["-Dfile.encoding=UTF-8", "-Xmx8G", "-jar", "spice-1.0.jar"] and open("spice-1.0.jar")
given, option, written = sys.argv[5:8]
assert option == "-out" and "-silent" in sys.argv
results = []
for item in json.load(open(given, encoding="utf-8")):
    words, known = set(item["test"].split()), {{word for text in item["refs"] for word in text.split()}}
    f = 2 * len(words & known) / (len(words) + len(known)) if words else None
    results.insert(0, {{"image_id": item["image_id"], "scores": {{"All": {{"f": f}}}}}})
json.dump(results, open(written, "w"))
"""

# Fails at everything but to say its version.
VERSION_ONLY = """#!/bin/sh
if [ "$1" = -version ]; then echo 'openjdk version "17.0.15"' >&2; exit; fi
exit 1
"""


def write_java(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a program the ``java`` of this test."""
    folder.mkdir(exist_ok=True)
    program = folder / "java"
    program.write_text(text)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return program


def hide_pycocoevalcap(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have pycocoevalcap imported from another folder."""
    monkeypatch.syspath_prepend(str(site))
    for module in [name for name in sys.modules if name.partition(".")[0] == "pycocoevalcap"]:
        monkeypatch.delitem(sys.modules, module)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("scores")


def write_meteor(site: Path) -> Path:
    """Write a pycocoevalcap that is METEOR with `FEW_PARAPHRASES`, and return the path of its program."""
    original = find_jar(JAR)
    if isinstance(original, str):
        pytest.skip(original)
    jar = site / "pycocoevalcap" / JAR
    (jar.parent / "data").mkdir(parents=True)
    for name in ("meteor.py", jar.name):
        shutil.copyfile(original.parent / name, jar.parent / name)
    with gzip.open(jar.parent / PARAPHRASES, "wt") as table:
        table.writelines(f"0.5\n{phrase}\n{paraphrase}\n" for phrase, paraphrase in FEW_PARAPHRASES)
    return jar


@pytest.fixture(scope="module")
def meteor(cache: Path, tmp_path_factory: pytest.TempPathFactory) -> ColumnScores:
    """Return METEOR of `CANDIDATES` by its program, in a folder with an odd name and under a user's odd locale."""
    site = tmp_path_factory.mktemp("my site, é")
    jar = write_meteor(site)
    with pytest.MonkeyPatch.context() as patch:
        hide_pycocoevalcap(site, patch)
        patch.setenv("LC_ALL", "tr_TR")
        assert find_jar(JAR) == jar
        return load_metric("meteor", cache=cache).score(CANDIDATES, REFERENCES)["meteor"]


@pytest.mark.not_on("win32")
def test_meteor_is_that_of_pycocoevalcap(meteor: ColumnScores, tmp_path: Path) -> None:
    peer_module = runpy.run_path(str(write_meteor(tmp_path).with_name("meteor.py")))
    tokenize = load_tokenizer("ptb-3.4.1")
    peer = peer_module["Meteor"]()
    corpus, items = peer.compute_score(
        {item: [" ".join(tokenize(text)) for text in texts] for item, texts in enumerate(REFERENCES)},
        {item: [" ".join(tokenize(text))] for item, text in enumerate(CANDIDATES)},
    )
    np.testing.assert_allclose(meteor.items, items, rtol=0, atol=1e-9)
    assert meteor.score == pytest.approx(corpus, abs=1e-9)
    assert meteor.statistics[:, PARAPHRASE_COLUMNS].any()


@pytest.mark.not_on("win32")
def test_meteor_is_kept_by_content(
    meteor: ColumnScores, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_java(tmp_path / "bin", VERSION_ONLY, monkeypatch)
    again = load_metric("meteor", cache=cache).score(CANDIDATES, REFERENCES)["meteor"]
    np.testing.assert_array_equal(again.items, meteor.items)
    with pytest.raises(JavaError, match="code 1"):
        load_metric("meteor", cache=cache).score(CANDIDATES[1:], REFERENCES[1:])


def test_meteor_formula_gives_what_the_program_prints() -> None:
    # Statistics and scores that METEOR 1.5 printed for captions written for this test, alone and together.
    printed = [
        ("8 6 4 3 1 1 2 2 0 0 0 0 0 0 0 0 0 0 0 0 3 3 3", 0.15873015873015872),
        ("6 8 3 4 1 1 2 2 0 0 0 0 0 0 0 0 0 0 0 0 3 3 3", 0.12987012987012989),
        ("6 2 2 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0", 0.0),
        ("4 6 1 3 1 1 1 1 1 1 0 0 0 0 0 0 1 1 0 1 2 4 5", 0.33985992037853796),
        ("4 2 2 1 1 1 1 1 0 0 0 0 0 0 0 0 0 0 0 0 1 2 2", 0.4153649234976744),
    ]
    statistics = np.array([[float(number) for number in line.split()] for line, _ in printed])
    np.testing.assert_allclose(meteor_scores(statistics), [value for _, value in printed], rtol=1e-12)


@pytest.mark.parametrize(
    ("end", "message"),
    [
        ("kill -9 $$", "could not be run to its end: the program java was killed from outside"),
        ("echo Out of memory >&2; exit 3", "ended with code 3: Out of memory"),
        ("head -n 1 > /dev/null; echo 0", "METEOR returned 1 lines for "),
    ],
)
@pytest.mark.not_on("win32")
def test_java_that_ends_early_leaves_the_other_scores(
    dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str, message: str
) -> None:
    library("pycocoevalcap")
    version = 'if [ "$1" = -version ]; then echo \'openjdk version "17.0.1"\' >&2; exit 0; fi'
    write_java(tmp_path / "bin", f"#!/bin/sh\n{version}\n{end}\n", monkeypatch)
    with pytest.raises(JavaError, match=message):
        load_metric("meteor").score(["a cat", "a dog"], [["a cat"], ["a dog"]])
    captions = write_predictions(tmp_path / "captions.json")
    report = evaluate(
        dataset,
        captions,
        metrics=["meteor", "rouge-l"],
        settings=EvaluationSettings(draws=10, cache=tmp_path / "scores"),
    )
    assert list(report.scores) == ["rouge-l"]
    assert message in report.unavailable["meteor"]
    assert "meteor" not in report.signature
    with pytest.raises(VttdataError, match=message):
        evaluate(
            dataset, captions, metrics=["meteor"], settings=EvaluationSettings(draws=10, cache=tmp_path / "scores")
        )


@pytest.mark.not_on("win32")
def test_java_metrics_say_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "English" in str(load_metric("meteor", "unicode").unavailable())
    write_java(tmp_path / "bin", "#!/bin/sh\necho 'No Java runtime present' >&2; exit 1\n", monkeypatch)
    assert "No Java runtime present" in str(load_metric("meteor").unavailable())
    monkeypatch.setenv("PATH", "")
    for family in ("meteor", "spice"):
        metric = load_metric(family)
        assert "Java is not installed" in str(metric.unavailable())
        with pytest.raises(VttdataError, match="Java is not installed"):
            metric.score(["a cat"], [["a cat"]])


@pytest.fixture
def spice_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of SPICE in a pycocoevalcap whose programs are empty files, beside a stand-in for Java."""
    folder = tmp_path / "a site" / "pycocoevalcap" / "spice"
    (folder / "lib").mkdir(parents=True)
    for name in ("spice-1.0.jar", "lib/stanford-corenlp-3.6.0-models.jar"):
        (folder / name).touch()
    hide_pycocoevalcap(folder.parents[1], monkeypatch)
    write_java(tmp_path / "bin", FAKE_JAVA, monkeypatch)
    return folder


@pytest.mark.not_on("win32")
def test_spice_reads_what_its_program_writes(spice_site: Path, tmp_path: Path) -> None:
    metric = load_metric("spice", cache=tmp_path / "scores")
    assert metric.unavailable() is None
    texts = ["A cat.", "", "a dog é"], [["a cat"], ["a bird"], ["the dog", "é"]]
    scores = metric.score(*texts)["spice"]
    np.testing.assert_allclose(scores.items, [1, 0, 2 / 3])
    assert scores.score == pytest.approx(5 / 9)
    (file,) = (tmp_path / "scores").iterdir()
    kept = file.read_bytes()
    for damaged in (kept[:-200], b"", bytes(len(kept))):
        file.write_bytes(damaged)
        np.testing.assert_array_equal(metric.score(*texts)["spice"].items, scores.items)
        assert file.read_bytes() == kept
    (tmp_path / "bin/java").write_text(VERSION_ONLY)
    assert metric.score(*texts)["spice"].score == scores.score
    with pytest.raises(JavaError, match="ended with code 1: no message"):
        metric.score(["another"], [["a cat"]])


@pytest.mark.not_on("win32")
def test_spice_says_which_java_and_models_it_needs(
    spice_site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_java(tmp_path / "newer", FAKE_JAVA.replace("1.8.0_312", "17.0.15"), monkeypatch)
    assert load_metric("spice").unavailable() == (
        "SPICE 1.0 runs on Java 8 to 14, not on 17; put an older Java first in PATH."
    )
    (tmp_path / "newer/java").unlink()
    (spice_site / "lib/stanford-corenlp-3.6.0-models.jar").unlink()
    assert "get_stanford_models" in str(load_metric("spice").unavailable())
    (spice_site / "spice-1.0.jar").unlink()
    assert "spice-1.0.jar" in str(load_metric("spice").unavailable())
