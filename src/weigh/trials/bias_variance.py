"""`bias_variance`: how much of a loss is bias, and how much comes from the rows a learner happened to see."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from weigh import errors
from weigh.features.validation import check_finite, check_integer
from weigh.judge.metrics.losses import Floats
from weigh.text import (
    escape_html,
    format_float,
    format_quantity,
    html_table,
    text_table,
    to_json_value,
    truncate,
)
from weigh.trials.candidates import LOSSES, Experiment, FittedLearner
from weigh.trials.decomposition import (
    Decomposition,
    decompose_domingos,
    decompose_kohavi_wolpert,
    decompose_squared_loss,
    one_hot,
)
from weigh.trials.learners import format_settings, format_settings_note
from weigh.trials.parallel import run_jobs
from weigh.trials.rows import LabelledRows, RowIndices
from weigh.trials.splits import Groups, stratified_order

LINE_WIDTH = 80
KOHAVI_WOLPERT = "kohavi-wolpert"
AUTHORS = {KOHAVI_WOLPERT: " (Kohavi & Wolpert)", "domingos": " (Domingos)"}
SQUARED_PART_TITLES = {"bias": "bias²"}
PART_TITLES = {
    "squares": SQUARED_PART_TITLES,
    KOHAVI_WOLPERT: SQUARED_PART_TITLES,
    "domingos": {"variance_unbiased": "variance that hurts", "variance_biased": "variance that helps"},
}


def format_bias_variance(found: BiasVariance) -> str:
    """The whole result as text."""
    if len(found.learners) == 1:
        table = text_table(_part_table(found), indent="  ")
    else:
        table = text_table(_learner_table(found, 22), indent="  ")
    notes = "\n".join(textwrap.fill(note, LINE_WIDTH) for note in _notes(found))
    return f"{_headline(found)}\n\n{table}\n\n{notes}"


def bias_variance_html(found: BiasVariance) -> str:
    """The table in HTML, and what it rests on."""
    rows = _part_table(found) if len(found.learners) == 1 else _learner_table(found, 60)
    notes = "".join(f"<p>{escape_html(note)}</p>" for note in _notes(found))
    return f"<div>{html_table(_headline(found), rows)}{notes}</div>"


def loss_title(found: BiasVariance) -> str:
    """What was taken apart."""
    return LOSSES[found.loss].title + AUTHORS.get(found.form, "")


def _headline(found: BiasVariance) -> str:
    who = (
        truncate(next(iter(found.learners)), 30)
        if len(found.learners) == 1
        else format_quantity(len(found.learners), "learner")
    )
    return f"Bias and variance of {who}: {loss_title(found)}"


def _part_table(found: BiasVariance) -> list[list[str]]:
    (each,) = found.learners.values()
    corrected = each.corrected() or {}
    rows = [["part", "mean", "± sets", "± rows", *(["corrected"] if corrected else [])]]
    for part in ("loss", *each.parts):
        errors = (each.error_of_rounds(part), each.error_of_rows(part))
        more = [_format_number(corrected.get(part, math.nan))] if corrected else []
        rows.append(
            [_part_title(found, part), _format_number(each.mean(part)), *map(_format_number, errors), *more]
        )
    return rows


def _learner_table(found: BiasVariance, width: int) -> list[list[str]]:
    # More than two parts leave no room for a ± at each.
    is_wide = len(found.parts) > 2
    rows = [["learner", "loss", *(_part_title(found, part) for part in found.parts)]]
    for name, each in found.learners.items():
        cells = [_format_cell(each, part, is_wide) for part in ("loss", *each.parts)]
        rows.append([truncate(name, width - 8 if is_wide else width), *cells])
    return rows


def _format_cell(each: Decomposition, part: str, is_short: bool) -> str:
    mean = _format_number(each.mean(part))
    return mean if is_short else f"{mean} ± {_format_error(each.error_of_rounds(part))}"


def _notes(found: BiasVariance) -> list[str]:
    sets = f"{found.rounds:,} training sets: {found.sets}. Judged on {format_quantity(len(found.test), 'other row')}."
    notes = [f"{sets} The parts add up to the loss."]
    how = "bootstrap" if found.form == "domingos" else "jackknife"
    meant = f"± sets: standard error from the number of training sets ({how})"
    if len(found.learners) == 1:
        notes.append(f"{meant}; ± rows: from the judged rows.{_correction_note(found)}")
    elif len(found.parts) == 2:
        notes.append(f"{meant.replace('± sets', '±')}.")
    if "noise" not in found.parts:
        notes.append("Noise of the labels is part of the bias: one label per row cannot tell them apart.")
    return [*notes, *format_settings_note(found.settings)]


def _correction_note(found: BiasVariance) -> str:
    if found.form == "domingos":
        return ""
    return " Corrected: what endless sets would give, without the share of a finite number."


def _part_title(found: BiasVariance, part: str) -> str:
    return PART_TITLES[found.form].get(part, part)


def _format_number(number: float) -> str:
    if math.isnan(number):
        return ""
    size = abs(number)
    return f"{number:.4f}" if size == 0 or 0.0001 <= size < 10 else format_float(number)


def _format_error(number: float) -> str:
    return f"{number:.1g}" if number < 0.01 or number >= 1 else f"{number:.2f}"


BOOTSTRAP, SUBSAMPLE = "bootstrap", "subsample"
DEFAULT_SHARES = {BOOTSTRAP: 1.0, SUBSAMPLE: 0.5}  # of the training part, that a set has


@dataclass(frozen=True, eq=False)
class TrainingSets:
    """Sets of rows to train on, and the rows that all of them are judged on.

    A bootstrap sample draws `size` rows of the part with replacement, a sub-sample without. A set of one
    class is drawn anew where the part has more: many learners could not begin.
    """

    pool: RowIndices
    test: RowIndices
    groups: Groups
    size: int
    resample: str
    seed: int

    @classmethod
    def of(cls, groups: Groups, test: float, resample: str, share: float, seed: int) -> TrainingSets:
        """Hold out a share of the rows, class by class, and draw from the rest."""
        n = len(groups)
        held = max(1, round(n * test))
        size = round((n - held) * share)
        if size < 2:
            raise errors.DataError(
                f"bias_variance: of {n:,} rows {held:,} are held out, and {max(size, 0)} of the others are "
                f"in a training set; 2 are the least. Give more rows."
            )
        order = stratified_order(np.arange(n), groups, np.random.default_rng([seed, 0]))
        return cls(np.sort(order[: n - held]), np.sort(order[n - held :]), groups, size, resample, seed)

    def draw(self, number: int) -> RowIndices:
        """Return the places of a training set; the same number draws the same set."""
        rng = np.random.default_rng([self.seed, 1, number])
        is_mixed = np.ptp(self.groups[self.pool]) > 0
        while True:
            found = rng.choice(self.pool, self.size, replace=self.resample == BOOTSTRAP)
            if not is_mixed or np.ptp(self.groups[found]) > 0:
                return np.asarray(found, np.int64)

    @property
    def description(self) -> str:
        """How the sets were drawn."""
        how = "bootstrap samples" if self.resample == BOOTSTRAP else "sub-samples"
        return f"{how} of {self.size:,} rows from {len(self.pool):,}"


OWNER = "bias_variance"
BRIER = "brier"
ZERO_ONE_DECOMPOSITIONS = {KOHAVI_WOLPERT: decompose_kohavi_wolpert, "domingos": decompose_domingos}
DECOMPOSABLE_LOSSES = ("zero_one", BRIER, "squared", "squared_error")  # losses that can be taken apart


@dataclass(frozen=True, eq=False, repr=False)
class BiasVariance:
    """The result of `bias_variance`; prints as a table of at most 80 columns.

    `learners` has a `Decomposition` for each learner by name: `mean("bias")`, the loss and parts of every
    judged row, `corrected()`, standard errors. `form` is "squares", or of the zero-one loss
    "kohavi-wolpert" or "domingos". `test` are the places of the judged rows, in the order of the parts.
    `settings` are those of each learner that differ from the defaults, in words.
    """

    learners: Mapping[str, Decomposition]
    loss: str
    form: str
    rounds: int
    sets: str
    test: tuple[int, ...]
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the parts, which sum to the loss."""
        return tuple(next(iter(self.learners.values())).parts)

    def __getitem__(self, name: str) -> Decomposition:
        if name not in self.learners:
            raise errors.ParameterError(
                f"{OWNER}: there is no learner {name!r}; there are {errors.quote_names(self.learners)}."
                f"{errors.did_you_mean(name, self.learners)}"
            )
        return self.learners[name]

    def to_dict(self) -> dict[str, Any]:
        """Means, standard errors and corrected parts for JSON; the rows stay in `learners`."""
        return {
            "loss": self.loss,
            "form": self.form,
            "rounds": self.rounds,
            "sets": self.sets,
            "judged_rows": len(self.test),
            "learners": [
                {
                    "learner": name,
                    "settings": self.settings.get(name, ""),
                    **{part: _mean_with_errors(each, part) for part in ("loss", *each.parts)},
                    "corrected": each.corrected(),
                }
                for name, each in self.learners.items()
            ],
        }

    def plot(self) -> Any:
        """Return a picture of the parts, one bar per learner."""
        from weigh.pictures import stacked_bar_chart

        rows = [
            {"name": name, "part": PART_TITLES[self.form].get(part, part), "value": each.mean(part)}
            for name, each in self.learners.items()
            for part in each.parts
        ]
        return stacked_bar_chart(rows, x=loss_title(self))

    def __str__(self) -> str:
        return format_bias_variance(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return bias_variance_html(self)


def _mean_with_errors(found: Decomposition, part: str) -> dict[str, Any]:
    return {
        "mean": found.mean(part),
        "rounds_error": found.error_of_rounds(part),
        "rows_error": to_json_value(found.error_of_rows(part)),
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
    """Train a learner on many training sets, and take its loss on held-out rows apart.

    The parts add up to the measured loss, in every row and in the mean. The sets are drawn from one part of
    the rows, so they overlap: sets of new rows would vary more, and what is called variance here is less than
    that of a learner given other rows.

    Parameters
    ----------
    learner : a learner, a name such as "naive-bayes", or several of them as a list or by name
    X, y : rows as `fit` takes them
    loss : "zero_one", "brier" = Σ_c (p_c − [y = c])² (of two classes half of it), "squared" = (1 − p_true)²;
        of regressions "squared_error". None means zero_one, or squared_error
    which : of the zero-one loss, "kohavi-wolpert" (squares) or "domingos" (the main prediction)
    rounds : how many training sets
    test : the share of the rows that is held out and judged on
    resample : "bootstrap" samples with replacement, or "subsample" without
    share : the size of a set, of the rows that are not held out; None means 1, of sub-samples 1/2
    truth : the true mean of every row's label, or of classes [rows, classes] their true probabilities in
        sorted order, where they are known, as for made-up rows. Without it noise counts as bias: one label
        per row cannot tell them apart
    seed : decides which rows are held out and drawn
    n_jobs : trials at a time; -1 means all cores. The numbers do not depend on it
    progress : called with the trials done and all trials

    Examples
    --------
    >>> import weigh
    >>> rows = {"x": [k % 9 for k in range(90)], "big": [str(k % 9 > k % 5) for k in range(90)]}
    >>> found = weigh.bias_variance("naive-bayes", rows, "big", rounds=20)
    >>> parts = found["naive-bayes"]
    >>> abs(parts.mean("loss") - parts.mean("bias") - parts.mean("variance")) < 1e-12
    True
    """
    contest = Experiment.of(learner, X, y, loss, OWNER)
    learners, loss = contest.candidates, _check_loss(contest.loss, which)
    rounds = check_integer(OWNER, "rounds", rounds, 2)
    sets = TrainingSets.of(
        contest.groups, *_check_resampling(test, resample, share), check_integer(OWNER, "seed", seed, 0)
    )
    judged = EvaluationRows.of(contest.rows, sets, loss, which, truth)
    jobs = [(name, number) for name in learners for number in range(rounds)]

    def answer(job: tuple[str, int]) -> Any:
        tried, number = learners[job[0]], job[1]
        with tried.error_context(f"training set {number + 1:,}"):
            return judged.predict(tried.fit(sets.draw(number)), tried.rows.take(sets.test))

    answers = run_jobs(answer, jobs, n_jobs, progress)
    found = {
        name: judged.decompose(answers[at * rounds : (at + 1) * rounds]) for at, name in enumerate(learners)
    }
    form = which if loss == "zero_one" else "squares"
    settings = {name: format_settings(each.learner) for name, each in learners.items()}
    return BiasVariance(found, loss, form, rounds, sets.description, tuple(sets.test.tolist()), settings)


def _check_loss(loss: str, which: str) -> str:
    if loss not in DECOMPOSABLE_LOSSES:
        raise errors.Unsupported(
            f"{OWNER}: loss={loss!r} has no parts that add up to it; {errors.quote_names(DECOMPOSABLE_LOSSES)} have."
        )
    if which not in ZERO_ONE_DECOMPOSITIONS:
        raise errors.parameter_error(
            OWNER, "which", f"one of {errors.quote_names(ZERO_ONE_DECOMPOSITIONS)}", which
        )
    return loss


def _check_resampling(test: float, resample: str, share: float | None) -> tuple[float, str, float]:
    held = check_finite(OWNER, "test", test, "a share between 0 and 1")
    if not 0 < held < 1:
        raise errors.parameter_error(OWNER, "test", "a share between 0 and 1", test)
    if resample not in DEFAULT_SHARES:
        raise errors.parameter_error(
            OWNER, "resample", f"one of {errors.quote_names(DEFAULT_SHARES)}", resample
        )
    must = "a share above 0" if resample == BOOTSTRAP else "a share above 0 and below 1"
    part = DEFAULT_SHARES[resample] if share is None else check_finite(OWNER, "share", share, must)
    if part <= 0 or (resample != BOOTSTRAP and part >= 1):
        raise errors.parameter_error(OWNER, "share", must, share)
    return held, resample, part


@dataclass(frozen=True, eq=False)
class EvaluationRows:
    """The rows that every trained learner is judged on, and how its answers are taken apart."""

    rows: LabelledRows
    classes: tuple[Any, ...]
    loss: str
    which: str
    truth: Floats | None

    @classmethod
    def of(cls, rows: LabelledRows, sets: TrainingSets, loss: str, which: str, truth: Any) -> EvaluationRows:
        """Take the held-out rows, and what is known of their labels."""
        classes = () if LOSSES[loss].is_for_regression else _sort_classes(rows.labels)
        known = None if truth is None else _check_truth(truth, len(rows), len(classes), loss)[sets.test]
        return cls(rows.take(sets.test), classes, loss, which, known)

    def predict(self, model: FittedLearner, rows: LabelledRows) -> Any:
        """What a trained learner says of the rows as it takes them: codes, probabilities, or numbers."""
        if self.loss == "zero_one":
            return self._encode_labels(model.predict(rows))
        if LOSSES[self.loss].is_for_regression:
            return model.predict_numbers(rows)[:, None]
        table = model.predict_proba_of(rows, self.classes)
        own = table[np.arange(len(table)), self._true_codes()][:, None]
        return self._independent_columns(table) if self.loss == BRIER else own

    def decompose(self, answers: list[Any]) -> Decomposition:
        """Take the losses of all answers [rounds, ...] apart."""
        k = len(self.classes)
        if self.loss == "zero_one":
            return ZERO_ONE_DECOMPOSITIONS[self.which](np.stack(answers), self._true_codes(), k, self.truth)
        if LOSSES[self.loss].is_for_regression:
            return decompose_squared_loss(
                answers, np.asarray(self.rows.labels, np.float64)[:, None], self.truth
            )
        if self.loss == BRIER:
            known = None if self.truth is None else self._independent_columns(self.truth)
            return decompose_squared_loss(
                answers, self._independent_columns(one_hot(self._true_codes(), k)), known
            )
        return decompose_squared_loss(answers, np.ones((len(self.rows), 1)), self.truth)

    def _independent_columns(self, table: Floats) -> Floats:
        """Return the probabilities that count: of two classes one tells the other, as half the sum does."""
        return table[:, 1:] if len(self.classes) == 2 else table

    def _true_codes(self) -> Any:
        return self._encode_labels(self.rows.labels)

    def _encode_labels(self, labels: Any) -> Any:
        code = {label: at for at, label in enumerate(self.classes)}
        return np.array([code[label] for label in labels.tolist()], np.int64)


def _sort_classes(labels: Any) -> tuple[Any, ...]:
    found = dict.fromkeys(labels.tolist())
    try:
        return tuple(sorted(found))
    except TypeError:
        return tuple(found)


def _check_truth(truth: Any, rows: int, k: int, loss: str) -> Floats:
    """Return true means [rows, 1], or true probabilities [rows, classes], after a look at them."""
    if loss == "squared":
        raise errors.Unsupported(
            f"{OWNER}: truth has no meaning for loss='squared', which looks at one class of each row. Take "
            f"loss='brier'."
        )
    try:
        known = np.asarray(truth, np.float64)
    except (TypeError, ValueError):
        raise errors.parameter_error(OWNER, "truth", "an array of numbers", truth) from None
    known = known[:, None] if known.ndim == 1 and not k else known
    shape = (rows, k or 1)
    if known.shape != shape or not np.isfinite(known).all():
        must = f"finite numbers of the shape {shape if k else (rows,)}"
        raise errors.parameter_error(OWNER, "truth", must, f"shape {known.shape}")
    if k and (known.min() < 0 or np.abs(known.sum(axis=1) - 1).max() > 1e-9):
        raise errors.DataError(f"{OWNER}: truth must have probabilities that sum to 1 in every row.")
    return known
