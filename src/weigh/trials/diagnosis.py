"""What holds a learner back, from its losses at the largest size, with the numbers that say so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.judge.metrics.confidence_intervals import Measure
from weigh.judge.metrics.losses import Floats
from weigh.text import format_count, format_float, html_paragraph, html_table
from weigh.trials.power_law import PowerLaw, format_interval
from weigh.trials.resampled_t_test import FoldCorrection

WIDE_GAP = 0.1  # of the baseline's loss: a gap that matters
HIGH_TRAINING_LOSS = 0.5  # of the baseline's loss: a training loss that is high
MIN_WORTHWHILE_GAIN = 0.05  # of the validation loss: what ten times the rows must bring to be worth a word

VERDICT_SENTENCES = {
    "overfitting": "it does much better on the rows it learned from than on others",
    "underfitting": "it does badly even on the rows it learned from, unless the columns tell no more",
    "both": "it does badly on the rows it learned from, unless the columns tell no more, and worse on others",
    "fine": "it does well on the rows it learned from, and about as well on others",
    "undecided": "the losses vary too much from fold to fold to tell",
}
UNBEATEN_SENTENCE = "no learner tried does surely better, so perhaps the columns tell no more"


@dataclass(frozen=True)
class Diagnosis:
    """A verdict on a learner at its largest training size, the numbers it rests on, and advice.

    With T and V the training and validation loss, G = V − T their gap and B the loss of guessing (the most
    frequent class or the classes' frequencies; the mean or median of numbers), all paired fold by fold:

    - the gap is wide where the whole interval of G − B/10 is above zero, narrow where it is below;
    - the training loss is high where the whole interval of T − B/2 is above zero, low where it is below, and
      high too where a `rival`, another learner on the same rows, has a validation loss surely below T and V;
    - it is `unbeaten`, and so perhaps no higher than the columns allow, where T − B/2 is surely above zero,
      other learners were tried, and none has a validation loss surely below V: this decides nothing;
    - "overfitting": the gap is wide; "underfitting": the training loss is high; "both": both;
      "fine": the gap is narrow and the training loss low; "undecided": none of these.

    More rows help ("yes") where by the fitted law ten times as many surely take off 5 % of the loss, and
    hardly ("no") where they surely do not; None means that it cannot be told. A high training loss may also
    mean that the columns do not tell the label: no learner can do better than noise allows. B has no
    interval: folds that have the classes in equal shares say nothing of how much it varies.
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

    @property
    def says(self) -> str:
        """The verdict in a sentence."""
        if self.rival is not None:
            return f"{self.rival} does better on rows it never saw than this on its own"
        return (
            UNBEATEN_SENTENCE
            if self.unbeaten and self.verdict == "undecided"
            else VERDICT_SENTENCES[self.verdict]
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything for JSON."""
        measures = ("train", "validation", "gap", "baseline", "asymptote", "tenfold")
        found = {name: getattr(self, name) for name in measures}
        return {
            "verdict": self.verdict,
            "says": self.says,
            **{name: None if each is None else each.to_dict() for name, each in found.items()},
            "rows": self.rows,
            "rows_help": self.rows_help,
            "rival": self.rival,
            "unbeaten": self.unbeaten,
            "advice": list(self.advice),
        }

    def __str__(self) -> str:
        lines = [f"{self.verdict}: {self.says}"]
        lines.append(f"  training loss             {format_interval(self.train)}")
        lines.append(f"  validation loss           {format_interval(self.validation)}")
        lines.append(f"  gap between them          {format_interval(self.gap)}")
        lines.append(f"  loss of guessing          {format_interval(self.baseline)}")
        return "\n".join([*lines, *(f"- {each}" for each in self.advice)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        losses = {
            "training loss": self.train,
            "validation loss": self.validation,
            "gap between them": self.gap,
            "loss of guessing": self.baseline,
        }
        rows = [
            ["", f"after {self.rows:,} rows"],
            *([name, format_interval(each)] for name, each in losses.items()),
        ]
        advice = "".join(map(html_paragraph, self.advice))
        return f"<div>{html_table(f'{self.verdict}: {self.says}', rows)}{advice}</div>"


@dataclass(frozen=True, eq=False)
class FinalLosses:
    """A learner's losses at the largest size, fold by fold, and those of guessing and of its rivals."""

    train: Floats
    validation: Floats
    baseline: Floats
    rivals: Mapping[str, Floats]


def diagnose(losses: FinalLosses, law: PowerLaw | str, rows: int, corrected: FoldCorrection) -> Diagnosis:
    """Return what the losses say, by the rules of `Diagnosis`."""
    with np.errstate(invalid="ignore"):
        gap = losses.validation - losses.train
        is_wide = _is_significantly_positive(gap - WIDE_GAP * losses.baseline, corrected)
        is_high = _is_significantly_positive(losses.train - HIGH_TRAINING_LOSS * losses.baseline, corrected)
    rival = _find_rival(losses, corrected)
    unbeaten = bool(is_high) and _is_unbeaten(losses, corrected)
    verdict = _verdict(is_wide, True if rival else None if unbeaten else is_high)
    tenfold = law.at(10 * rows) if isinstance(law, PowerLaw) else None
    measured = float(losses.validation.mean())
    rows_help = _do_more_rows_help(law, rows, measured)
    return Diagnosis(
        verdict,
        train=corrected.measure("train", losses.train, 0.0),
        validation=corrected.measure("validation", losses.validation, 0.0),
        gap=corrected.measure("gap", gap),
        baseline=Measure("baseline", float(losses.baseline.mean())),
        asymptote=law.a if isinstance(law, PowerLaw) else None,
        tenfold=tenfold,
        rows=rows,
        rows_help=rows_help,
        rival=rival,
        unbeaten=unbeaten,
        advice=(*_advice(verdict, rival, unbeaten), _more_rows_advice(law, rows, rows_help, measured)),
    )


def _is_significantly_positive(values: Floats, corrected: FoldCorrection) -> bool | None:
    """Whether the mean is surely above zero, or surely not; None where its interval holds zero."""
    measure = corrected.measure("side", values)
    return True if measure.low > 0 else False if measure.high < 0 else None


def _find_rival(losses: FinalLosses, corrected: FoldCorrection) -> str | None:
    """Return the best learner whose validation loss is surely below both losses of this one."""
    below = {
        name: float(values.mean())
        for name, values in losses.rivals.items()
        if _is_significantly_positive(losses.train - values, corrected)
        and _is_significantly_positive(losses.validation - values, corrected)
    }
    return min(below, key=lambda name: below[name]) if below else None


def _is_unbeaten(losses: FinalLosses, corrected: FoldCorrection) -> bool:
    """Whether others were tried, and none of them has a validation loss surely below this one's."""
    others = losses.rivals.values()
    return bool(others) and not any(
        _is_significantly_positive(losses.validation - values, corrected) for values in others
    )


def _verdict(is_wide: bool | None, is_high: bool | None) -> str:
    if is_wide or is_high:
        return "both" if is_wide and is_high else "overfitting" if is_wide else "underfitting"
    return "fine" if is_wide is False and is_high is False else "undecided"


def _do_more_rows_help(law: PowerLaw | str, rows: int, measured: float) -> str | None:
    # A loss that is lower already than the law expects with more rows tells nothing of them.
    if isinstance(law, str) or measured <= law.values([10 * rows])[0]:
        return None
    now, later = law.bootstrap_losses([rows, 10 * rows]).T
    tail = (1.0 - law.level) / 2.0
    low, high = np.quantile(1.0 - later / np.where(now > 0, now, 1.0), [tail, 1.0 - tail])
    return "yes" if low > MIN_WORTHWHILE_GAIN else "no" if high < MIN_WORTHWHILE_GAIN else None


def _advice(verdict: str, rival: str | None, unbeaten: bool) -> list[str]:
    found = []
    if unbeaten:
        found.append("Perhaps these columns tell no more of the label: no learner tried does surely better.")
        found.append("Else a richer learner than those, or richer features: products, words, more columns.")
    if verdict in ("overfitting", "both"):
        found.append("Take a simpler learner, fewer features or a stronger prior, or label more rows.")
    if verdict in ("underfitting", "both"):
        better = f"{rival} does better: take it" if rival else "Take a richer learner"
        found.append(f"{better}, or give richer features: products, words, more columns.")
        if rival is None:
            found.append("Or these columns do not tell the label: then no learner gets far.")
    return found


def _more_rows_advice(law: PowerLaw | str, rows: int, rows_help: str | None, measured: float) -> str:
    if isinstance(law, str):
        return f"What more rows would bring cannot be told: {law}."
    later = law.at(10 * rows)
    if measured <= later.value:
        return (
            f"What more rows would bring cannot be told: by the law {format_count(10 * rows)} have a loss of "
            f"{format_interval(later)}, and {format_count(rows)} had {format_float(measured)} already."
        )
    words = {"yes": "More rows help", "no": "More rows hardly help", None: "More rows may help or not"}
    return f"{words[rows_help]}: {format_count(10 * rows)} would have a loss of {format_interval(later)}."
