"""`bias_variance`: how much of a loss is bias, and how much comes from the rows a learner happened to see."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from weigh import errors
from weigh.features.settings import finite, whole
from weigh.judge.measures.losses import Floats
from weigh.text import plain
from weigh.trials.contest import Contest
from weigh.trials.learners import settings_of
from weigh.trials.parts.bias_variance_text import KOHAVI_WOLPERT, markup, text
from weigh.trials.parts.decomposition import Decomposition, domingos, kohavi_wolpert, one_hot, squared
from weigh.trials.parts.training_sets import BOOTSTRAP, SHARES, TrainingSets
from weigh.trials.rows import LabelledRows
from weigh.trials.running import run
from weigh.trials.trial import LOSSES, Fitted

OWNER = "bias_variance"
BRIER = "brier"
FORMS = {KOHAVI_WOLPERT: kohavi_wolpert, "domingos": domingos}
APART = ("zero_one", BRIER, "squared", "squared_error")  # losses that can be taken apart


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
                f"{OWNER}: there is no learner {name!r}; there are {errors.listing(self.learners)}."
                f"{errors.hint(name, self.learners)}"
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
                    **{part: _measured(each, part) for part in ("loss", *each.parts)},
                    "corrected": each.corrected(),
                }
                for name, each in self.learners.items()
            ],
        }

    def plot(self) -> Any:
        """Return a picture of the parts, one bar per learner."""
        from weigh.pictures import stacked
        from weigh.trials.parts.bias_variance_text import NAMES, words

        rows = [
            {"name": name, "part": NAMES[self.form].get(part, part), "value": each.mean(part)}
            for name, each in self.learners.items()
            for part in each.parts
        ]
        return stacked(rows, x=words(self))

    def __str__(self) -> str:
        return text(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return markup(self)


def _measured(found: Decomposition, part: str) -> dict[str, Any]:
    return {
        "mean": found.mean(part),
        "rounds_error": found.error_of_rounds(part),
        "rows_error": plain(found.error_of_rows(part)),
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
    contest = Contest.of(learner, X, y, loss, OWNER)
    learners, loss = contest.entrants, _checked(contest.loss, which)
    rounds = whole(OWNER, "rounds", rounds, 2)
    sets = TrainingSets.of(contest.groups, *_drawing(test, resample, share), whole(OWNER, "seed", seed, 0))
    judged = Judged.of(contest.rows, sets, loss, which, truth)
    jobs = [(name, number) for name in learners for number in range(rounds)]

    def answer(job: tuple[str, int]) -> Any:
        tried, number = learners[job[0]], job[1]
        with tried.at(f"training set {number + 1:,}"):
            return judged.answer(tried.fitted(sets.drawn(number)), tried.rows.take(sets.test))

    answers = run(answer, jobs, n_jobs, progress)
    found = {
        name: judged.decomposed(answers[at * rounds : (at + 1) * rounds]) for at, name in enumerate(learners)
    }
    form = which if loss == "zero_one" else "squares"
    settings = {name: settings_of(each.learner) for name, each in learners.items()}
    return BiasVariance(found, loss, form, rounds, sets.words, tuple(sets.test.tolist()), settings)


def _checked(loss: str, which: str) -> str:
    if loss not in APART:
        raise errors.Unsupported(
            f"{OWNER}: loss={loss!r} has no parts that add up to it; {errors.listing(APART)} have."
        )
    if which not in FORMS:
        raise errors.parameter(OWNER, "which", f"one of {errors.listing(FORMS)}", which)
    return loss


def _drawing(test: float, resample: str, share: float | None) -> tuple[float, str, float]:
    held = finite(OWNER, "test", test, "a share between 0 and 1")
    if not 0 < held < 1:
        raise errors.parameter(OWNER, "test", "a share between 0 and 1", test)
    if resample not in SHARES:
        raise errors.parameter(OWNER, "resample", f"one of {errors.listing(SHARES)}", resample)
    must = "a share above 0" if resample == BOOTSTRAP else "a share above 0 and below 1"
    part = SHARES[resample] if share is None else finite(OWNER, "share", share, must)
    if part <= 0 or (resample != BOOTSTRAP and part >= 1):
        raise errors.parameter(OWNER, "share", must, share)
    return held, resample, part


@dataclass(frozen=True, eq=False)
class Judged:
    """The rows that every trained learner is judged on, and how its answers are taken apart."""

    rows: LabelledRows
    classes: tuple[Any, ...]
    loss: str
    which: str
    known: Floats | None

    @classmethod
    def of(cls, rows: LabelledRows, sets: TrainingSets, loss: str, which: str, truth: Any) -> Judged:
        """Take the held-out rows, and what is known of their labels."""
        classes = () if LOSSES[loss].of_numbers else _sorted(rows.labels)
        known = None if truth is None else _known(truth, len(rows), len(classes), loss)[sets.test]
        return cls(rows.take(sets.test), classes, loss, which, known)

    def answer(self, model: Fitted, rows: LabelledRows) -> Any:
        """What a trained learner says of the rows as it takes them: codes, probabilities, or numbers."""
        if self.loss == "zero_one":
            return self._codes(model.predict(rows))
        if LOSSES[self.loss].of_numbers:
            return model.numbers(rows)[:, None]
        table = model.probabilities(rows, self.classes)
        own = table[np.arange(len(table)), self._true()][:, None]
        return self._weighed(table) if self.loss == BRIER else own

    def decomposed(self, answers: list[Any]) -> Decomposition:
        """Take the losses of all answers [rounds, ...] apart."""
        k = len(self.classes)
        if self.loss == "zero_one":
            return FORMS[self.which](np.stack(answers), self._true(), k, self.known)
        if LOSSES[self.loss].of_numbers:
            return squared(answers, np.asarray(self.rows.labels, np.float64)[:, None], self.known)
        if self.loss == BRIER:
            known = None if self.known is None else self._weighed(self.known)
            return squared(answers, self._weighed(one_hot(self._true(), k)), known)
        return squared(answers, np.ones((len(self.rows), 1)), self.known)

    def _weighed(self, table: Floats) -> Floats:
        """Return the probabilities that count: of two classes one tells the other, as half the sum does."""
        return table[:, 1:] if len(self.classes) == 2 else table

    def _true(self) -> Any:
        return self._codes(self.rows.labels)

    def _codes(self, labels: Any) -> Any:
        code = {label: at for at, label in enumerate(self.classes)}
        return np.array([code[label] for label in labels.tolist()], np.int64)


def _sorted(labels: Any) -> tuple[Any, ...]:
    found = dict.fromkeys(labels.tolist())
    try:
        return tuple(sorted(found))
    except TypeError:
        return tuple(found)


def _known(truth: Any, rows: int, k: int, loss: str) -> Floats:
    """Return true means [rows, 1], or true probabilities [rows, classes], after a look at them."""
    if loss == "squared":
        raise errors.Unsupported(
            f"{OWNER}: truth has no meaning for loss='squared', which looks at one class of each row. Take "
            f"loss='brier'."
        )
    try:
        known = np.asarray(truth, np.float64)
    except (TypeError, ValueError):
        raise errors.parameter(OWNER, "truth", "an array of numbers", truth) from None
    known = known[:, None] if known.ndim == 1 and not k else known
    shape = (rows, k or 1)
    if known.shape != shape or not np.isfinite(known).all():
        must = f"finite numbers of the shape {shape if k else (rows,)}"
        raise errors.parameter(OWNER, "truth", must, f"shape {known.shape}")
    if k and (known.min() < 0 or np.abs(known.sum(axis=1) - 1).max() > 1e-9):
        raise errors.DataError(f"{OWNER}: truth must have probabilities that sum to 1 in every row.")
    return known
