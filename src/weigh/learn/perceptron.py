"""The task of the perceptron: read the rows, make passes over them, build the model."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from weigh import errors
from weigh.advice import Setting
from weigh.features.schema import Schema
from weigh.features.width import check_table_memory
from weigh.learn.averaging import extend_average
from weigh.learn.class_weights import check_class_weight_labels, compute_class_weights, zero_weight_classes
from weigh.learn.dataset import LabelCheck, Progress, SourceDataset
from weigh.learn.design_matrix import linear_schema, require_no_curves
from weigh.learn.online_training import OnlineTraining, TrainingPasses
from weigh.learn.perceptron_state import PerceptronSettings, PerceptronState
from weigh.learn.scaling import resolve_perceptron_scale, warn_unlike_perceptron_scales
from weigh.learn.task import Fold
from weigh.model.fit import OnlineSettings
from weigh.model.perceptron import PerceptronModel, to_class_columns
from weigh.parameters.learners import MAX_PASSES, PERCEPTRON
from weigh.source.base import Source


@dataclass
class PerceptronTraining(OnlineTraining[PerceptronState, PerceptronModel]):
    """The training of a perceptron, which can be continued with further rows.

    `n_partitions` is their number if their weights were mixed.
    """

    n_partitions: int = 1

    def build_model(self) -> PerceptronModel:
        """Build the model of the current state."""
        state, orders = self.state, self.feature_index.feature_orders()
        order = np.concatenate(orders)
        state.reserve_features(self.feature_index.width)
        table, biases, divisor = state.weights(order)
        terms = self.feature_index.build_terms(orders, to_class_columns(table))
        model_indices = np.full(self.feature_index.width + 1, -1, dtype=np.int32)
        model_indices[order] = np.arange(len(order), dtype=np.int32)
        record = state.record(model_indices, len(order))
        keep = state.settings.keep
        hypothesis = keep if record is None else "last"
        intercepts = to_class_columns(biases)[0]
        is_standardised = bool(self.feature_index.standardisations())
        certificate = replace(state.certificate(), standardised=is_standardised, partitions=self.n_partitions)
        details = hypothesis, certificate, state.settings.rate, divisor, record, self.online
        rows = self.finished_rows(orders)
        model = PerceptronModel(self.schema, state.classes, intercepts, terms, *details, training_rows=rows)
        return model if keep == hypothesis else model.keep(keep)


@dataclass(frozen=True)
class PerceptronTask:
    """Trains a perceptron: its settings, and the number and order of passes."""

    schema: Schema
    settings: PerceptronSettings
    max_iter: int | None
    shuffle: bool
    seed: int
    class_weight: Any
    classes: tuple[Any, ...] = ()  # declared classes, which may have no rows yet
    mixing: str | None = None

    @classmethod
    def for_source(
        cls, source: Source, columns: object = "auto", *, is_batch: bool = False, **parameters: Any
    ) -> PerceptronTask:
        """Return the task for a source: check the parameters and infer the kinds of the columns.

        If the rows are one batch of several, the words of texts are counted, because the vocabulary
        of weighted words is that of the first batch.
        """
        values = PERCEPTRON.check(parameters)
        settings = PerceptronSettings(
            values["keep"],
            values["record"],
            values["margin"],
            values["relative"],
            values["rate"],
            values["multiclass"] != "joint",
            values["bias"],
        )
        scale = resolve_perceptron_scale(values["scale"], source)
        weighs_text = False if is_batch else None
        schema = linear_schema(
            source, columns, scale=scale, missing=values["missing"], weighs_text=weighs_text
        )
        require_no_curves(schema)
        if (scale, values["scale"]) == (None, "auto") and not isinstance(columns, Schema):
            warn_unlike_perceptron_scales(schema, source)
        passes = values["max_iter"], values["shuffle"], values["random_state"]
        return cls(schema, settings, *passes, values["class_weight"], mixing=values["mixing"])

    @property
    def max_passes(self) -> int:
        """The largest number of passes; without `max_iter` it bounds data that no hyperplane separates."""
        return MAX_PASSES if self.max_iter is None else self.max_iter

    def learn(self, source: Source, *, progress: Progress | None = None) -> PerceptronModel:
        """Fit the model to the rows of a source."""
        return self.train(source, progress=progress).model()

    def learn_by_folds(self, source: Source, fold: Fold) -> PerceptronModel:
        """Fit the model to partitions, by iterative parameter mixing if that was asked for."""
        if self.mixing is None:
            raise errors.Unsupported(
                "A perceptron learns row after row, which partitions do not allow; the mean of their weights "
                "after each pass is another hypothesis.",
                hint=("To train that, use ", Setting("mixing", "uniform"), "; otherwise collect the rows."),
            )
        if self.settings.keeps_record or self.settings.keep == "lazy":
            raise errors.Unsupported(
                "The mean of the weights of partitions has no record of updates.",
                hint=("Use ", Setting("keep", "averaged"), " or ", Setting("keep", "last"), "."),
            )
        # They need scipy, which other perceptrons do without.
        from weigh.learn.folds.encoded import EncodingTask, SummarySum
        from weigh.learn.folds.features import find_features
        from weigh.learn.folds.moments import read_training_rows
        from weigh.learn.folds.perceptron import MixedTraining, PassSum

        index, rows_by_label = find_features(self.schema, fold, has_classes=True, dense=False)
        classes, counts = [*rows_by_label], np.array([*rows_by_label.values()], dtype=np.float64)
        class_weights = compute_class_weights(PERCEPTRON.owner, self.class_weight, classes, counts)
        _check_several_classes(classes, int(counts.sum()))
        mixed = MixedTraining.start(self.settings, classes, index.width)
        with fold.keep(EncodingTask(self.schema, index, classes)) as sum_rows:
            record = read_training_rows(sum_rows(SummarySum(self.schema)), self.schema)
            for number in range(self.max_passes):
                seed = self.seed if self.shuffle else None
                job = PassSum(self.settings, classes, mixed.weights, class_weights, seed, number)
                mixed.add(dict(sum_rows(job).arrays))
                if mixed.converged:
                    break
        state = mixed.state()
        state.is_weighted = class_weights is not None
        training = PerceptronTraining(self.schema, index, state, n_partitions=mixed.n_partitions)
        training.add_rows(record)
        return training.build_model()

    def train(
        self,
        source: Source,
        before: PerceptronTraining | None = None,
        *,
        progress: Progress | None = None,
        check: LabelCheck | None = None,
    ) -> PerceptronTraining:
        """Make passes over the rows until one changes nothing, at most `max_passes`.

        `before` is continued in place. With a label `check` the rows are one batch of several, which is
        learned completely or not at all.
        """
        ignored = zero_weight_classes(self.class_weight)
        if before is None:
            dataset = SourceDataset.read(self.schema, source, progress, check, ignored)
            classes = self.find_classes(dataset)
            state = PerceptronState(self.settings, classes)
            training = PerceptronTraining(self.schema, dataset.feature_index, state)
        else:
            training, state = before, before.state
            state.check_settings(self.settings)
            dataset = SourceDataset(training.schema, source, training.feature_index, ignored_classes=ignored)
            dataset.read_all(
                progress, None if check is None else partial(self._check_new_labels, state, check)
            )
            self._check_new_labels(state, check, dataset.labels)
            classes = dataset.classes([*state.classes, *self.classes])
        # First, because rows that cannot be learned must leave the state as it was.
        passes = TrainingPasses(dataset, classes, self.class_weight, PERCEPTRON.owner)
        check_table_memory(dataset.feature_index.width, len(classes))
        if before is not None:
            state.change_settings(self.settings)
            state.add_classes(classes)
        state.n_fits = 1 if check is None and before is None else state.n_fits + 1
        state.has_seen_all = check is None
        self._run_passes(state, passes, dataset.feature_index.width, progress)
        can_repeat = before is None and check is None
        training.online = self._online_settings(state, passes) if can_repeat else None
        training.add_rows(dataset.training_rows)
        return training

    def _online_settings(self, state: PerceptronState, passes: TrainingPasses) -> OnlineSettings | None:
        settings = self.settings
        return passes.settings(
            self.seed if self.shuffle else None,
            passes=state.passes,
            is_limited=not state.converged or state.passes + state.added_passes == self.max_passes,
            margin=settings.margin,
            is_relative=settings.relative,
            separate=settings.separate,
        )

    def find_classes(self, dataset: SourceDataset) -> list[Any]:
        """Return the classes, or raise LabelError if there are fewer than two."""
        if not dataset.n_rows:
            raise errors.DataError("There are no rows to learn from.")
        classes = dataset.classes(self.classes)
        _check_several_classes(classes, dataset.n_rows)
        return classes

    def _check_new_labels(
        self, state: PerceptronState, check: LabelCheck | None, labels: Collection[Any]
    ) -> None:
        if check is not None:
            check(labels)
        state.check_new_classes({*labels, *self.classes})
        check_class_weight_labels(
            PERCEPTRON.owner, self.class_weight, {*labels, *state.classes, *self.classes}
        )

    def _run_passes(
        self, state: PerceptronState, passes: TrainingPasses, width: int, progress: Progress | None
    ) -> None:
        """Make passes over a data set until one changes nothing, then continue averaging."""
        state.is_weighted = state.is_weighted or passes.is_weighted
        for number in range(self.max_passes):
            state.tracks_radius = number == 0
            state.begin_pass()
            for examples, order in passes.examples(self.seed if self.shuffle else None, number):
                state.learn(examples, order, width)
                if progress is not None and number:
                    progress(0)
            if state.converged:
                extend_average(state, passes.rows(), width, self.max_passes - number - 1)
                break


def _check_several_classes(classes: list[Any], n_rows: int) -> None:
    """Raise LabelError for a single class."""
    if len(classes) < 2:
        raise errors.LabelError(
            f"A perceptron separates classes, and all {n_rows:,} rows are of one class, {classes[0]!r}. Give "
            "rows of another class too."
        )
