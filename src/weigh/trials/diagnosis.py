"""Diagnosis of over- and underfitting, from the losses at the largest training size and those of rivals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from weigh.judge.metrics.confidence_intervals import Measure, format_interval, quantile_interval
from weigh.judge.metrics.learning_curve_laws import PowerLaw
from weigh.judge.metrics.losses import Floats
from weigh.judge.metrics.paired_tests import Estimate, FoldCorrection, holm_adjust
from weigh.result import Lines, Result, Section, Table
from weigh.text import format_count, format_float

WIDE_GAP = 0.1  # as a fraction of the baseline loss
HIGH_TRAINING_LOSS = 0.5  # as a fraction of the baseline loss
MIN_WORTHWHILE_GAIN = 0.05  # relative reduction of the validation loss, by more rows or another learner

VERDICT_SENTENCES = {
    "overfitting": "the loss is much lower on the training rows than on held-out rows",
    "underfitting": "the loss is high even on the training rows, unless the columns allow no better",
    "both": "the loss is high on the training rows, unless the columns allow no better, and higher elsewhere",
    "fine": "the loss is low on the training rows and about as low on held-out rows",
    "undecided": "the losses vary too much between folds to decide",
}
# A rival shows that the columns allow better.
SENTENCES_BESIDE_A_RIVAL = {
    "overfitting": VERDICT_SENTENCES["overfitting"],
    "underfitting": "the loss is too high even on the training rows",
    "both": "the loss is too high on the training rows, and higher on held-out rows",
}
VARIABLE_AND_UNBEATEN_SENTENCE = "too variable to decide; no other learner is 5 % better"
FINE_AND_UNBEATEN_SENTENCE = "the loss is low on all rows, and no other learner is 5 % better"
UNBEATEN_SENTENCE = "no other learner is 5 % better, so the columns may allow no lower loss"
HIGH_AND_UNCLEAR_SENTENCE = "the loss is high, and other learners may or may not be better"


@dataclass(frozen=True, repr=False)
class Diagnosis(Result):
    """A verdict on a learner at its largest training size, the numbers behind it, and advice.

    Let T and V be the training and validation loss, G = V − T the generalisation gap and B the baseline loss
    (most frequent class or class frequencies; mean or median), all paired by fold. A quantity is
    significantly positive or negative if its whole confidence interval is.

    - The gap is wide if G − B/10 is significantly positive, narrow if it is significantly negative.
    - A `rival` is the best of the other learners on the same folds with a validation loss R significantly
      below 0.95 V, or the first of several that do not differ significantly. A classifier that is evaluated
      alone is compared with naive Bayes, logistic regression, a perceptron and a decision tree; `left_out`
      has those that were not evaluated, and why. Tests of several learners are adjusted by Holm's method.
    - The training loss is high if T − B/2 is significantly positive, low if it is significantly negative. It
      is also high if the rival's R is significantly below T.
    - The learner is `unbeaten` if all other learners were evaluated with as many rows, none has a validation
      loss significantly below V, and every R is significantly above 0.95 V (an equivalence test: a possible
      gain is small). The columns may then allow no lower loss.
    - A high training loss counts only without this comparison, or if an R is significantly below V.
    - "overfitting": the gap is wide; "underfitting": the training loss is high; "both": both;
      "improvable": none of these, but there is a rival; "fine": the gap is narrow and the training loss low;
      "undecided": none of these.

    `rows_help` is "yes" if by the fitted law ten times as many rows significantly reduce the loss by more
    than 5 %, "no" if they significantly do not, and None if this is unknown. A high training loss may also
    mean that the columns do not determine the label: no learner can do better than the noise. B has no
    interval, because it hardly varies between stratified folds.
    """

    verdict: str
    train: Measure
    validation: Measure
    gap: Measure
    baseline: Measure
    asymptote: Measure | None
    tenfold: Measure | None
    rows: int
    rows_help: str | None
    rival: str | None
    unbeaten: bool
    advice: tuple[str, ...]
    rival_loss: Measure | None = None
    comparison: str | None = None
    left_out: Mapping[str, str] = field(default_factory=dict)
    is_high: bool | None = None
    _json = (
        "verdict",
        "says",
        "train",
        "validation",
        "gap",
        "baseline",
        "asymptote",
        "tenfold",
        "rows",
        "rows_help",
        "rival",
        "rival_loss",
        "unbeaten",
        "left_out",
        "advice",
    )

    @property
    def says(self) -> str:
        """The verdict as a sentence."""
        if self.comparison is not None:
            verdict = SENTENCES_BESIDE_A_RIVAL.get(self.verdict)
            comparison = f"{self.rival} does better: it {self.comparison}"
            return comparison if verdict is None else f"{verdict}; {comparison}"
        if self.unbeaten and self.verdict == "fine":
            return FINE_AND_UNBEATEN_SENTENCE
        if self.verdict == "undecided" and self.is_high:
            return UNBEATEN_SENTENCE if self.unbeaten else HIGH_AND_UNCLEAR_SENTENCE
        if self.unbeaten and self.verdict == "undecided":
            return VARIABLE_AND_UNBEATEN_SENTENCE
        return VERDICT_SENTENCES[self.verdict]

    def _titled_losses(self) -> list[list[str]]:
        losses = {
            "training loss": self.train,
            "validation loss": self.validation,
            "generalisation gap": self.gap,
            "baseline loss": self.baseline,
        }
        return [[title, format_interval(measure)] for title, measure in losses.items()]

    def sections(self) -> list[Section]:
        """Return the verdict, the losses and advice."""
        rows = self._titled_losses()
        # As wide as the names in a power law, which is printed above.
        text = "\n".join(f"  {title:<24}  {loss}" for title, loss in rows)
        losses = Lines(text, Table([["", f"with {self.rows:,} rows"], *rows], left=2))
        advice = [f"- {line}" for line in self.advice]
        return [Section("diagnosis", [losses, *advice], f"{self.verdict}: {self.says}")]


@dataclass(frozen=True, eq=False)
class FinalLosses:
    """Losses [folds] of a learner at the largest size; those of baseline and rivals are validation losses.

    Rivals may have been evaluated on the first folds only, and with fewer training rows: `rival_rows`.
    `left_out` has the learners that were not evaluated, and why; `advice` says how to use a rival.
    """

    train: Floats
    validation: Floats
    baseline: Floats
    rivals: Mapping[str, Floats]
    loss: str = "zero_one"
    rival_rows: int | None = None
    left_out: Mapping[str, str] = field(default_factory=dict)
    advice: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_complete(self) -> bool:
        """Whether all other learners were evaluated with as many rows as this one."""
        return bool(self.rivals) and self.rival_rows is None and not self.left_out

    def above_rivals(self, losses: Floats) -> dict[str, Floats]:
        """Return by how much losses of this learner are above those of each rival, on the rival's folds."""
        return {name: losses[: len(values)] - values for name, values in self.rivals.items()}


def diagnose(losses: FinalLosses, law: PowerLaw | str, rows: int, correction: FoldCorrection) -> Diagnosis:
    """Apply the rules of `Diagnosis` to losses at the largest size."""
    with np.errstate(invalid="ignore"):
        gap = losses.validation - losses.train
        is_wide = _is_significantly_positive(gap - WIDE_GAP * losses.baseline, correction)
        is_high = _is_significantly_positive(losses.train - HIGH_TRAINING_LOSS * losses.baseline, correction)
        rival = _find_rival(losses, correction)
        is_beaten = bool(_significantly_positive(losses.above_rivals(losses.validation), correction))
        below_training = _significantly_positive(losses.above_rivals(losses.train), correction)
    unbeaten = losses.is_complete and not is_beaten and _is_gain_small(losses, correction)
    # A high loss is held against a learner if another one is better, or if that is not known.
    counts_as_high = None if is_high and losses.is_complete and not is_beaten else is_high
    verdict = _verdict(is_wide, True if rival in below_training else counts_as_high, rival is not None)
    tenfold = law.at(10 * rows) if isinstance(law, PowerLaw) else None
    measured = float(losses.validation.mean())
    rows_help = _do_more_rows_help(law, rows, measured)
    return Diagnosis(
        verdict,
        train=correction.measure("train", losses.train, 0.0),
        validation=correction.measure("validation", losses.validation, 0.0),
        gap=correction.measure("gap", gap),
        baseline=Measure("baseline", float(losses.baseline.mean())),
        asymptote=law.a if isinstance(law, PowerLaw) else None,
        tenfold=tenfold,
        rows=rows,
        rows_help=rows_help,
        rival=rival,
        unbeaten=unbeaten,
        advice=(
            *_advice(verdict, _suggest(losses, rival), unbeaten if is_high and losses.is_complete else None),
            _more_rows_advice(law, rows, rows_help, measured),
        ),
        rival_loss=None if rival is None else correction.measure("rival", losses.rivals[rival], 0.0),
        comparison=None if rival is None else _compare(losses, rival),
        left_out=losses.left_out,
        is_high=is_high,
    )


def _is_significantly_positive(values: Floats, correction: FoldCorrection) -> bool | None:
    """Return True or False if the interval of the mean is positive or negative, None if it contains zero."""
    measure = correction.measure("sign", values)
    return True if measure.low > 0 else False if measure.high < 0 else None


def _significantly_positive(differences: Mapping[str, Floats], correction: FoldCorrection) -> list[str]:
    """Return the names of differences [folds] with a significantly positive mean (Holm's method)."""
    estimates = [Estimate.of_mean(values, correction.ratio) for values in differences.values()]
    p_values = holm_adjust([each.p_value for each in estimates])
    return [
        name
        for name, each, p in zip(differences, estimates, p_values, strict=True)
        if each.mean > 0 and p < 1.0 - correction.level
    ]


def _find_rival(losses: FinalLosses, correction: FoldCorrection) -> str | None:
    """Return the best learner whose validation loss is significantly and notably below that of this one."""
    limit = (1.0 - MIN_WORTHWHILE_GAIN) * losses.validation
    better = _significantly_positive(losses.above_rivals(limit), correction)
    best = min(better, key=lambda name: float(losses.rivals[name].mean()), default=None)
    if best is None:
        return None
    # The first of those that are about equally good.
    excess = {name: losses.rivals[name] - losses.rivals[best] for name in better if name != best}
    worse = _significantly_positive(excess, correction)
    return next(name for name in better if name not in worse)


def _is_gain_small(losses: FinalLosses, correction: FoldCorrection) -> bool:
    """Return whether the upper limit of the gain by every rival is below `MIN_WORTHWHILE_GAIN`.

    All of several tests have to succeed, so they need no adjustment.
    """
    limit = (1.0 - MIN_WORTHWHILE_GAIN) * losses.validation
    gains = losses.above_rivals(limit).values()
    return all(correction.measure("gain", values).high <= 0.0 for values in gains)


def _compare(losses: FinalLosses, rival: str) -> str:
    """Return the losses of a rival and of this learner on held-out rows in words."""
    values = losses.rivals[rival]
    theirs, ours = float(values.mean()), float(losses.validation[: len(values)].mean())
    if losses.loss == "zero_one":
        return f"errs on {_percent(theirs)} where this errs on {_percent(ours)}"
    name = losses.loss.replace("_", " ").removesuffix(" loss")
    return f"has a {name} loss of {theirs:.3g} where this has {ours:.3g}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.0995 else f"{100 * share:.2g} %"


def _verdict(is_wide: bool | None, is_high: bool | None, has_rival: bool) -> str:
    if is_wide or is_high:
        return "both" if is_wide and is_high else "overfitting" if is_wide else "underfitting"
    if has_rival:
        return "improvable"
    return "fine" if is_wide is False and is_high is False else "undecided"


def _do_more_rows_help(law: PowerLaw | str, rows: int, measured: float) -> str | None:
    # A law that predicts a higher loss than was measured says nothing about more rows.
    if isinstance(law, str) or measured <= law.values([10 * rows])[0]:
        return None
    now, later = law.bootstrap_losses([rows, 10 * rows]).T
    low, high = quantile_interval(1.0 - later / np.where(now > 0, now, 1.0), law.level)
    return "yes" if low > MIN_WORTHWHILE_GAIN else "no" if high < MIN_WORTHWHILE_GAIN else None


def _suggest(losses: FinalLosses, rival: str | None) -> str | None:
    """Return how to use a rival, and that it did better with fewer rows."""
    if rival is None or losses.rival_rows is None:
        return rival if rival is None else losses.advice.get(rival, rival)
    rows = format_count(losses.rival_rows)
    return f"{losses.advice.get(rival, rival)}, which does better with only {rows} training rows"


def _advice(verdict: str, rival: str | None, is_limited: bool | None) -> list[str]:
    """Return what to do.

    `is_limited` says of a high training loss whether no other learner is notably better; None if this is not
    known because not all were evaluated.
    """
    advice = []
    if is_limited:
        advice.append("No other learner is 5 % better: these columns may allow no lower loss.")
        advice.append("Otherwise try a more flexible learner, or more features: products, words, columns.")
    elif is_limited is False and verdict == "undecided":
        advice.append("Use more rows or repeats to decide whether another learner is better.")
    if verdict in ("overfitting", "both"):
        advice.append("Use a simpler learner, fewer features or a stronger prior, or label more rows.")
    if rival is not None:
        more = ", or add features: products, words, columns" if verdict in ("underfitting", "both") else ""
        advice.append(f"Try {rival}{more}.")
    elif verdict in ("underfitting", "both"):
        advice.append("Use a more flexible learner, or add features: products, words, columns.")
        advice.append("If these columns say little about the label, no learner will do much better.")
    return advice


def _more_rows_advice(law: PowerLaw | str, rows: int, rows_help: str | None, measured: float) -> str:
    if isinstance(law, str):
        return f"The effect of more rows is unknown: {law}."
    predicted = law.at(10 * rows)
    if measured <= predicted.value:
        return (
            f"The effect of more rows is unknown: the power law predicts {format_interval(predicted)} for "
            f"{format_count(10 * rows)} rows, but {format_count(rows)} rows already have "
            f"{format_float(measured)}."
        )
    effects = {"yes": "More rows help", "no": "More rows hardly help", None: "More rows may or may not help"}
    loss = f"the predicted loss for {format_count(10 * rows)} rows is {format_interval(predicted)}"
    return f"{effects[rows_help]}: {loss}."
