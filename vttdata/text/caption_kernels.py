"""Trigram overlap of captions: words and ordered sequences of two and three words that they share.

The trigram kernel of Hodosh et al. (JAIR 2013, section 3.4.3): a sentence has a sequence as often as there are
stretches of it that begin with its first and end with its last word and have the others between; gaps cost nothing, and
a sequence of l words counts 2 ** -l on either side. The kernel is a dot product of explicit vectors, which are summed
over the captions of a clip before they get the length 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from vttdata.text.tokenizers import split_unicode_words

_MATCH = 0.5
# Sequences of three grow with the third power of the words; MSR-VTT's longest captions have 72.
_MAX_WORDS = 24

Sequences = Counter[tuple[str, ...]]


def count_sequences(text: str, ignored: frozenset[str] = frozenset()) -> Sequences:
    """Return the sequences of up to three words of a text and the number of stretches that match each.

    Words are those of the tokenizer ``unicode`` that are not ignored, the first 24.
    """
    words = [word for word in split_unicode_words(text) if word not in ignored][:_MAX_WORDS]
    stretches: set[tuple[tuple[str, ...], int, int]] = set()
    for start, first in enumerate(words):
        stretches.add(((first,), start, start))
        for end in range(start + 1, len(words)):
            stretches.add(((first, words[end]), start, end))
            stretches.update(((first, word, words[end]), start, end) for word in words[start + 1 : end])
    return Counter(sequence for sequence, _, _ in stretches)


def trigram_vectors(
    texts: Sequence[Sequence[str]], others: Sequence[Sequence[str]], ignored: frozenset[str] = frozenset()
) -> tuple[Any, Any]:
    """Return the vectors of n clips and of m others as sparse matrices with rows of length 1; a clip has captions.

    The kernel of two clips is the dot product of their rows. Columns are the sequences of `others`.

    Raises:
        ModuleNotFoundError: without SciPy.
    """
    import numpy as np
    from scipy.sparse import csr_matrix

    columns: dict[tuple[str, ...], int] = {}
    matrices = []
    for group, is_known in ((others, False), (texts, True)):
        rows, indices, values, norms = [], [], [], []
        for row, captions in enumerate(group):
            counts = sum((count_sequences(caption, ignored) for caption in captions), Sequences())
            norms.append(sum((number * _MATCH ** len(sequence)) ** 2 for sequence, number in counts.items()) ** 0.5)
            for sequence, number in counts.items():
                column = columns.get(sequence) if is_known else columns.setdefault(sequence, len(columns))
                if column is not None:
                    rows.append(row)
                    indices.append(column)
                    values.append(number * _MATCH ** len(sequence))
        scale = 1 / np.maximum(norms, 1e-12) if norms else np.zeros(0)
        data = np.array(values) * scale[rows] if rows else np.zeros(0)
        matrices.append((data, rows, indices, len(group)))
    shape = max(len(columns), 1)
    of_others, of_texts = (
        csr_matrix((data, (rows, indices)), shape=(number, shape)) for data, rows, indices, number in matrices
    )
    return of_texts, of_others
