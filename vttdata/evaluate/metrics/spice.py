"""SPICE 1.0 by its Java program in pycocoevalcap and Stanford's models; English only, results kept by content."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from vttdata.errors import VttdataError
from vttdata.evaluate.java_scores import INSTALL, cached_rows, find_jar, java_version, run_java
from vttdata.evaluate.metric import CaptioningMetric, check_texts
from vttdata.statistics.scores import ColumnScores
from vttdata.text.tokenizers import load_tokenizer

# The program writes its results with a JavaScript engine, which Java has no longer.
NEWEST_JAVA = 14
JAR, MODELS = "spice/spice-1.0.jar", "spice/lib/stanford-corenlp-3.6.0-models.jar"


class Spice(CaptioningMetric):
    """SPICE of Anderson et al. (2016): F score of the tuples of scene graphs."""

    columns = ("spice",)
    needs = f"{INSTALL}, Java 8 to {NEWEST_JAVA}; then python -m pycocoevalcap.spice.get_stanford_models"
    english_only = True

    def options(self) -> Mapping[str, str]:
        """Return the version of the program."""
        return {"spice": "1.0", "lang": "en"}

    def unavailable(self) -> str | None:
        """Return what is missing, or that the captions are not English."""
        if self.tokenizer != "ptb-3.4.1":
            return f"SPICE takes English captions with the tokenizer ptb-3.4.1, not {self.tokenizer}."
        jar, version = find_jar(JAR), java_version()
        if isinstance(jar, str):
            return jar
        if isinstance(version, int) and version > NEWEST_JAVA:
            return f"SPICE 1.0 runs on Java 8 to {NEWEST_JAVA}, not on {version}; put an older Java first in PATH."
        if isinstance(find_jar(MODELS), str):
            return "Stanford's models are not there: python -m pycocoevalcap.spice.get_stanford_models (400 MB)."
        return None

    def score(self, candidates: Sequence[str], references: Sequence[Sequence[str]]) -> dict[str, ColumnScores]:
        """Score captions; the corpus score is the mean of the items' scores, NaN of which count as 0."""
        check_texts(candidates, references)
        problem = self.unavailable()
        if problem:
            raise VttdataError(f"SPICE cannot be computed. {problem}")
        tokenize = load_tokenizer(self.tokenizer)
        items = [
            {"image_id": number, "test": " ".join(tokenize(text)), "refs": [" ".join(tokenize(ref)) for ref in texts]}
            for number, (text, texts) in enumerate(zip(candidates, references, strict=True))
        ]
        rows = cached_rows(self.cache, "spice-1.0", items, (len(items), 1), lambda: _compare_graphs(items))
        return {"spice": ColumnScores.from_means(rows[:, 0])}


def _compare_graphs(items: Sequence[Mapping[str, object]]) -> list[list[float]]:
    jar = Path(find_jar(JAR))
    with tempfile.TemporaryDirectory() as folder:
        items_file, results = Path(folder) / "items.json", Path(folder) / "scores.json"
        items_file.write_text(json.dumps(items), encoding="utf-8", newline="\n")
        arguments = ["-Xmx8G", "-jar", jar.name, str(items_file), "-out", str(results), "-silent"]
        run_java(arguments, jar.parent)
        scores = {row["image_id"]: row["scores"]["All"]["f"] for row in json.loads(results.read_text(encoding="utf-8"))}
    return [[float(scores[item["image_id"]] or 0.0)] for item in items]
