"""Audits of foils through the command line: of datasets by folder and name, of tables of texts, by models given."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.test_foil import write_captions
from vttdata.cli.main import main
from vttdata.text.lm import NgramModel


def test_a_table_of_pairs_is_audited(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = ["true,foil,video_id", *(f"a dog runs {n},a cat runs {n},v{n}" for n in range(100))]
    (tmp_path / "pairs.csv").write_text("\n".join(lines) + "\n")
    assert main(["audit", str(tmp_path / "pairs.csv")]) == 0
    output = capsys.readouterr().out
    assert "ensemble           1.000 (open)" in output
    assert "above 0.55: the set is open to blind solving" in output
    assert main(["audit", str(tmp_path / "pairs.csv"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["ok"] is False
    assert found["attacks"][0]["accuracy"] == 1.0


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("true,foil\na,\n", "pairs.csv:2: the foil text is missing"),
        ("true,foil\n,a\n", "pairs.csv:2: the true text is missing"),
        ("true,wrong\na,b\n", "there is no column 'foil'; the columns are 'true', 'wrong'"),
        ("caption,foil\na,b\n", "there is no column 'true'; the columns are 'caption', 'foil'"),
        ("true,foil\n", "has no rows"),
        ("true,foil,video_id\na b,a b,v\na c,a d,w\n", "one text twice: 'a b'"),
        ("true,foil,video_id\na b,a c,v\na c,a d,v\n", "All pairs are of one video"),
        (
            "true,foil,video_id\n\u72d7\u5728\u8dd1,\u732b\u5728\u8dd1,v\n\u4eba\u8d70,\u4eba\u5750,w\n",
            "no spaces between words",
        ),
    ],
)
def test_invalid_pairs_are_refused_in_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], rows: str, words: str
) -> None:
    (tmp_path / "pairs.csv").write_text(rows)
    assert main(["audit", str(tmp_path / "pairs.csv")]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("name", ["true", "foil"])
def test_a_text_that_json_lacks_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    rows = [{"true": f"a dog {video}", "foil": f"a cat {video}", "video_id": f"v{video}"} for video in range(3)]
    del rows[1][name]
    (tmp_path / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert main(["audit", str(tmp_path / "pairs.jsonl")]) == 2
    error = capsys.readouterr().err
    assert "pairs.jsonl:2" in error
    assert name in error
    assert "should hold" not in error


@pytest.mark.not_on("win32")
def test_a_set_is_audited_by_the_name_it_was_built_under(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write_captions(tmp_path / "captions.csv")
    monkeypatch.setenv("VTTDATA_HOME", str(tmp_path / "home"))
    assert main(["foil", str(file), "--out", str(tmp_path / "home" / "me" / "animals")]) == 0
    capsys.readouterr()
    assert main(["audit", "me/animals", "--json"]) == 0
    by_name = capsys.readouterr().out
    assert main(["audit", str(tmp_path / "home" / "me" / "animals"), "--json"]) == 0
    assert by_name == capsys.readouterr().out
    assert main(["audit", "me/nobody"]) == 2
    assert "no dataset 'me/nobody'" in capsys.readouterr().err


def test_given_models_and_texts_attack_a_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = ["true,foil,video_id", *(f"a dog runs {n},a cat runs {n},v{n}" for n in range(100))]
    (tmp_path / "pairs.csv").write_text("\n".join(lines) + "\n")
    NgramModel.train(["a cat runs"] * 3 + ["a dog sits"], order=2).save(tmp_path / "cats.npz")
    (tmp_path / "texts.csv").write_text("caption\n" + "a dog runs\n" * 5 + "a cat sits\n")
    command = ["audit", str(tmp_path / "pairs.csv"), "--json", "--judge", str(tmp_path / "cats.npz")]
    assert main([*command, "--texts", str(tmp_path / "texts.csv")]) == 0
    found = {own["attacker"]: own.get("accuracy") for own in json.loads(capsys.readouterr().out)["attacks"]}
    assert found["ngram-models"] == 1.0  # has read of dogs that run
    assert [accuracy for name, accuracy in found.items() if name.startswith("ngram-2")] == [0.0]  # of cats that run


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--judge", "nowhere.npz"], "nowhere.npz"),
        (["--judge", "no/such-model"], "no/such-model"),
        (["--texts", "none.csv"], "none.csv"),
        (["--encoder", "no/such-encoder"], "no/such-encoder"),
    ],
)
def test_missing_judges_and_texts_are_refused_in_one_sentence(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    words: str,
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    (tmp_path / "pairs.csv").write_text("true,foil,video_id\na dog,a cat,1\na cat,a dog,2\n")
    assert main(["audit", str(tmp_path / "pairs.csv"), *arguments]) == 2
    error = capsys.readouterr().err
    assert words in error or "vttdata[lm]" in error  # where its libraries are not installed
    assert error.count("\n") == 1


@pytest.mark.not_on("win32")
def test_an_audit_gives_the_figures_of_the_card(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write_captions(tmp_path / "captions.csv", 100)
    assert main(["foil", str(file), "--out", str(tmp_path / "foils"), "--seed", "7"]) == 0
    published = json.loads((tmp_path / "foils" / "shortcuts.json").read_text())["foils"]
    capsys.readouterr()
    assert main(["audit", str(tmp_path / "foils"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["attacks"]
    assert [{key: own[key] for key in own if key != "from_card"} for own in found] == published
    assert any(own.get("from_card") for own in found) == any(
        "texts of" in own.get("learned_from", "") for own in published
    )
