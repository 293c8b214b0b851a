"""What is missing is said before any work."""

from __future__ import annotations

import sys

import pytest

from vttdata.assess.paired_tests import check_foil_libraries
from vttdata.errors import VttdataError


def test_installed_libraries_are_enough() -> None:
    check_foil_libraries()


def test_the_missing_library_and_its_extra_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "sklearn" else sys)
    with pytest.raises(VttdataError, match=r"^Foils need sklearn: pip install 'vttdata\[foil\]'\.$"):
        check_foil_libraries()
