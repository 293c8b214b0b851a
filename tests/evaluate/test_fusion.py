"""Linear fusion of metrics: coefficients, their intervals, and gains on years that it was not fitted on."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from vttdata.cli.main import main
from vttdata.errors import VttdataError
from vttdata.evaluate.meta.fusion import ScoredSet, correlation_draws, fit_draws, fuse_metrics


def drawn_set(name: str, seed: int, *, noise: float = 0.5) -> ScoredSet:
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(300, 3))
    human = scores @ [1.0, 0.5, 0.0] + noise * rng.normal(size=300)
    sources = rng.integers(0, 60, 300)
    draws = np.vstack([np.ones(60), rng.multinomial(60, np.full(60, 1 / 60), 200)])
    return ScoredSet(name, scores, human, sources, draws)


def test_each_draw_is_the_least_squares_of_its_captions() -> None:
    sets = [drawn_set("a 2016", 1), drawn_set("b 2016", 2)]
    fitted = fit_draws(sets)
    for draw in (0, 7):
        rows, human = [], []
        for scored in sets:
            times = scored.draws[draw][scored.sources].astype(int)
            rows.append(np.repeat(scored.scores, times, axis=0))
            human.append(np.repeat(scored.human, times))
        design = np.column_stack([np.concatenate(rows), np.ones(sum(map(len, rows)))])
        expected = np.linalg.lstsq(design, np.concatenate(human), rcond=None)[0]
        np.testing.assert_allclose(fitted[draw], expected[:3], atol=1e-8)
        repeated = np.corrcoef(rows[0][:, 0], human[0])[0, 1]
        assert correlation_draws(sets[0].scores[:, 0], sets[0])[draw] == pytest.approx(repeated)


def test_sets_predict_sets_of_other_years_only() -> None:
    sets = [drawn_set(name, seed) for seed, name in enumerate(["x 2016-a", "x 2016-b", "x 2017-a", "x 2017-b"])]
    fusion = fuse_metrics(sets, ["one", "two", "three"])
    assert len(fusion.settings) == 8
    assert all(setting.trained[2:6] != setting.tested[2:6] for setting in fusion.settings)
    assert {setting.trained for setting in fusion.left_out} == {"x 2016-a + x 2016-b", "x 2017-a + x 2017-b"}
    for setting in fusion.settings:
        assert (setting.best, setting.captions) == ("one", 300)
        assert setting.gain.score == pytest.approx(setting.r - setting.best_r)
        assert 0 < setting.gain.low < setting.gain.score < setting.gain.high
        assert setting.p < 0.01
    for estimates in fusion.coefficients.values():
        assert [estimate.low < truth < estimate.high for estimate, truth in zip(estimates, (1, 0.5, 0), strict=True)]
    with pytest.raises(VttdataError, match="the judgments are not of two years, but of 2016"):
        fuse_metrics(sets[:2], ["one", "two", "three"])


def write_year(path: Path, seed: int) -> str:
    """Judgments in which people count the words that a caption shares with its reference."""
    rng = np.random.default_rng(seed)
    words = ["man", "dog", "red", "car", "runs", "sits", "ball", "park", "tree", "snow"]
    lines = []
    for number in range(40):
        reference = list(rng.choice(words, 5))
        for system in ("a", "b"):
            kept = int(rng.integers(1, 6))
            candidate = " ".join([*reference[:kept], *["thing"] * (5 - kept)])
            row = {"video_id": f"v{number}", "system": system, "candidate": candidate}
            lines.append(json.dumps({**row, "score": kept + rng.normal() / 2, "references": [" ".join(reference)]}))
    path.write_text("\n".join(lines))
    return str(path)


def test_command_prints_gains_beside_published_coefficients(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [write_year(tmp_path / f"judged {year}.jsonl", year) for year in (2016, 2017)]
    scores = tmp_path / "bertha.csv"
    scores.write_text("video_id,system,score\n" + "".join(f"v{n},{s},{n % 7}\n" for n in range(40) for s in "ab"))
    chosen = ["--metric", "bleu4", "--metric", "rouge-l", "--scores", str(scores)]
    assert main(["metric", "fuse", *files, *chosen]) == 0
    text = capsys.readouterr().out
    assert "-0.137" in text
    assert "Leaving one year out: the fusion beats the best single metric in" in text
    assert main(["metric", "fuse", *files, *chosen, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    fitted = report["coefficients"]["judged 2016"]
    assert list(fitted) == ["bleu4", "rouge-l", "bertha"]
    assert fitted["bertha"]["published"] == 0.0525
    assert fitted["rouge-l"]["low"] < fitted["rouge-l"]["score"] < fitted["rouge-l"]["high"]
    assert len(report["year_to_year"]) == len(report["leave_one_year_out"]) == 2
    assert main(["metric", "fuse", files[0], "--metric", "rouge-l"]) == 2
    assert "not of two years, but of 2016" in capsys.readouterr().err
    assert main(["metric", "fuse", *files, "--metric", "bleu"]) == 0
    assert "bleu4" in capsys.readouterr().out


def test_scores_that_are_all_the_same_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [write_year(tmp_path / f"judged {year}.jsonl", year) for year in (2016, 2017)]
    scores = tmp_path / "ours.csv"
    scores.write_text("video_id,system,score\n" + "".join(f"v{n},{s},1\n" for n in range(40) for s in "ab"))
    assert main(["metric", "fuse", *files, "--scores", str(scores)]) == 2
    assert "all captions have the same score by ours, so nothing can be fitted." in capsys.readouterr().err
    scores.write_text("video_id,system,score\nv1,a,1\n")
    assert main(["metric", "fuse", *files, "--scores", str(scores)]) == 2
    assert "only 1 judged captions are scored by all metrics." in capsys.readouterr().err
