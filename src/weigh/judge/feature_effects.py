"""How much the probabilities of a naive Bayes model depend on some of its features, without training anew."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from weigh.features.blocks import Floats, Mask
from weigh.judge.ablation import MAX_LOSS, LeftOut
from weigh.learn.labelled_sample import SampledRows
from weigh.model.decision import log_softmax
from weigh.model.distributions.word_weights import FlagWeights
from weigh.model.naive_bayes import BayesModel
from weigh.source.sparse_rows import SparseRows


class FeatureEffects:
    """The effects of features on rows: their evidence is subtracted from the scores.

    This is exact for columns. For words it keeps the probabilities of the others, which would change little.
    """

    def __init__(self, model: BayesModel, rows: SampledRows) -> None:
        self._model = model
        self._blocks = model.encode(rows.chunk).blocks
        self._weights = rows.counts * rows.weights
        self._scores = np.nan_to_num(model.score_rows(model.encode(rows.chunk)), neginf=-1e6)
        self._entries: dict[int, SparseRows] = {}

    @cached_property
    def _posterior(self) -> Floats:
        return np.exp(log_softmax(self._scores))

    def measure(self, left_out: Sequence[LeftOut], *, where_present: bool = False) -> float:
        """Return the mean change of the predicted class's probability without some features.

        `where_present` takes the mean over the rows in which words or counts occur, otherwise over all rows.
        """
        evidence = np.sum([self._evidence(each) for each in left_out], axis=0)
        without = np.exp(log_softmax(self._scores - evidence))
        at = np.arange(len(self._weights)), self._posterior.argmax(axis=1)
        weights = self._weights * self.find_occurrences(left_out) if where_present else self._weights
        return mean_change(np.abs(self._posterior - without)[at], weights)

    def find_occurrences(self, left_out: Sequence[LeftOut]) -> Mask:
        """Return the mask of the rows in which words or counts occur, or that have columns."""
        occurs = np.zeros(len(self._weights), dtype=bool)
        for each in left_out:
            if each.group is None:
                occurs[:] = True
            else:
                columns = _find_columns(self._model.terms[each.group], each.features)
                occurs |= np.diff(self._select_entries(each.group, columns).indptr) > 0
        return occurs

    def _evidence(self, left_out: LeftOut) -> Floats:
        """Return what features add to the scores [rows, classes]."""
        added = np.zeros_like(self._scores)
        for place, (group, term) in enumerate(
            zip(self._model.schema.column_groups, self._model.terms, strict=True)
        ):
            if left_out.group is None and not group.kind.shares_block:
                if group.names[0] in left_out.features:
                    term.add(self._blocks[place], added)
            elif left_out.group == place or (left_out.group is None and isinstance(term, FlagWeights)):
                self._add_names(place, term, left_out.features, added)
        return np.nan_to_num(added, neginf=-MAX_LOSS)

    def _add_names(self, place: int, term: Any, names: Sequence[str], added: Floats) -> None:
        """Add what some words, counts or flags of a group contribute."""
        columns = _find_columns(term, names)
        entries = self._select_entries(place, columns)
        if isinstance(term, FlagWeights):
            absent = np.maximum(term.absent, -MAX_LOSS)
            added += absent[columns].sum(axis=0)
            entries.add_product(np.maximum(term.present, -MAX_LOSS) - absent, added)
        else:
            entries.add_product(term.table, added)

    def _select_entries(self, place: int, columns: Sequence[int]) -> SparseRows:
        if place not in self._entries:
            self._entries[place] = self._model.terms[place].entries(self._blocks[place])
        entries = self._entries[place]
        return entries.select_entries(np.isin(entries.indices, columns))


def _find_columns(term: Any, names: Sequence[str]) -> list[int]:
    return [term.index_by_name[name] for name in names if name in term.index_by_name]


def mean_change(change: Floats, weights: Floats) -> float:
    """Return the weighted mean, 0 if no row has a weight."""
    return float(np.average(change, weights=weights)) if weights.any() else 0.0
