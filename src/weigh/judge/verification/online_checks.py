"""Check online learners against their rows by making the passes again; here logistic regression."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from weigh.features.blocks import Floats
from weigh.judge.verification.checks import (
    Check,
    Mismatch,
    RowChecks,
    Unchecked,
    check_classes,
    check_close,
    check_facts,
    check_features,
)
from weigh.judge.verification.online_rows import MAX_PLAIN_COST, OnlineRows, check_weights, plain_cost
from weigh.judge.verification.sgd_replay import SgdReplay
from weigh.learn.dataset import SourceDataset
from weigh.learn.design_matrix import (
    DesignMatrix,
    linear_schema,
    model_standardisations,
    read_dataset,
    to_design_matrix,
)
from weigh.learn.preprocessing import IDENTITY, Standardisation
from weigh.learn.sgd import OnlineLogisticTask, SgdSettings
from weigh.model.fit import OnlineSettings
from weigh.model.logistic import LogisticModel
from weigh.model.perceptron import PerceptronModel
from weigh.source.base import Source

SGD_STEP_COST = 10  # of a step with its equation, relative to a step of a perceptron
SGD_TOLERANCE = 1e-9  # of a weight, relative to the largest one
UNKNOWN_ORDER = Unchecked(
    "weights",
    "The order in which the rows were learned is not known, because they came in batches, continued an "
    "earlier fit, or were shuffled in parts of a file: the weights were not checked.",
)
NATIVE_REPLAY = Unchecked(
    "",
    "There are too many steps for separate code: the passes were made again with the learner's own code.",
)
OTHER_ORDER = Unchecked(
    "", "These are the rows of the training: either their order is another one, or the weights were changed."
)


class ReplayData(NamedTuple):
    """The rows of an online learner, also as a design matrix; `order` numbers its features as in training."""

    dataset: SourceDataset
    design: DesignMatrix
    order: Any

    @classmethod
    def read(cls, model: PerceptronModel | LogisticModel, source: Source, *, is_first: bool) -> ReplayData:
        """Read the rows; `is_first` says that the numbers were standardised by these rows."""
        stated = None if is_first else model_standardisations(model)
        ignored = () if model.online is None else model.online.ignored_classes
        dataset = read_dataset(source, linear_schema(source, model.schema), stated, ignored)
        order = np.concatenate(dataset.feature_index.feature_orders())
        return cls(dataset, to_design_matrix(dataset), order)

    def select(self, weights: Floats) -> Floats:
        """Return the weights [1 + features, columns] of training, the bias first, in the model's order."""
        return np.asarray(weights[np.append(0, self.order + 1)])


def trained_table(model: PerceptronModel | LogisticModel) -> Floats:
    """Return the stored weights [1 + features, columns], the bias first; two classes have one column."""
    terms: Any = model.terms
    table = np.vstack([model.base, *(term.trained_weights() for term in terms)])
    return np.asarray(table[:, 1:] - table[:, :1] if len(model.class_list) == 2 else table)


def check_online_logistic(model: LogisticModel, source: Source) -> RowChecks:
    """Check an online logistic regression against its rows."""
    data = ReplayData.read(model, source, is_first=model.online is not None)
    dataset, fit = data.dataset, model.fit
    totals = dataset.class_totals()
    shares = np.array([totals.get(label, 0.0) for label in model.classes])
    checks = [
        check_close("rows", fit.rows, dataset.n_rows),
        check_classes(model, data.design),
        check_features(model, data.design),
        check_close("total weight of the rows", fit.n, sum(totals.values())),
        _check_shares(model, shares / shares.sum()),
        check_standardisations(model_standardisations(model), data.design.standardisations),
    ]
    if not all(check.ok for check in checks[:3]):
        return RowChecks(dataset.n_rows, checks)
    if model.online is None:
        return RowChecks(dataset.n_rows, [*checks, *check_known_rows(model, dataset)], [UNKNOWN_ORDER])
    l2 = fit.l2 if fit.units is None else fit.units[1]
    columns = len(trained_table(model)[0])
    visits_all = model.online.rate is not None  # the penalty shrinks all weights
    cost = SGD_STEP_COST * plain_cost(dataset, model.online.passes, columns, visits_all=visits_all)
    if cost > MAX_PLAIN_COST:
        again = _train_again(model, model.online, l2 or 0.0, source)
        return RowChecks(dataset.n_rows, [*checks, check_same_arrays(model, again)], [NATIVE_REPLAY])
    checks += _replay(model, model.online, l2 or 0.0, data)
    return RowChecks(dataset.n_rows, checks, order_notes(model, dataset, checks))


def _check_shares(model: LogisticModel, recounted: Floats) -> Check:
    pairs = zip(model.classes, model.shares.tolist(), recounted.tolist(), strict=True)
    checks = [check_close(f"share of class {label!r}", old, new, scale=1.0) for label, old, new in pairs]
    return Check("shares of the classes", len(checks), tuple(m for check in checks for m in check.differing))


def _replay(model: LogisticModel, settings: OnlineSettings, l2: float, data: ReplayData) -> list[Check]:
    rows = OnlineRows.from_dataset(data.dataset, model.classes, settings)
    replay = SgdReplay(rows, len(model.classes), l2, model.fit.bias)
    replay.run(settings.passes)
    weights, stated = data.select(replay.weights()), trained_table(model)
    allowed = np.full(stated.shape, SGD_TOLERANCE * np.abs(weights).max(initial=1e-300))
    return [
        check_facts(
            "passes",
            {"passes": settings.passes, "ended by a limit": settings.is_limited},
            {"passes": replay.passes, "ended by a limit": not replay.converged},
        ),
        check_weights(model.feature_names, model.classes, stated, weights, allowed),
    ]


def _train_again(model: LogisticModel, settings: OnlineSettings, l2: float, source: Source) -> LogisticModel:
    """Return the model that the learner trains on the rows with the same settings."""
    seed = settings.seed
    passes = settings.passes, settings.tol, seed is not None, seed or 0, class_weights(model, settings)
    task = OnlineLogisticTask(model.schema, SgdSettings(l2, settings.rate, model.fit.bias), *passes)
    return task.learn(source)


def class_weights(model: PerceptronModel | LogisticModel, settings: OnlineSettings) -> Any:
    """Return the parameter `class_weight` of a learner with these settings."""
    ignored = dict.fromkeys(settings.ignored_classes, 0.0)
    if isinstance(settings.class_weight, tuple):
        return dict(zip(model.classes, settings.class_weight, strict=True)) | ignored
    return settings.class_weight or ignored or None


def check_standardisations(
    stated: Mapping[str, Standardisation], recomputed: Mapping[str, Standardisation]
) -> Check:
    """Compare the means and standard deviations by which numbers were standardised."""
    checks: list[Check] = []
    for name, fitted in recomputed.items():
        model = stated.get(name, IDENTITY)
        checks.append(check_close(f"mean of {name!r}", model.centre, fitted.centre, scale=fitted.scale))
        checks.append(check_close(f"standard deviation of {name!r}", model.scale, fitted.scale))
    differing = tuple(mismatch for check in checks for mismatch in check.differing)
    return Check("means and standard deviations", len(checks), differing)


def check_same_arrays(model: PerceptronModel | LogisticModel, again: Any) -> Check:
    """Compare the arrays of two models, up to rounding."""
    (_, stated), (_, arrays) = model.to_store(), again.to_store()
    differing = []
    for name in dict.fromkeys([*stated, *arrays]):
        old, new = (np.asarray(each.get(name, ())) for each in (stated, arrays))
        is_same = old.shape == new.shape
        if is_same and old.dtype.kind == "f":
            is_same = bool(
                np.allclose(old, new, rtol=SGD_TOLERANCE, atol=SGD_TOLERANCE * np.abs(old).max(initial=0))
            )
        elif is_same:
            is_same = bool((old == new).all())
        if not is_same:
            differing.append(Mismatch(name, "as stored", "another one"))
    return Check("weights", sum(np.asarray(array).size for array in stated.values()), tuple(differing))


def check_known_rows(model: PerceptronModel | LogisticModel, dataset: SourceDataset) -> Sequence[Check]:
    """Compare the digests of rows and labels, which do not depend on their order, if the model has them."""
    if model.training_rows is None:
        return []
    is_same = model.training_rows.equals(dataset.training_rows)
    differing = () if is_same else (Mismatch("digest of the rows", "as stored", "another one"),)
    return [Check("rows and labels, in any order", dataset.n_rows, differing)]


def order_notes(
    model: PerceptronModel | LogisticModel, dataset: SourceDataset, checks: Sequence[Check]
) -> Sequence[Unchecked]:
    """Return a note if checks fail although the rows are those of the training, in some order."""
    is_known = model.training_rows is not None and model.training_rows.equals(dataset.training_rows)
    return [OTHER_ORDER] if is_known and not all(check.ok for check in checks) else []
