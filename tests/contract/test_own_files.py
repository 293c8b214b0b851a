"""Only files of vttdata are removed or moved: every call that can is known, with the reason why its file is one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MODULES = [*sorted((ROOT / "vttdata").rglob("*.py")), *sorted((ROOT / "builders").glob("*.py"))]
CALLS = {"unlink", "rmtree", "rmdir", "removedirs", "rename", "renames", "move"}

# Where a list says with a checksum what is to go.
LISTED = {"files/own_folder.FileChanges.remove"}
# What the same function, or a process that was killed in it, has written under a name that nobody else gives.
SCRATCH = {
    "builders/own_videos.show_uncaptioned",
    "cli/degrade.command",
    "cli/foil.command",
    "collect/demo_films/corpus.draw_scenes",
    "collect/demo_films/corpus.draw_spoiled",
    "collect/demo_films/corpus.make_film",
    "collect/download._store",
    "collect/download.remove_unfinished",
    "compose/stimuli._write_table",
    "compose/stimuli.make_stimuli",
    "compose/withdraw._unfinished",
    "dataset/replace_folder._clear",
    "dataset/replace_folder.replace_folder",
    "dataset/shards.write_split",
    "dataset/write._DatasetWriter.write_tables",
    "evaluate/harness/vlmevalkit._gather",
    "evaluate/learned/training._Checkpoint.write",
    "evaluate/learned/training.train_metric",
    "evaluate/score_cache.keep_arrays",
    "export/reader.DatasetReader._look_up_captions",
    "files/downloads.DownloadStore._copy_from_mirror",
    "files/downloads.DownloadStore._receive",
    "files/downloads.DownloadStore._store",
    "files/downloads._Reception._request",
    "files/file_lock._lacks_locks",
    "files/file_lock._system_lock",
    "files/file_lock.hold_lock",
    "files/file_lock.named_owner",
    "files/remote.fetch_copy",
    "media/stimuli.ClipStimuli._cut",
    "partial_file.partial_file",
    "partial_file.remove_partial_files",
    "people/campaign.make_campaign",
    "people/videos._write_playable",
    "pipeline/build_folder.open_build",
    "pipeline/journal.write_json",
    "pipeline/stages/videos.Cut.process",
    "publish/diff.warn_if_rows_changed",
}
# The copy of a dataset that is to take the place of another, made from its manifest.
COPY = {
    "dataset/revise._Reviser._replace",
    "dataset/revise._Reviser._revise_recipe",
    "dataset/revise._Reviser._revise_videos",
    "dataset/videos.add_preview",
}
# Fixed names, or those of keys that only vttdata makes, in a folder with its marker.
MARKED = {
    "compose/build.build",
    "compose/stimuli.withdraw_from_stimuli",
    "export/write.withdraw_from_export",
    "load/local_builds.BuildRegistry.add",
    "pipeline/build_folder.Build.keep_only",
    "pipeline/build_folder.Build.stage",
    "pipeline/build_folder.write_tables",
    "pipeline/stored_results.ItemResults.remove",
    "pipeline/stored_results.PartStore.remove_all_but",
    "pipeline/stored_results.PartStore.write",
    "pipeline/stored_results.remove_results",
    "pipeline/withdrawn_results._filter_table",
    "pipeline/withdrawn_results.remove_withdrawn_results",
    "report/build_report.remove_report",
    "report/clip_sheet.clear_clip_files",
    "report/clip_sheet.remove_folder_if_empty",
    "report/page_pictures.PictureFolder.remove_others",
}
# Frozen values with a method of the same name.
NO_FILES = {"recipe/load.fetch_paths", "recipe/load.resolve_paths"}


def removals(tree: ast.AST, names: tuple[str, ...] = ()) -> Iterator[str]:
    """The function, with its class, of each call that removes or moves a file."""
    for child in ast.iter_child_nodes(tree):
        is_named = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        inner = (*names, child.name) if is_named else names
        if isinstance(child, ast.Call) and isinstance(child.func, ast.Attribute):
            method, owner = child.func.attr, ast.unparse(child.func.value)
            # A text is replaced by a second argument.
            is_path = method == "replace" and (owner == "os" or (len(child.args) == 1 and not child.keywords))
            if method in CALLS or is_path or (method == "remove" and owner == "os"):
                yield ".".join(names)
        yield from removals(child, inner)


def test_every_call_that_removes_or_moves_a_file_is_known() -> None:
    found = {
        f"{path.relative_to(ROOT).with_suffix('').as_posix().removeprefix('vttdata/')}.{name}"
        for path in MODULES
        for name in removals(ast.parse(path.read_text(encoding="utf-8")))
    }
    known = LISTED | SCRATCH | COPY | MARKED | NO_FILES
    assert found - known == set()
    assert known - found == set()
