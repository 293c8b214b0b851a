"""Rows of tokens that begin alike: each is found again in its pack, which holds what they share once."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from vttdata.text.lm.packing import batches_of, packs_of

ROWS = st.lists(st.lists(st.integers(0, 2), max_size=7), max_size=12)


def test_what_rows_begin_with_is_read_once_and_their_last_tokens_are_not() -> None:
    (pack,) = packs_of([[5, 6, 7, 8], [5, 6, 9, 8], [5, 6]], [[0, 1, 2]])
    assert pack.tokens == [5, 6, 7, 9]
    assert pack.positions == [0, 1, 2, 2]
    assert pack.paths == {0: [0, 1, 2], 1: [0, 1, 3], 2: [0]}
    assert pack.seen(5).astype(int).tolist() == [
        [1, 0, 0, 0, 0],
        [1, 1, 0, 0, 0],
        [1, 1, 1, 0, 0],
        [1, 1, 0, 1, 0],
        [0, 0, 0, 0, 1],
    ]


def test_a_row_of_several_groups_is_packed_once_and_one_too_long_is_alone() -> None:
    rows = [[1, 2, 3], [1, 2, 4], [9, 8, 7, 6, 5, 4], [9, 8, 1]]
    packs = packs_of(rows, [[0, 1], [1, 0], [2, 3]], most=4)
    assert [list(pack.paths) for pack in packs] == [[0, 1], [2], [3]]


@given(ROWS, st.integers(1, 12), st.integers(1, 40))
def test_every_row_sees_its_own_tokens_in_order_and_nothing_else(rows: list[list[int]], most: int, size: int) -> None:
    packs = packs_of(rows, [range(len(rows))], most=most)
    assert sorted(place for pack in packs for place in pack.paths) == [n for n, row in enumerate(rows) if len(row) > 1]
    for pack in packs:
        assert len(pack.tokens) <= most or len(pack.paths) == 1
        assert len(pack.tokens) == len(
            {tuple(rows[n][: at + 1]) for n, path in pack.paths.items() for at in range(len(path))}
        )
        seen = pack.seen(len(pack.tokens))
        for number, path in pack.paths.items():
            assert [pack.tokens[place] for place in path] == rows[number][:-1]
            assert [pack.positions[place] for place in path] == list(range(len(path)))
            for at, place in enumerate(path):
                assert np.flatnonzero(seen[place]).tolist() == sorted(path[: at + 1])
    batches = list(batches_of(packs, size))
    assert sorted(id(pack) for batch in batches for pack in batch) == sorted(map(id, packs))
    assert all(len(batch) == 1 or len(batch) * len(batch[0].tokens) <= size for batch in batches)
    assert all(len(pack.tokens) <= len(batch[0].tokens) for batch in batches for pack in batch)
