from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vttdata.errors import VttdataError
from vttdata.publish.version_rule import VersionChange, check_version

numbers = st.integers(0, 3)
versions = st.tuples(numbers, numbers, numbers).map(lambda own: ".".join(map(str, own)))
needs = st.sampled_from(["none", "minor", "major"])


@given(versions, st.none() | versions, needs, st.sets(versions))
def test_proposed_version_is_accepted(
    version: str, published: str | None, needed: VersionChange, published_versions: set[str]
) -> None:
    tags = {f"v{own}" for own in published_versions}
    try:
        check_version("a/b", version, published, needed, tags)
    except VttdataError as error:
        proposed = re.search(r"'version: (.*)'", str(error))
        assert proposed is not None
        check_version("a/b", proposed[1], published, needed, tags)
    else:
        assert f"v{version}" not in tags


@pytest.mark.parametrize(
    ("needed", "taken", "refused"),
    [
        ("none", ["1.2.4", "1.3.0", "2.0.0"], ["1.2.3", "1.2.2", "0.9.9"]),
        ("minor", ["1.3.0", "1.10.0", "2.0.0"], ["1.2.4", "1.2.3"]),
        ("major", ["2.0.0", "10.0.0"], ["1.3.0", "1.9.9"]),
    ],
)
def test_differences_decide_which_part_of_the_version_rises(
    needed: VersionChange, taken: list[str], refused: list[str]
) -> None:
    for version in taken:
        check_version("a/b", version, "1.2.3", needed, set())
    for version in refused:
        with pytest.raises(VttdataError, match="not high enough"):
            check_version("a/b", version, "1.2.3", needed, set())
