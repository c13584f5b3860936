"""Records of how weights were fitted: settings of a regression, and certificates of learners."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from weigh.priors.equivalents import Equivalents
from weigh.priors.penalty import Penalty
from weigh.result import Facts, Result, Section, Table
from weigh.text import format_float, format_quantity


@dataclass(frozen=True)
class Fit(Facts):
    """The settings and results of a regression fit, saved with the model.

    loss: "squared", "absolute" or "log".
    prior: the prior as text.
    l1, l2: the penalties of a weight, None if they differ between features.
    n, rows: total weight and number of the rows.
    sigma: the standard deviation of the noise; with absolute loss, its mean absolute value.
    sigma_by, scale_by: the origin of `sigma` and of the prior's scale: "given", "estimated" or "evidence".
    spread: the standard deviation of the targets.
    evidence: the log marginal likelihood.
    method: "exact" or "online".
    classes: the number of classes.
    scale: the scale of the prior if the marginal likelihood chose it.
    units: l1 and l2 per standard deviation of a feature.
    scaling: the rule by which numbers were standardised during learning: "unit" (all of them), "auto" (unless
        their values are 0 and 1) or "kind" (as the kinds of the columns say); None if none were.
    is_centred: whether the prior has mean zero.
    lost: the total loss of the rows.
    strengths: the precisions of the prior of an additive model, by what they smooth.
    """

    loss: str
    prior: str
    l1: float | None
    l2: float | None
    n: float
    rows: int
    bias: bool = True
    sigma: float | None = None
    sigma_by: str = ""
    scale_by: str = "given"
    spread: float = 1.0
    r2: float | None = None
    evidence: float | None = None
    method: str = "exact"
    classes: int = 2
    scale: float | None = None
    units: tuple[float, float] | None = None
    is_centred: bool = True
    lost: float | None = None
    scaling: str | None = None
    strengths: dict[str, float] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values; scaling and strengths are among them only if there are any."""
        optional = ("scaling", "strengths")
        return {name: value for name, value in super().to_dict().items() if name not in optional or value}

    @property
    def task(self) -> str:
        """The type of regression, which other packages' names of the penalty depend on."""
        return "logistic" if self.loss == "log" else "linear"

    def equivalents(self) -> Equivalents | None:
        """Return the penalty in other packages' parameters; None if there is no single l1 and l2.

        If numbers were standardised, the others need standardised numbers too.
        """
        l1, l2 = (self.l1, self.l2) if self.units is None else self.units
        if l1 is None or l2 is None or self.loss == "absolute" or not (l1 or l2):
            return None
        if self.classes > 2:  # most other packages fit one-vs-rest
            return None
        equivalents = Penalty(l1=l1, l2=l2).equivalents(self.task, self.n, 1.0, self.spread)
        is_standardised = self.scaling is not None
        return replace(equivalents, is_centred=self.is_centred, is_standardised=is_standardised)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Fit:
        """Read the fields from a model file; raise ValueError or TypeError if it is invalid."""
        units = data.get("units")
        fit = cls(**{**data, "units": None if units is None else tuple(units)})
        optional = (fit.l1, fit.l2, fit.sigma, fit.r2, fit.evidence, fit.scale, fit.lost, *(fit.units or ()))
        strengths = (fit.strengths or {}).values()
        numbers = (
            fit.n,
            fit.rows,
            fit.spread,
            fit.classes,
            *(x for x in optional if x is not None),
            *strengths,
        )
        if not all(isinstance(x, int | float) and math.isfinite(x) for x in numbers):
            raise ValueError("a field of the fit is not a finite number")
        texts = (fit.loss, fit.prior, fit.sigma_by, fit.scale_by, fit.method)
        are_flags = isinstance(fit.bias, bool) and isinstance(fit.is_centred, bool)
        are_texts = all(isinstance(x, str) for x in texts) and isinstance(fit.scaling, str | None)
        if not are_texts or not are_flags or len(fit.units or (0, 0)) != 2:
            raise ValueError("a field of the fit has the wrong type")
        return fit


@dataclass(frozen=True, repr=False)
class Certificate(Result):
    """The statistics of a perceptron's training.

    `mistakes` counts wrong predictions during training; `updates` also counts correct ones within the
    margin. `radius` is the largest norm of a row, including the constant 1 of the bias if there is a `bias`.
    `converged` means that the last pass made no update, so the last hyperplane separates the rows; it is
    never true for several batches, because their last pass has not seen all rows.

    For two classes, `margin` is the distance of the nearest row to the last hyperplane, and
    `augmented_margin` the same with the bias as part of the weight vector; the mistake bound is
    (radius / augmented_margin)². Both are 0 if a row lies on the hyperplane, and None without convergence.
    For several classes they are the smallest score difference divided by the norm of all weights.
    The bound does not apply to `weighted` rows, which take steps of different sizes. Radius and margins refer
    to the coordinates of the training, in which numbers may be `standardised`.

    With several `partitions`, whose weights were mixed after every pass, the bound applies to mistakes /
    partitions.

    `added_passes` are further passes with the last hyperplane that the average and the votes contain. They
    change nothing, so they were not made, and `passes` and `examples` do not count them.
    """

    mistakes: int
    updates: int
    examples: int
    passes: int
    converged: bool
    radius: float
    margin: float | None = None
    augmented_margin: float | None = None
    bias: bool = True
    weighted: bool = False
    batches: int = 1
    standardised: bool = False
    added_passes: int = 0
    partitions: int = 1

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Certificate:
        """Read the fields from a model file; raise ValueError or TypeError if it is invalid."""
        run = cls(**data)
        counts = (
            run.mistakes,
            run.updates,
            run.examples,
            run.passes,
            run.batches,
            run.added_passes,
            run.partitions,
        )
        margins = [x for x in (run.margin, run.augmented_margin) if x is not None]
        are_counts = all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in counts)
        are_finite = all(isinstance(x, int | float) and math.isfinite(x) for x in (run.radius, *margins))
        flags = (run.converged, run.bias, run.weighted, run.standardised)
        are_flags = all(isinstance(flag, bool) for flag in flags)
        if not (are_counts and are_finite and are_flags):
            raise ValueError("a field of the certificate has the wrong type")
        return run

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values; the last three only if they are not the usual ones."""
        usual = {"standardised": False, "added_passes": 0, "partitions": 1}
        return {name: value for name, value in super().to_dict().items() if value != usual.get(name, ...)}

    @property
    def headline(self) -> str:
        """The number of passes and whether the last one changed nothing."""
        outcome = "converged: the last pass changed nothing" if self.converged else "did not converge"
        return f"{format_quantity(self.passes, 'pass', 'passes')}, {outcome}"

    def sections(self) -> list[Section]:
        """Return the counts, the radius and the margins."""
        rows = [
            ["mistakes", f"{self.mistakes:,}"],
            ["updates", f"{self.updates:,}"],
            ["examples seen", f"{self.examples:,}"],
            ["radius R", format_float(self.radius)],
        ]
        if self.margin is not None and self.augmented_margin is not None:
            rows += [
                ["margin of the last plane", format_float(self.margin)],
                ["the same, bias included", format_float(self.augmented_margin)],
            ]
        if self.partitions > 1:
            rows.append(["mixed partitions", f"{self.partitions:,}"])
        if self.added_passes:
            rows.append(["passes added to the average", f"{self.added_passes:,}"])
        note = ["  Numbers were standardised during learning."] if self.standardised else []
        return [Section("training", [Table(rows, indent="  ", has_header=False), *note])]


@dataclass(frozen=True)
class OnlineSettings(Facts):
    """What is needed, beside the rows in their order, to make the passes of an online learner again.

    passes: the number of passes; `is_limited` means that a limit ended them, or the averaging after them.
    seed: the seed of the shuffling, None without.
    class_weight: the weights of the model's classes, "balanced" or None.
    ignored_classes: classes of weight zero, whose rows were left out.
    margin, is_relative, separate: the margin of a perceptron, and whether classes were trained separately.
    rate, tol: the step size of gradient descent, None if it is automatic, and the decrease that ends it.
    """

    passes: int
    is_limited: bool
    seed: int | None
    class_weight: str | tuple[float, ...] | None = None
    ignored_classes: tuple[Any, ...] = ()
    margin: float = 0.0
    is_relative: bool = False
    separate: bool = False
    rate: float | None = None
    tol: float | None = None

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> OnlineSettings:
        """Read the fields from a model file; raise ValueError or TypeError if it is invalid."""
        weights, ignored = data["class_weight"], tuple(data["ignored_classes"])
        weights = tuple(weights) if isinstance(weights, list) else weights
        settings = cls(**{**data, "class_weight": weights, "ignored_classes": ignored})
        numbers = (
            settings.margin,
            settings.rate,
            settings.tol,
            *(weights if isinstance(weights, tuple) else ()),
        )
        are_numbers = all(_is_number(x) and x >= 0 for x in numbers if x is not None)
        counts = [settings.passes, *([] if settings.seed is None else [settings.seed])]
        are_counts = all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in counts)
        flags = (settings.is_limited, settings.is_relative, settings.separate)
        is_weighting = weights is None or weights == "balanced" or isinstance(weights, tuple)
        are_labels = all(isinstance(label, str | int | float) for label in ignored)
        are_flags = all(isinstance(flag, bool) for flag in flags)
        if not (are_numbers and are_counts and are_flags and is_weighting and are_labels):
            raise ValueError("a setting of the training has the wrong type")
        return settings


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


@dataclass(frozen=True, repr=False)
class Optimality(Result):
    """The certificate of optimality of a regression fit.

    `objective` is the total loss plus the penalty; its minimum is lower by at most `gap`. `null` is the
    objective of the null model (without features). The fit is `converged` if gap ≤ tol · null.
    """

    objective: float
    gap: float
    null: float
    tol: float
    iterations: int
    method: str

    @property
    def relative_gap(self) -> float:
        """The gap divided by the objective of the null model."""
        return self.gap / self.null if self.null > 0 else self.gap

    @property
    def converged(self) -> bool:
        """Whether the gap is within the tolerance."""
        return self.relative_gap <= self.tol

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Optimality:
        """Read the fields from a model file; raise ValueError or TypeError if it is invalid."""
        certificate = cls(**data)
        numbers = (certificate.objective, certificate.gap, certificate.null, certificate.tol)
        are_numbers = all(isinstance(x, int | float) and not isinstance(x, bool) for x in numbers)
        if not are_numbers or any(map(math.isnan, numbers)) or not isinstance(certificate.iterations, int):
            raise ValueError("a field of the certificate is not a number")
        if certificate.gap < 0 or certificate.tol < 0:
            raise ValueError("the certificate has a negative gap or tolerance")
        if not isinstance(certificate.method, str):
            raise ValueError("the certificate has no method")
        return certificate

    @property
    def headline(self) -> str:
        """Whether the fit is optimal, and how it was found."""
        status = "optimal" if self.converged else "NOT optimal"
        return (
            f"{status} within the tolerance: {self.method}, {format_quantity(self.iterations, 'iteration')}"
        )

    def sections(self) -> list[Section]:
        """Return the objective and its distance from the minimum."""
        rows = [
            ["objective", f"{self.objective:.10g}"],
            ["above its minimum by at most", format_float(self.gap)],
            ["relative to the null model", format_float(self.relative_gap)],
            ["tolerance", format_float(self.tol)],
        ]
        return [Section("optimality", [Table(rows, indent="  ", has_header=False)])]
