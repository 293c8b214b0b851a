"""Two runs of an assessment are compared on their common systems."""

from __future__ import annotations

import pytest

from tests.helpers.judgments import caption_scores_around
from vttdata.errors import VttdataError
from vttdata.people import replication, system_scores


def test_replication_compares_common_systems_except_those_left_out() -> None:
    first = system_scores(caption_scores_around(a=0.0, b=0.5, c=1.0, HUMAN=5.0))
    second = system_scores(caption_scores_around(c=0.9, b=0.6, a=0.1, HUMAN=-5.0, d=9.0))
    raw, z = replication(first, second, leave_out=["HUMAN"])
    assert (raw.n, z.n) == (3, 3)
    assert z.spearman == pytest.approx(1)
    assert replication(first, second)[1].pearson < 0
    with pytest.raises(VttdataError, match="share 0 systems"):
        replication(first, second, leave_out=["a", "b", "c", "HUMAN"])
