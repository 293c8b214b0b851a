"""A build folder: what counts as one, and what is removed from it."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from vttdata.errors import VttdataError
from vttdata.pipeline.build_folder import open_build
from vttdata.pipeline.executors.local import LocalExecutor
from vttdata.pipeline.stages.annotations import CAPTIONS
from vttdata.recipe.load import load_recipe
from vttdata.records import Caption


def test_folder_with_nothing_but_a_lock_is_taken_up(tmp_path: Path) -> None:
    (tmp_path / ".lock").write_text("1234")
    with open_build(tmp_path, load_recipe("demo"), LocalExecutor(1), lambda _: None, quiet=True) as run:
        assert run.folder == tmp_path


def test_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / ".lock").write_text("1234")
    (tmp_path / "thesis.tex").write_text("x")
    with (
        pytest.raises(VttdataError, match="holds something else than a build"),
        open_build(tmp_path, load_recipe("demo"), LocalExecutor(1), lambda _: None, quiet=True),
    ):
        pass


def test_files_behind_a_link_out_of_the_build_are_not_removed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "thesis.mp4").write_text("x")
    with open_build(tmp_path / "out", load_recipe("demo"), LocalExecutor(1), lambda _: None, quiet=True) as run:
        (run.folder / "media").mkdir()
        (run.folder / "media" / "clips").symlink_to(outside)
        run.keep_only(run.media("clips"), {"clip.mp4"})
        inside = run.media("cut")
        (inside / "stale").mkdir()
        (inside / "link").symlink_to(outside)
        (inside / "clip.mp4").write_text("x")
        run.keep_only(inside, {"clip.mp4"})
    assert [path.name for path in outside.iterdir()] == ["thesis.mp4"]
    assert [path.name for path in inside.iterdir()] == ["clip.mp4"]


def test_records_that_change_change_their_table(tmp_path: Path) -> None:
    # As many as before, so that only the texts tell.
    for text in ("a man sings", "a man sings", "a woman sings"):
        with open_build(tmp_path / "out", load_recipe("demo"), LocalExecutor(1), lambda _: None, quiet=True) as run:
            table = run.stage(CAPTIONS, [Caption("v0", 0, text, "w0", "en"), Caption("v1", 1, "a dog", None, "en")])
            assert [caption.caption for caption in table] == [text, "a dog"]
            assert table.tally.taken == table.tally.kept == len(table) == 2
        stored = pd.read_parquet(tmp_path / "out/stages/sentences/kept.parquet")
        assert stored.caption.tolist() == [text, "a dog"]
