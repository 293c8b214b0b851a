"""`vttdata new` writes three files that work as they are."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from vttdata.cli.main import main

ROOT = Path(__file__).resolve().parents[2]


def test_written_files_pass_their_own_tests_and_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["new", "tiny-talks", "--out", str(tmp_path / "plugins")]) == 0
    written = [Path(line).relative_to(tmp_path / "plugins").as_posix() for line in capsys.readouterr().out.split()]
    assert written == ["builders/tiny_talks.py", "recipes/tiny-talks.yaml", "tests/builders/test_tiny_talks.py"]
    monkeypatch.setenv("VTTDATA_PLUGINS", str(tmp_path / "plugins"))
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path / "plugins" / "tests")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    (tmp_path / "tiny-talks.csv").write_text(
        "video_id,source_id,start,end,split,caption\na_0_10,a,0,10,train,a man runs\nb_5_9,b,5,9,test,a dog barks\n"
    )
    out = tmp_path / "out"
    build = ["build", "tiny-talks", "--set", f"annotations={tmp_path}", "--out", str(out), "--quiet"]
    assert main(build) == 0
    assert (out / "dataset" / "clips").is_dir()
    assert main(["new", "tiny_talks", "--out", str(tmp_path / "other")]) == 2
    assert "There is a benchmark 'tiny-talks' already" in capsys.readouterr().err
    style = [sys.executable, "-m", "ruff", "check", "--config", str(ROOT / "pyproject.toml"), "--ignore", "TD,FIX,D103"]
    if importlib.util.find_spec("ruff") is not None:
        checked = subprocess.run([*style, str(tmp_path / "plugins")], capture_output=True, text=True, check=False)
        assert checked.returncode == 0, checked.stdout


@pytest.mark.parametrize("name", ["", "../x", "Talks", "two words", "a" * 70, "-x", "x-"])
def test_unusable_name_is_refused(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "--out", str(tmp_path / "plugins"), "--", name]) == 2
    assert "cannot name a benchmark" in capsys.readouterr().err
    assert not (tmp_path / "plugins").exists()


def test_packaged_name_and_existing_file_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "msvd", "--out", str(tmp_path)]) == 2
    assert "There is a benchmark 'msvd' already" in capsys.readouterr().err
    (tmp_path / "recipes").mkdir()
    (tmp_path / "recipes" / "mine.yaml").write_text("")
    assert main(["new", "mine", "--out", str(tmp_path)]) == 2
    assert "mine.yaml: exists already" in capsys.readouterr().err
    assert not (tmp_path / "builders").exists()


def test_interrupted_command_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("VTTDATA_PLUGINS", str(tmp_path))
    command = ["new", "tiny-talks", "--out", str(tmp_path)]
    assert main(command) == 0
    written = [Path(line) for line in capsys.readouterr().out.split()]
    texts = [path.read_text() for path in written]
    written[1].unlink()
    written[2].unlink()
    assert main(command) == 0
    assert [path.read_text() for path in written] == texts
    # What somebody has worked on is kept.
    written[0].write_text("mine")
    written[2].unlink()
    capsys.readouterr()
    assert main(command) == 2
    assert f"{written[0]}: exists already" in capsys.readouterr().err
    assert not written[2].exists()


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        (
            "deep.json",
            '{"qa": [{"clip": "v1.mp4", "items": [{"ask": "who?", "choices": ["a", "b"], "right": "B"}]}]}',
            "Reads 1 questions about 1 videos; the answer to the first, 'who?', is 'b'.",
        ),
        (
            "wide.csv",
            "video,question,option1,option2,option3,correct,qid\nv w,who?,a,b,c,3,7\nv w,what?,a,b,c,1,8\n",
            "Reads 2 questions about 1 videos; the answer to the first, 'who?', is 'c'.",
        ),
        (
            "lettered.csv",
            "video,question,opt_a,opt_b,gold\nv,who?,x,y,B\nv,what?,x,y,A\n",
            "Reads 2 questions about 1 videos; the answer to the first, 'who?', is 'y'.",
        ),
        (
            "lines.jsonl",
            '{"vid": "v", "question": "who?\\nA. a\\nB. b\\nAnswer.", "gt": "A"}\n'
            '{"vid": "v", "question": "open?", "gt": "x"}\n',
            "Reads 1 questions about 1 videos; the answer to the first, 'who?', is 'a'.",
        ),
        (
            "open.json",
            '[{"video": "v", "question": "who?", "answer": "x"}]',
            "Cannot be read yet: no row has options: a list, an object, columns such as option_0 or opt_a, or lines of "
            "the question.",
        ),
        (
            "keyless.json",
            '{"7": {"video": "v", "question": "who?", "choices": {"A": "a", "B": "b"}}}',
            "Cannot be read yet: no row has an answer; those of another file are read by 'answers_from'.",
        ),
        (
            "numbered.json",
            json.dumps(
                {
                    str(n): {"video": f"v{n}", "question": "who?", "choices": ["a", "b"], "answer": "B"}
                    for n in range(12)
                }
            ),
            "Reads 12 questions about 12 videos; the answer to the first, 'who?', is 'b'.",
        ),
    ],
)
def test_recipe_is_guessed_from_a_file_of_questions(
    name: str, content: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_text(content)
    command = ["new", "questions", str(tmp_path / name), "--out", str(tmp_path / "plugins")]
    assert main(command) == 0
    written, sentence = capsys.readouterr().out.splitlines()
    assert words in sentence
    recipe = Path(written).read_text()
    assert sentence in recipe
    # What could not be guessed is there to be filled in.
    assert ("# options: [COLUMN" in recipe) == ("no row has options" in words)
    assert ("# answer_letter: COLUMN" in recipe) == ("Cannot be read" in words)
    assert main(command) == 2
    assert "exists already" in capsys.readouterr().err


def test_file_without_questions_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "captions.csv").write_text("video,caption\nv,a dog\n")
    assert main(["new", "questions", str(tmp_path / "captions.csv"), "--out", str(tmp_path)]) == 2
    assert "no rows with a question were found" in capsys.readouterr().err
    assert not (tmp_path / "recipes").exists()
