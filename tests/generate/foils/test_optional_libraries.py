from __future__ import annotations

import sys

import pytest

from vttdata.errors import VttdataError
from vttdata.generate.foils import check_foil_libraries


def test_installed_libraries_pass() -> None:
    check_foil_libraries()


def test_error_names_missing_library_and_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "scipy" else sys)
    with pytest.raises(VttdataError, match=r"^Foils need SciPy: pip install 'vttdata\[foil\]'\.$"):
        check_foil_libraries()
