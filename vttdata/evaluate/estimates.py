"""Estimate scores of columns on all items and on selections of them, with intervals and differences by source."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from vttdata.evaluate.columns import ScoreColumn
from vttdata.evaluate.items import Items
from vttdata.evaluate.report import Difference, Estimate, MetricScores
from vttdata.evaluate.stored_items import StoredColumn
from vttdata.statistics.arrays import Flags
from vttdata.statistics.bootstrap import DRAWS, Resampled, resample_scores
from vttdata.statistics.hypothesis_tests import holm, mcnemar_p
from vttdata.statistics.randomisation import randomise_systems
from vttdata.statistics.scores import ScoredRows
from vttdata.text.word_spans import split_words

K = TypeVar("K", bound=Hashable)
N = TypeVar("N", bound=Hashable)
Columns = Mapping[str, ScoreColumn]

# Quartiles of the items by the mean number of words of their references.
_LENGTH_QUANTILES = (0.25, 0.5, 0.75)


@dataclass(frozen=True, slots=True)
class Estimator:
    """Estimates on the items of a report, all from the same bootstrap draws of their sources.

    `seed` is that of the draws and of the random swaps of two systems.
    """

    items: Items
    seed: int = 0
    draws: int = DRAWS

    def estimate(self, columns: Mapping[K, ScoreColumn]) -> dict[K, Estimate]:
        """Score columns on all items."""
        resampled = self._resample({key: self._rows(column) for key, column in columns.items()})
        return {key: Estimate.of(scores, known=columns[key].known) for key, scores in resampled.items()}

    def score_columns(self, columns: Columns, shared: Mapping[str, Flags]) -> dict[str, MetricScores]:
        """Score each column on all items and, where training is known, on clean and leaked ones and by kind of leak.

        Args:
            columns: by name.
            shared: flags of the items by kind of leak, ``leaked`` and ``clean``, see `find_shared_items`; empty where
                training is not known.
        """
        selections: dict[str, Flags | None] = {"all": None, **shared}
        resampled = self._resample(
            {
                (selection, name): self._rows(column, flags)
                for name, column in columns.items()
                for selection, flags in selections.items()
            }
        )
        scores = {}
        for name, column in columns.items():
            by_selection = {
                selection: Estimate.of(resampled[selection, name], known=column.known) for selection in selections
            }
            if shared:
                by_selection["gain"] = Estimate.of(resampled["leaked", name].minus(resampled["clean", name]))
            scores[name] = MetricScores(
                **{part: by_selection.get(part) for part in ("clean", "leaked", "gain")},
                all=by_selection["all"],
                by_leak={kind: by_selection[kind] for kind in shared if kind not in ("leaked", "clean")},
                lower_is_better=column.lower_is_better,
            )
        return scores

    def score_groups(self, columns: Columns) -> dict[str, dict[str, dict[str, Estimate]]]:
        """Score each category, and each quarter of the items by the length of their references."""
        groups = self.groups()
        resampled = self._resample(
            {
                (grouping, group, name): self._rows(column, flags)
                for grouping, selections in groups.items()
                for group, flags in selections.items()
                for name, column in columns.items()
            }
        )
        return {
            grouping: {
                group: {
                    name: Estimate.of(resampled[grouping, group, name], known=column.known)
                    for name, column in columns.items()
                }
                for group in selections
            }
            for grouping, selections in groups.items()
        }

    def groups(self) -> dict[str, dict[str, Flags]]:
        """Return flags of the items of each group: by category, by quarters of the length of references, as items say.

        A grouping is left out where it has only one group, or has more groups than half of the items.
        """
        groups: dict[str, dict[str, Flags]] = {}
        names = sorted({category for category in self.items.categories if category is not None})
        if len(names) > 1:
            categories = np.array([category or "" for category in self.items.categories], dtype=object)
            groups["category"] = {name: categories == name for name in names}
        for grouping, of_items in self.items.groupings.items():
            labels_of = np.array([label or "" for label in of_items], dtype=object)
            found = sorted({label for label in of_items if label is not None})
            if 1 < len(found) <= max(len(self.items.ids) / 2, 1):
                groups[grouping] = {label: labels_of == label for label in found}
        if not self.items.captions:
            return groups
        words = ([len(split_words(text)) for text in texts] for texts in self.items.captions)
        lengths = np.array([sum(counts) / len(counts) if counts else 0.0 for counts in words])
        limits = sorted(set(np.quantile(lengths, _LENGTH_QUANTILES).tolist()))
        if len(self.items.ids) >= 2 * len(limits) and len(limits) > 1:
            quarter = np.searchsorted(limits, lengths)
            labels = [f"up to {limit:.1f} words" for limit in limits] + [f"over {limits[-1]:.1f} words"]
            groups["length"] = {label: quarter == index for index, label in enumerate(labels)}
        return groups

    def differences(
        self, compared: Mapping[N, tuple[ScoreColumn, Sequence[ScoreColumn]]], selections: Mapping[K, Flags]
    ) -> dict[K, dict[N, Estimate]]:
        """Estimate by how much a column is above the best of others, by name, on selections of the same items.

        A selection has those differences whose columns have rows in it.
        """
        rows = {
            (selection, name, number): self._rows(column, flags)
            for selection, flags in selections.items()
            for name, (first, others) in compared.items()
            for number, column in enumerate((first, *others))
        }
        resampled = self._resample({key: found for key, found in rows.items() if len(found.sources)})
        return {
            selection: {
                name: Estimate.of_minimum(
                    [
                        resampled[selection, name, 0].minus(resampled[selection, name, number])
                        for number in range(1, 1 + len(others))
                    ]
                )
                for name, (_, others) in compared.items()
                if (selection, name, 0) in resampled
            }
            for selection in selections
        }

    def compare(self, columns: Columns, others: Columns) -> dict[str, Difference]:
        """Compare two systems on the same rows, in the columns of the first one."""
        first = {name: self._rows(column) for name, column in columns.items()}
        second = {name: self._rows(others[name]) for name in columns}
        resampled = self._resample(first), self._resample(second)
        p = randomise_systems(first, second, len(self.items.source_ids), seed=self.seed)
        corrected = holm(p)
        differences = {}
        for name, column in columns.items():
            difference = resampled[0][name].minus(resampled[1][name])
            hits = [system.scores.items for system in (column, others[name])]
            is_binary = column.binary and all(np.isin(values, (0, 1)).all() for values in hits)
            mcnemar = mcnemar_p(*(values.astype(bool).tolist() for values in hits)) if is_binary else None
            differences[name] = Difference(
                difference.score,
                *difference.interval(),
                p[name],
                corrected[name],
                mcnemar,
                resampled[1][name].score,
            )
        return differences

    def compare_stored(self, columns: Columns, stored: Mapping[str, StoredColumn]) -> dict[str, Difference]:
        """Subtract the scores of a stored evaluation, perhaps of other items, in draws of the sources of both.

        Only columns count whose stored values are scored in the same way. There is no test, since items differ.
        """
        numbers = {name: number for number, name in enumerate(self.items.source_ids)}
        rows: dict[tuple[str, bool], ScoredRows] = {}
        for name, column in columns.items():
            other = stored.get(name)
            scores = other.scores(column) if other is not None else None
            if other is not None and scores is not None:
                sources = np.array([numbers.setdefault(source, len(numbers)) for source in other.sources])
                rows |= {(name, True): self._rows(column), (name, False): ScoredRows(scores, sources)}
        resampled = resample_scores(rows, len(numbers), seed=self.seed, draws=self.draws)
        nan = float("nan")
        differences = {}
        for name in [name for name, is_new in rows if is_new]:
            difference = resampled[name, True].minus(resampled[name, False])
            old = resampled[name, False].score
            differences[name] = Difference(difference.score, *difference.interval(), nan, nan, other=old)
        return differences

    def _rows(self, column: ScoreColumn, flags: Flags | None = None) -> ScoredRows:
        """Return the rows of a column that belong to flagged items, by default all."""
        return ScoredRows.of_rows(
            column.scores, self.items.sources[column.items], None if flags is None else flags[column.items]
        )

    def _resample(self, rows: Mapping[K, ScoredRows]) -> dict[K, Resampled]:
        return resample_scores(rows, len(self.items.source_ids), seed=self.seed, draws=self.draws)
