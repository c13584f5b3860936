"""`bias_variance`: the bias–variance decomposition of a loss over many training sets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from weigh import errors
from weigh.advice import Setting
from weigh.judge.metrics.losses import Floats
from weigh.parameters import check_finite, check_integer
from weigh.result import Section, TabularResult
from weigh.text import format_quantity, to_json_value, truncate
from weigh.trials.bias_variance_format import (
    KOHAVI_WOLPERT,
    bias_variance_sections,
    loss_title,
    part_title,
)
from weigh.trials.candidates import LOSSES, Experiment, FittedLearner
from weigh.trials.decomposition import (
    Decomposition,
    decompose_domingos,
    decompose_kohavi_wolpert,
    decompose_squared_loss,
    one_hot,
)
from weigh.trials.learners import format_settings
from weigh.trials.parallel import run_jobs
from weigh.trials.rows import LabelledRows, RowIndices
from weigh.trials.splits import Codes, stratified_order

OWNER = "bias_variance"
BRIER = "brier"
ZERO_ONE_DECOMPOSITIONS = {KOHAVI_WOLPERT: decompose_kohavi_wolpert, "domingos": decompose_domingos}
DECOMPOSABLE_LOSSES = ("zero_one", BRIER, "squared", "squared_error")
BOOTSTRAP, SUBSAMPLE = "bootstrap", "subsample"
DEFAULT_SHARES = {BOOTSTRAP: 1.0, SUBSAMPLE: 0.5}  # size of a training set, as a fraction of the pool


@dataclass(frozen=True, eq=False, repr=False)
class BiasVariance(TabularResult):
    """The result of `bias_variance`; prints as a table of at most 80 columns.

    `learners` has a `Decomposition` per learner name, with the loss and parts of every test row, their means,
    standard errors and `corrected()` estimates. `form` is "squares", or for the zero-one loss
    "kohavi-wolpert" or "domingos". `test` are the indices of the test rows, in the order of the parts.
    `settings` lists the settings of each learner that differ from the defaults, as text.
    """

    learners: Mapping[str, Decomposition]
    loss: str
    form: str
    rounds: int
    sets: str
    test: tuple[int, ...]
    settings: Mapping[str, str] = field(default_factory=dict)
    _json = ("loss", "form", "rounds", "sets", "judged_rows")
    _frames = ("learners",)

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the parts, which add up to the loss."""
        return tuple(next(iter(self.learners.values())).parts)

    def __getitem__(self, name: str) -> Decomposition:
        return errors.find_named(self.learners, name, f"{OWNER}: there is no learner {name!r}; there are")

    @property
    def judged_rows(self) -> int:
        """The number of rows that the losses are measured on."""
        return len(self.test)

    def to_dict(self) -> dict[str, Any]:
        """Return means, standard errors and corrected parts for JSON, without the values per row."""
        learners = [
            {
                "learner": name,
                "settings": self.settings.get(name, ""),
                **{part: _mean_with_errors(each, part) for part in ("loss", *each.parts)},
                "corrected": each.corrected(),
            }
            for name, each in self.learners.items()
        ]
        return super().to_dict() | {"learners": learners}

    @property
    def headline(self) -> str:
        """The learners and the loss."""
        if len(self.learners) == 1:
            learners = truncate(next(iter(self.learners)), 30)
        else:
            learners = format_quantity(len(self.learners), "learner")
        return f"Bias and variance of {learners}: {loss_title(self)}"

    def sections(self) -> list[Section]:
        """Return the parts of the loss, and notes on how they were estimated."""
        return bias_variance_sections(self)

    def plot(self) -> Any:
        """Return a chart of the parts, one stacked bar per learner."""
        from weigh.pictures import stacked_bar_chart

        rows = [
            {"name": name, "part": part_title(self, part), "value": each.mean(part)}
            for name, each in self.learners.items()
            for part in each.parts
        ]
        return stacked_bar_chart(rows, x=loss_title(self))


def _mean_with_errors(decomposition: Decomposition, part: str) -> dict[str, Any]:
    return {
        "mean": decomposition.mean(part),
        "rounds_error": decomposition.error_of_rounds(part),
        "rows_error": to_json_value(decomposition.error_of_rows(part)),
    }


def bias_variance(
    learner: Any,
    X: Any,
    y: Any = None,
    *,
    loss: str | None = None,
    which: str = KOHAVI_WOLPERT,
    rounds: int = 100,
    test: float = 0.3,
    resample: str = BOOTSTRAP,
    share: float | None = None,
    truth: Any = None,
    seed: int = 0,
    n_jobs: int | None = -1,
    progress: Callable[[int, int], None] | None = None,
) -> BiasVariance:
    """Train a learner on many training sets and decompose its loss on held-out rows.

    The parts add up to the measured loss, in every row and in the mean. All training sets are drawn from the
    same rows, so they overlap: the variance is smaller than it would be with independent training sets.

    Parameters
    ----------
    learner : a learner, a name such as "naive-bayes", or several as a list or as a mapping from names
    X, y : rows, as for `fit`
    loss : "zero_one", "brier" = Σ_c (p_c − [y = c])² (half of it for two classes), "squared" = (1 − p_true)²;
        for regressions "squared_error". None means zero_one, or squared_error
    which : for the zero-one loss, "kohavi-wolpert" (squares) or "domingos" (the main prediction)
    rounds : number of training sets
    test : fraction of the rows that is held out for testing
    resample : "bootstrap" samples with replacement, "subsample" without
    share : size of a training set as a fraction of the rows that are not held out; None means 1, or 1/2 for
        subsamples
    truth : true mean of every row's label, or for classifiers the true probabilities [rows, classes] of the
        sorted classes, if they are known, as for simulated data. Without it the bias includes the label
        noise, because one label per row cannot separate them
    seed : determines which rows are held out and drawn
    n_jobs : number of parallel fits; -1 means all cores. The results do not depend on it
    progress : called with the number of finished fits and the total

    Examples
    --------
    >>> import weigh
    >>> rows = {"x": [k % 9 for k in range(90)], "big": [str(k % 9 > k % 5) for k in range(90)]}
    >>> result = weigh.bias_variance("naive-bayes", rows, "big", rounds=20)
    >>> parts = result["naive-bayes"]
    >>> abs(parts.mean("loss") - parts.mean("bias") - parts.mean("variance")) < 1e-12
    True
    """
    experiment = Experiment.of(learner, X, y, loss, OWNER)
    candidates, loss = experiment.candidates, _check_loss(experiment.loss, which)
    rounds = check_integer(OWNER, "rounds", rounds, 2)
    sets = TrainingSets.of(
        experiment.strata, *_check_resampling(test, resample, share), check_integer(OWNER, "seed", seed, 0)
    )
    test_rows = EvaluationRows.of(experiment.rows, sets, loss, which, truth)
    jobs = [(name, number) for name in candidates for number in range(rounds)]

    def fit_and_predict(job: tuple[str, int]) -> Any:
        candidate, number = candidates[job[0]], job[1]
        with candidate.error_context(f"training set {number + 1:,}"):
            return test_rows.predict(candidate.fit(sets.draw(number)), candidate.rows.take(sets.test))

    predictions = run_jobs(fit_and_predict, jobs, n_jobs, progress)
    decompositions = {
        name: test_rows.decompose(predictions[i * rounds : (i + 1) * rounds])
        for i, name in enumerate(candidates)
    }
    form = which if loss == "zero_one" else "squares"
    settings = {name: format_settings(each.learner) for name, each in candidates.items()}
    indices = tuple(sets.test.tolist())
    return BiasVariance(decompositions, loss, form, rounds, sets.description, indices, settings)


def _check_loss(loss: str, which: str) -> str:
    if loss not in DECOMPOSABLE_LOSSES:
        raise errors.Unsupported(
            (
                f"{OWNER}: ",
                Setting("loss", loss),
                f" has no bias–variance decomposition; use one of {errors.quote_names(DECOMPOSABLE_LOSSES)}.",
            )
        )
    if which not in ZERO_ONE_DECOMPOSITIONS:
        must = f"one of {errors.quote_names(ZERO_ONE_DECOMPOSITIONS)}"
        raise errors.parameter_error(OWNER, "which", must, which)
    return loss


def _check_resampling(test: float, resample: str, share: float | None) -> tuple[float, str, float]:
    test_fraction = check_finite(OWNER, "test", test, "a fraction between 0 and 1")
    if not 0 < test_fraction < 1:
        raise errors.parameter_error(OWNER, "test", "a fraction between 0 and 1", test)
    if resample not in DEFAULT_SHARES:
        must = f"one of {errors.quote_names(DEFAULT_SHARES)}"
        raise errors.parameter_error(OWNER, "resample", must, resample)
    must = "a fraction above 0" if resample == BOOTSTRAP else "a fraction above 0 and below 1"
    fraction = DEFAULT_SHARES[resample] if share is None else check_finite(OWNER, "share", share, must)
    if fraction <= 0 or (resample != BOOTSTRAP and fraction >= 1):
        raise errors.parameter_error(OWNER, "share", must, share)
    return test_fraction, resample, fraction


@dataclass(frozen=True, eq=False)
class TrainingSets:
    """Training sets drawn from a pool of rows, and the test rows that all of them share.

    A bootstrap sample draws `size` rows of the pool with replacement, a subsample without. A sample with a
    single class is redrawn if the pool has several, because many learners cannot be fitted to it.
    """

    pool: RowIndices
    test: RowIndices
    strata: Codes
    size: int
    resample: str
    seed: int

    @classmethod
    def of(cls, strata: Codes, test: float, resample: str, share: float, seed: int) -> TrainingSets:
        """Hold out a stratified fraction `test` of the rows; the others are the pool."""
        n = len(strata)
        n_test = max(1, round(n * test))
        size = round((n - n_test) * share)
        if size < 2:
            raise errors.DataError(
                f"{OWNER}: with {n_test:,} of {n:,} rows held out, a training set has "
                f"{format_quantity(max(size, 0), 'row')}; it needs at least 2. Use more rows."
            )
        order = stratified_order(np.arange(n), strata, np.random.default_rng([seed, 0]))
        return cls(np.sort(order[: n - n_test]), np.sort(order[n - n_test :]), strata, size, resample, seed)

    def draw(self, number: int) -> RowIndices:
        """Return the row indices of a training set; the same number gives the same set."""
        rng = np.random.default_rng([self.seed, 1, number])
        has_classes = np.ptp(self.strata[self.pool]) > 0
        while True:
            sample = rng.choice(self.pool, self.size, replace=self.resample == BOOTSTRAP)
            if not has_classes or np.ptp(self.strata[sample]) > 0:
                return np.asarray(sample, np.int64)

    @property
    def description(self) -> str:
        """How the sets were drawn, as text."""
        samples = "bootstrap samples" if self.resample == BOOTSTRAP else "subsamples"
        return f"{samples} of {self.size:,} rows from {len(self.pool):,}"


@dataclass(frozen=True, eq=False)
class EvaluationRows:
    """The test rows, and how predictions for them are decomposed."""

    rows: LabelledRows
    classes: tuple[Any, ...]
    loss: str
    which: str
    truth: Floats | None

    @classmethod
    def of(cls, rows: LabelledRows, sets: TrainingSets, loss: str, which: str, truth: Any) -> EvaluationRows:
        """Take the test rows, and their true means or probabilities if they are known."""
        classes = () if LOSSES[loss].is_for_regression else _sort_classes(rows.labels)
        test_truth = None if truth is None else _check_truth(truth, len(rows), len(classes), loss)[sets.test]
        return cls(rows.take(sets.test), classes, loss, which, test_truth)

    def predict(self, model: FittedLearner, rows: LabelledRows) -> Any:
        """Return class codes [n], probabilities [n, classes] or numbers [n, 1], depending on the loss."""
        if self.loss == "zero_one":
            return self._encode_labels(model.predict(rows))
        if LOSSES[self.loss].is_for_regression:
            return model.predict_numbers(rows)[:, None]
        table = model.predict_proba_of(rows, self.classes)
        if self.loss == BRIER:
            return self._independent_columns(table)
        return table[np.arange(len(table)), self._true_codes()][:, None]

    def decompose(self, predictions: list[Any]) -> Decomposition:
        """Decompose the loss of predictions [rounds, ...]."""
        k = len(self.classes)
        if self.loss == "zero_one":
            decompose = ZERO_ONE_DECOMPOSITIONS[self.which]
            return decompose(np.stack(predictions), self._true_codes(), k, self.truth)
        truth = self.truth
        if LOSSES[self.loss].is_for_regression:
            true = np.asarray(self.rows.labels, np.float64)[:, None]
        elif self.loss == BRIER:
            true = self._independent_columns(one_hot(self._true_codes(), k))
            truth = None if truth is None else self._independent_columns(truth)
        else:
            true = np.ones((len(self.rows), 1))
        return decompose_squared_loss(predictions, true, truth)

    def _independent_columns(self, table: Floats) -> Floats:
        """Drop the redundant first of two classes, which halves the Brier score."""
        return table[:, 1:] if len(self.classes) == 2 else table

    def _true_codes(self) -> Any:
        return self._encode_labels(self.rows.labels)

    def _encode_labels(self, labels: Any) -> Any:
        code = {label: i for i, label in enumerate(self.classes)}
        return np.array([code[label] for label in labels.tolist()], np.int64)


def _sort_classes(labels: Any) -> tuple[Any, ...]:
    classes = dict.fromkeys(labels.tolist())
    try:
        return tuple(sorted(classes))
    except TypeError:
        return tuple(classes)


def _check_truth(truth: Any, n_rows: int, k: int, loss: str) -> Floats:
    """Return true means [rows, 1] or true probabilities [rows, classes] after checking them."""
    if loss == "squared":
        raise errors.Unsupported(
            (
                f"{OWNER}: truth cannot be used with ",
                Setting("loss", "squared"),
                ", which depends on a single class per row.",
            ),
            hint=("Use ", Setting("loss", "brier"), "."),
        )
    try:
        table = np.asarray(truth, np.float64)
    except (TypeError, ValueError):
        raise errors.parameter_error(OWNER, "truth", "an array of numbers", truth) from None
    table = table[:, None] if table.ndim == 1 and not k else table
    if table.shape != (n_rows, k or 1) or not np.isfinite(table).all():
        must = f"finite numbers of shape {(n_rows, k) if k else (n_rows,)}"
        raise errors.parameter_error(OWNER, "truth", must, f"shape {table.shape}")
    if k and (table.min() < 0 or np.abs(table.sum(axis=1) - 1).max() > 1e-9):
        raise errors.DataError(f"{OWNER}: truth must contain probabilities that sum to 1 in every row.")
    return table
