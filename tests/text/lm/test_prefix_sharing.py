"""Packs hold what rows of tokens share once, and every row is found again in its pack."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from vttdata.text.lm.prefix_sharing import batch_packs, pack_rows

ROWS = st.lists(st.lists(st.integers(0, 2), max_size=7), max_size=12)


def test_shared_prefix_is_packed_once_without_last_tokens() -> None:
    (pack,) = pack_rows([[5, 6, 7, 8], [5, 6, 9, 8], [5, 6]], [[0, 1, 2]])
    assert pack.tokens == [5, 6, 7, 9]
    assert pack.positions == [0, 1, 2, 2]
    assert pack.paths == {0: [0, 1, 2], 1: [0, 1, 3], 2: [0]}
    assert pack.attention_mask(5).astype(int).tolist() == [
        [1, 0, 0, 0, 0],
        [1, 1, 0, 0, 0],
        [1, 1, 1, 0, 0],
        [1, 1, 0, 1, 0],
        [0, 0, 0, 0, 1],
    ]


def test_row_of_several_groups_is_packed_once_and_long_row_alone() -> None:
    rows = [[1, 2, 3], [1, 2, 4], [9, 8, 7, 6, 5, 4], [9, 8, 1]]
    packs = pack_rows(rows, [[0, 1], [1, 0], [2, 3]], max_tokens=4)
    assert [list(pack.paths) for pack in packs] == [[0, 1], [2], [3]]


@given(ROWS, st.integers(1, 12), st.integers(1, 40))
def test_every_row_sees_only_its_tokens_in_order(rows: list[list[int]], limit: int, size: int) -> None:
    packs = pack_rows(rows, [range(len(rows))], max_tokens=limit)
    assert sorted(number for pack in packs for number in pack.paths) == [
        n for n, row in enumerate(rows) if len(row) > 1
    ]
    for pack in packs:
        assert len(pack.tokens) <= limit or len(pack.paths) == 1
        assert len(pack.tokens) == len(
            {tuple(rows[n][: at + 1]) for n, path in pack.paths.items() for at in range(len(path))}
        )
        seen = pack.attention_mask(len(pack.tokens))
        for number, path in pack.paths.items():
            assert [pack.tokens[index] for index in path] == rows[number][:-1]
            assert [pack.positions[index] for index in path] == list(range(len(path)))
            for at, index in enumerate(path):
                assert np.flatnonzero(seen[index]).tolist() == sorted(path[: at + 1])
    batches = list(batch_packs(packs, size))
    assert sorted(id(pack) for batch in batches for pack in batch) == sorted(map(id, packs))
    assert all(len(batch) == 1 or len(batch) * len(batch[0].tokens) <= size for batch in batches)
    assert all(len(pack.tokens) <= len(batch[0].tokens) for batch in batches for pack in batch)
