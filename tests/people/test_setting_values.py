"""Settings are read from ``key=value`` and checked by their annotations."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import pytest

from vttdata.errors import VttdataError
from vttdata.people.setting_values import read_settings
from vttdata.settings import Count, PositiveSeconds, Ratio, Strict


@dataclass(frozen=True, slots=True)
class First(Strict):
    share: Ratio = 0.5
    kind: Literal["plain", "odd"] = "plain"
    language: str | None = "en"
    questions: dict[str, str] = field(default_factory=dict)
    name: str = "first"

    def __post_init__(self) -> None:
        if self.language == "xx":
            raise ValueError("There is no language xx.")


@dataclass(frozen=True, slots=True)
class Second(Strict):
    seconds: PositiveSeconds = 3.0
    number: Count = 0
    is_open: bool = False
    name: str = "second"


def test_values_are_yaml_of_the_class_that_has_the_key() -> None:
    given = ["share=1", "language=null", "questions={fit: How well?}", "seconds=2", "is_open=true", "name=mine"]
    first, second = read_settings([First, Second], given)
    assert first == First(share=1.0, language=None, questions={"fit": "How well?"}, name="mine")
    assert second == Second(seconds=2.0, is_open=True)
    assert type(second.seconds) is float


@pytest.mark.parametrize(
    "given",
    [
        *("share=1.5", "share=.nan", "share=true", "kind=other", "language=[en]", "questions={fit: 3}", "questions=3"),
        *(
            "seconds=0",
            "number=-1",
            "number=1.5",
            "number=true",
            "is_open=1",
            "name=3",
            "language=xx",
            "other=3",
            "share",
        ),
    ],
)
def test_wrong_value_is_one_sentence_with_its_key(given: str) -> None:
    with pytest.raises(VttdataError) as error:
        read_settings([First, Second], [given])
    assert given.partition("=")[0] in str(error.value)
    assert "\n" not in str(error.value)
