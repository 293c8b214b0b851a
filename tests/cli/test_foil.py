"""Foils through the command line: made from captions, audited, and refused in one sentence."""

from __future__ import annotations

import dataclasses
import json
import random
import shutil
from collections import Counter
from functools import partial
from pathlib import Path

import datasets
import pytest

from vttdata.cli.foil import command, foil_recipe
from vttdata.cli.main import main
from vttdata.generate.foils.settings import FoilSettings
from vttdata.text.lm import NgramModel

ANIMALS = ["dog", "cat", "horse", "cow", "sheep", "goat"]
FRAMES = ["a {} runs in the yard", "the {} looks at the camera", "a man watches a {}", "the {} sleeps near the house"]


def write_captions(path: Path, videos: int = 160) -> Path:
    """Captions about one animal a video."""
    draw = random.Random(1)
    lines = ["video_id,caption"]
    for video in range(videos):
        animal = draw.choice(ANIMALS)
        lines += [f"video{video},{frame.format(animal)}" for frame in draw.sample(FRAMES, 3)]
    path.write_text("\n".join(lines) + "\n")
    return path


def contents(folder: Path) -> dict[str, bytes]:
    """All files but those that say from which file the set was made."""
    files = (path for path in folder.rglob("*") if path.is_file())
    left_out = {"provenance.json", "manifest.json"}
    return {str(path.relative_to(folder)): path.read_bytes() for path in files if path.name not in left_out}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table of captions and the foils of them; tests must not change it."""
    folder = tmp_path_factory.mktemp("made")
    file = write_captions(folder / "captions.csv")
    assert main(["foil", str(file), "--out", str(folder / "out"), "--seed", "3", "--quiet"]) == 0
    return folder


def test_captions_become_foils_that_load_and_are_counted_and_audited(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    captions, out = (made / "captions.csv").read_text(), str(made / "out")
    load = partial(datasets.load_dataset, out, cache_dir=str(tmp_path / "cache"), split="test")
    rows = load(name="foils")
    assert len(rows) > 40
    for row in rows:
        start, end = row["start"], row["end"]
        assert row["foil"] == row["caption"][:start] + row["replacement"] + row["caption"][end:]
        assert f"{row['video_id']},{row['caption']}\n" in captions
        assert row["concept"] in row["caption"]
        assert row["foil_concept"] in row["foil"]
        assert row["seed"] == 3
    swaps = Counter(zip(rows["concept"], rows["foil_concept"], strict=True))
    assert {(row["concept"], row["foil_concept"]): row["pairs"] for row in load(name="swaps")} == swaps

    assert main(["show", out, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    total = shown["total"]
    assert total == shown["splits"]["test"]
    assert (total["pairs"], total["videos"], total["swaps"]) == (len(rows), len(set(rows["video_id"])), len(swaps))
    assert total["concepts"] == len({*rows["concept"], *rows["foil_concept"]})
    ensemble = shown["worst_attack"]["foils"]
    attacks = json.loads((made / "out" / "shortcuts.json").read_text())["foils"]
    assert (ensemble["attacker"], ensemble["accuracy"]) == ("ensemble", attacks[0]["accuracy"])
    assert main(["show", out]) == 0
    text = capsys.readouterr().out
    assert ["pairs", f"{len(rows)}", f"{len(rows)}"] in [line.split() for line in text.splitlines()]
    assert "blind attackers on foils: ensemble" in text

    assert main(["audit", out, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["attacks"][0]["pairs"] == len(rows)
    card = (made / "out" / "README.md").read_text()
    assert "## Blind attackers on `foils`" in card
    assert str(made) not in card


def test_order_and_names_of_columns_and_a_judge_change_no_foil(made: Path, tmp_path: Path) -> None:
    _, *lines = (made / "captions.csv").read_text().splitlines()
    by_video: dict[str, list[str]] = {}
    for line in lines:
        by_video.setdefault(line.partition(",")[0], []).append(line.replace(",", ";", 1))
    mixed = [line for video in sorted(by_video, reverse=True) for line in by_video[video]]
    (tmp_path / "mixed.csv").write_text("\n".join(["Video;Beschreibung", *mixed]) + "\n", encoding="utf-8-sig")
    NgramModel.train(["a cat runs in the yard"], order=2).save(tmp_path / "cats.npz")
    given = ["--columns", "video_id=Video,caption=Beschreibung", "--judge", str(tmp_path / "cats.npz"), "--seed", "3"]
    assert main(["foil", str(tmp_path / "mixed.csv"), "--out", str(tmp_path / "out"), *given, "--quiet"]) == 0
    one, two = (
        {name: content for name, content in contents(folder / "out").items() if name.endswith(".parquet")}
        for folder in (made, tmp_path)
    )
    assert one == two
    assert "| ngram-2 " in (tmp_path / "out" / "README.md").read_text()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("video_id,caption\n", "holds no captions"),
        ("video_id,caption\nv1,\nv2,\n", "no words in them"),
        ("video_id,caption\nv1,a dog\nv2,a cat\n", "language models"),
        ("video_id,caption\n" + "".join(f"v{n},un uomo suona\n" for n in range(40)), "captions are Italian"),
        ("video_id,caption\n" + "".join(f"v{n},something happens\n" for n in range(40)), "names a visible thing"),
        ("video_id,caption\n" + "".join(f"v{n},the dog runs fast\n" for n in range(40)), "nothing to swap"),
        ("clip,text\na,b\n", "no column 'caption'"),
    ],
)
def test_captions_without_foils_are_refused_in_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, words: str
) -> None:
    (tmp_path / "captions.csv").write_text(text)
    assert main(["foil", str(tmp_path / "captions.csv"), "--out", str(tmp_path / "out"), "--quiet"]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_what_is_left_out_is_counted_in_captions_videos_and_possible_foils(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write_captions(tmp_path / "captions.csv")
    with file.open("a") as table:
        table.writelines(f"thing{number},something happens\n" for number in range(8))
        table.writelines(f"video{number},hello\n" for number in range(5))
        # Each animal may replace the other but for the other caption; all else may be replaced by four animals.
        table.writelines(f"two{number},a dog runs\ntwo{number},a cat is near the dog\n" for number in range(20))
    assert main(["foil", str(file), "--out", str(tmp_path / "out"), "--max-unsound-probability", "1"]) == 0
    counts = dict(line.rsplit(": ", 1) for line in capsys.readouterr().out.partition("\n\n")[0].splitlines())
    assert counts["captions"] == str(160 * 3 + 8 + 5 + 20 * 2)
    assert counts["videos"] == str(160 + 8 + 20)
    assert counts["captions left out: empty"] == "5"
    assert counts["videos without a pair: no_concept"] == "8"
    assert counts["possible foils left out: foil_mentioned"] == str(20 * 2)
    without = sum(int(number) for name, number in counts.items() if name.startswith("videos without a pair: "))
    assert int(counts["pairs"]) + without == int(counts["videos"])
    assert "0" not in counts.values()


@pytest.mark.parametrize(
    ("given", "remedies"),
    [
        (
            ["--options", "4"],
            ["lower min_count (10) or lower options (4) or raise max_unsound_probability (0.6) or give"],
        ),
        # What was lowered to its end is not named again.
        (
            ["--options", "4", "--min-count", "0"],
            ["foil_too_few: lower options (4) or raise max_unsound_probability (0.6)"],
        ),
        (
            ["--options", "4", "--max-unsound-probability", "0"],
            ["are foil_implausible: raise max_unsound_probability (0) or give"],
        ),
        (["--max-unsound-probability", "0"], ["are foil_implausible: raise max_unsound_probability (0) or give"]),
        (["--max-unsound-probability", "1", "--group-share", "0.001"], ["160 of 160 videos are not_chosen: raise "]),
    ],
)
def test_where_nothing_is_left_the_message_names_what_to_change(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], given: list[str], remedies: list[str]
) -> None:
    file = write_captions(tmp_path / "captions.csv")
    assert main(["foil", str(file), "--out", str(tmp_path / "out"), "--quiet", *given]) == 2
    error = capsys.readouterr().err
    assert "No foil is left of 480 captions of 160 videos; " in error
    assert error.count("\n") == 1
    assert all(remedy in error for remedy in remedies)
    assert not (tmp_path / "out").exists()


def test_malformed_results_of_attackers_are_refused(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = Path(shutil.copytree(made / "out", tmp_path / "out"))
    (out / "shortcuts.json").write_text('{"foils": [3]}')
    assert main(["show", str(out)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    (out / "shortcuts.json").unlink()
    assert main(["show", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["worst_attack"] == {}


def test_a_set_with_a_name_a_licence_verdicts_and_a_judge_is_made_again(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out, table = str(made / "captions.csv"), tmp_path / "out", tmp_path / "said.csv"
    table.write_text("foil_id,verdict\nvideo0_0_2_cat,implausible\n")
    (tmp_path / "elsewhere").mkdir()
    judge = tmp_path / "elsewhere" / "cats.npz"
    NgramModel.train(["a cat runs in the yard"], order=2).save(judge)
    given = ["--name", "me/animals", "--licence", "cc-by-4.0", "--pair-share", "0.5", "--candidates", "9"]
    given += ["--verdicts", str(table), "--max-unsound-probability", "1", "--judge", str(judge)]
    assert main(["foil", file, "--out", str(out), *given, "--quiet"]) == 0
    card = (out / "README.md").read_text()
    assert "# animals 1.0.0" in card
    assert "license: cc-by-4.0" in card
    assert not [path for path in out.rglob("*") if path.is_file() and str(tmp_path).encode() in path.read_bytes()]
    verify = ["verify", str(out), "--input", file]
    with_judge, with_verdicts = ["--set", f"judges.0={judge}"], ["--set", f"verdicts={table}"]
    for settings, missing in ((with_verdicts, "judges.0=PATH"), (with_judge, "verdicts=FILE")):
        capsys.readouterr()
        assert main([*verify, *settings]) == 2
        assert f"needs what the dataset was made from: --set {missing}" in capsys.readouterr().err
    assert main([*verify, *with_judge, *with_verdicts]) == 0
    assert "are the same to the byte" in capsys.readouterr().out


def test_a_lexicon_of_ones_own_that_contradicts_itself_is_refused_in_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "own.yaml").write_text(
        "version: mine\nnouns: {pet: {dog: {synonyms: [hound]}, cat: {synonyms: [hound]}}}\nexcluded: {}\n"
    )
    file = write_captions(tmp_path / "captions.csv", 20)
    given = ["--lexicon", str(tmp_path / "own.yaml"), "--quiet"]
    assert main(["foil", str(file), "--out", str(tmp_path / "out"), *given]) == 2
    error = capsys.readouterr().err
    assert "'hound' is in two places" in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["--name", "no name"], "foil: name: found 'no name'; it should be owner/name"),
        (["--licence", " "], "empty licence"),
        (["--pair-share", "0"], "--pair-share"),
        (["--pair-share", "nan"], "--pair-share"),
        (["--imbalance", "0.6"], "--imbalance"),
        (["--max-unsound-probability", "-0.1"], "--max-unsound-probability"),
        (["--unsound-penalty", "-1"], "--unsound-penalty"),
        (["--judged-only"], "there are no verdicts"),
        (["--verdicts", "none.csv"], "none.csv"),
        (["--candidates", "0"], "--candidates"),
        (["--min-count", "-3"], "--min-count"),
        (["--pipeline", "no_such_pipeline"], "no_such_pipeline"),
        (["--lexicon", "none.yaml"], "none.yaml"),
    ],
)
def test_invalid_options_are_refused_in_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], given: list[str], words: str
) -> None:
    file = write_captions(tmp_path / "captions.csv", 20)
    assert main(["foil", str(file), "--out", str(tmp_path / "out"), "--quiet", *given]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1


def test_defaults_of_the_command_are_those_of_the_library() -> None:
    context = command.make_context("foil", ["captions.csv", "--out", "out"])
    assert foil_recipe("captions.csv", context.params)["foils"] == dataclasses.asdict(FoilSettings())
