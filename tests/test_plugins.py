from __future__ import annotations

from pathlib import Path

import pytest

from vttdata.errors import VttdataError
from vttdata.media import decode
from vttdata.plugins import discover, load_module, plugin_folder


@pytest.fixture
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "plugins"
    (folder / "filters").mkdir(parents=True)
    monkeypatch.setenv("VTTDATA_PLUGINS", str(folder))
    return folder


def _write(path: Path, text: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_packaged_files_come_before_those_of_the_user(plugins: Path, tmp_path: Path) -> None:
    packaged = [_write(tmp_path / "package" / name) for name in ("dark.py", "still.py", "_base.py", "notes.txt")]
    own = _write(plugins / "filters" / "blur.py")
    assert discover(tmp_path / "package", "filters") == {"dark": packaged[0], "still": packaged[1], "blur": own}
    assert discover(None, "filters") == {"blur": own}
    assert discover(tmp_path / "package", "filters", ".txt") == {"notes": packaged[3]}


def test_without_a_folder_of_plugins_only_packaged_files_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _write(tmp_path / "dark.py")
    monkeypatch.delenv("VTTDATA_PLUGINS", raising=False)
    assert plugin_folder("filters") is None
    assert discover(tmp_path, "filters") == {"dark": path}


def test_a_kind_without_subfolder_has_no_plugins(plugins: Path) -> None:
    assert plugin_folder("builders") is None
    assert discover(None, "builders") == {}


def test_a_plugin_cannot_replace_a_packaged_file(plugins: Path, tmp_path: Path) -> None:
    _write(tmp_path / "package" / "dark.py")
    own = _write(plugins / "filters" / "dark.py")
    with pytest.raises(VttdataError, match="'dark' in filters is already packaged") as error:
        discover(tmp_path / "package", "filters")
    assert str(own) in str(error.value)


def test_a_variable_that_names_no_folder_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VTTDATA_PLUGINS", str(tmp_path / "gone"))
    with pytest.raises(VttdataError, match=r"VTTDATA_PLUGINS: '.*gone' is not an existing folder"):
        plugin_folder("filters")


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("x = 1\ndef f(:\n", 2, "SyntaxError: "),
        ("\n\nimport no_such_library\n", 3, "ModuleNotFoundError: "),
        ("def f():\n    return 1 / 0\n\nf()\n", 2, "ZeroDivisionError: "),
        ("import json\njson.loads('{')\n", 2, "JSONDecodeError: "),
        ("raise SystemExit(3)\n", 1, "SystemExit: 3"),
    ],
)
def test_an_error_at_import_names_file_and_line(tmp_path: Path, text: str, line: int, problem: str) -> None:
    path = _write(tmp_path / "mine.py", text)
    with pytest.raises(VttdataError) as error:
        load_module(path, "filter")
    assert str(error.value).startswith(f"{path}:{line}: cannot be loaded as a filter ({problem}")


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(VttdataError, match=r"gone\.py: cannot be loaded as a filter \(FileNotFoundError"):
        load_module(tmp_path / "gone.py", "filter")


def test_a_module_of_the_package_is_the_one_that_import_gives() -> None:
    assert load_module(Path(decode.__file__), "filter") is decode


def test_a_plugin_hides_no_other_module(tmp_path: Path) -> None:
    assert load_module(_write(tmp_path / "json.py", "x = 1"), "filter").__name__ == "vttdata_filter_json"
