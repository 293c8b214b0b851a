"""What is wrong with a value is said in words of this package, whatever those of pydantic are."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

import pydantic
import pytest

from vttdata.settings import Count, PositiveSeconds, Ratio
from vttdata.validation import describe_problem


class Settings(pydantic.BaseModel, extra="forbid", strict=True):
    """Settings with one field of each kind."""

    count: Count = 0
    seconds: PositiveSeconds = 1.0
    share: Ratio = 0.5
    exact: bool = True
    method: Literal["fast", "exact"] = "fast"
    name: Annotated[str, pydantic.Field(pattern="^[a-z]+$", max_length=4)] = "x"
    names: Annotated[tuple[str, ...], pydantic.Field(min_length=1)] = ("x",)
    labels: dict[str, int] = {}
    nothing: None = None

    @pydantic.field_validator("labels")
    @classmethod
    def _check_labels(cls, labels: dict[str, int]) -> dict[str, int]:
        if "odd" in labels:
            raise ValueError("it should have even keys.")
        if "far" in labels:
            raise ValueError("the label 'far' is too far away")
        return labels


def find_problem(value: dict[str, Any], **required: Any) -> dict[str, Any]:
    """Return the first error of pydantic, with a message that no release of pydantic has."""
    model = pydantic.create_model("Model", __base__=Settings, **required)
    with pytest.raises(pydantic.ValidationError) as error:
        model.model_validate_json(json.dumps(value))
    return {**error.value.errors()[0], "msg": "other words."}


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"count": "two"}, 'found "two"; it should be an integer'),
        ({"count": 1.5}, "found 1.5; it should be an integer"),
        ({"count": -1}, "found -1; it should be greater than or equal to 0"),
        ({"seconds": 0}, "found 0; it should be greater than 0"),
        ({"seconds": "10"}, 'found "10"; it should be a number'),
        ({"share": 1.5}, "found 1.5; it should be less than or equal to 1"),
        ({"share": 70}, "found 70; it should be less than or equal to 1; 70 % is 0.7"),
        ({"exact": 1}, "found 1; it should be true or false"),
        ({"method": "slow"}, "found \"slow\"; it should be 'fast' or 'exact'"),
        ({"name": "A"}, 'found "A"; it should be a text that matches ^[a-z]+$'),
        ({"name": "abcde"}, 'found "abcde"; it should be a text of 4 characters or fewer'),
        ({"name": 7}, "found 7; it should be a text"),
        ({"name": "é\x9b"}, 'found "\\u00e9\\u009b"; it should be a text that matches ^[a-z]+$'),
        ({"name": "é"}, 'found "é"; it should be a text that matches ^[a-z]+$'),
        ({"names": "x"}, 'found "x"; it should be a list'),
        ({"names": []}, "found []; it should be of length 1 or more"),
        ({"labels": [1, 2]}, "found [1, 2]; it should be a mapping of keys"),
        ({"labels": {"odd": 1}}, 'found {"odd": 1}; it should have even keys'),
        ({"labels": {"far": 1}}, "the label 'far' is too far away"),
        ({"nothing": 1}, "found 1; it should be null"),
        ({"colour": 1}, "there is no such key"),
        ({"labels": {"x" * 100: "y"}}, 'found "y"; it should be an integer'),
        ({"labels": ["x" * 100]}, f'found ["{"x" * 78}...; it should be a mapping of keys'),
    ],
)
def test_problem_is_worded_by_its_type(value: dict[str, Any], words: str) -> None:
    assert describe_problem(find_problem(value)) == words


def test_missing_value_and_description_of_a_field() -> None:
    assert describe_problem(find_problem({}, day=(str, ...))) == "is missing"
    assert describe_problem(find_problem({}, day=(str, ...)), "a day") == "is missing; it should be a day"
    assert describe_problem(find_problem({"name": 7}), "a day") == "found 7; it should be a day"


def test_type_without_words_keeps_those_of_pydantic() -> None:
    assert describe_problem(find_problem({"other": "x"}, other=(complex, ...))) == 'found "x"; other words'
