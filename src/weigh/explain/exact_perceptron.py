"""The perceptron in exact rational arithmetic, directly from its definition.

Two classes share one plane with score w·x + b; a score ≥ 0 predicts the second class. An error, the true
code (0 or 1) minus the predicted one, adds rate · error · x to w and rate · error to b. With more classes
there is one plane per class, and the highest score predicts, the first among ties. In joint training, a
mistake adds rate · x to the plane of the true class and subtracts it from that of the predicted one. In
one-vs-rest training every plane has its own sign and error, and a row is correct if all signs are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cached_property
from itertools import groupby
from typing import Any, NamedTuple, TypeVar

from weigh import errors
from weigh.learn.class_weights import check_class_weight_labels
from weigh.learn.online_training import pass_order
from weigh.model.evidence.exact_products import to_fraction
from weigh.parameters.learners import MAX_PASSES, PERCEPTRON

REQUIRED_PARAMETERS = {"keep", "margin", "rate", "max_iter"}


@dataclass(frozen=True)
class PerceptronParameters:
    """The parameters of `weigh.Perceptron` as they were given; 0.1 is exactly one tenth."""

    keep: str
    margin: Any
    relative: bool
    rate: Any
    max_iter: int | None
    shuffle: bool
    random_state: Any
    multiclass: str
    bias: bool
    scale: Any
    class_weight: Any
    columns: Any
    missing: Any

    @classmethod
    def from_learner(cls, learner: Any) -> PerceptronParameters:
        """Read and check the parameters of a learner."""
        if isinstance(learner, cls):
            return learner
        get_params = getattr(learner, "get_params", None)
        params: Mapping[str, Any] = (
            get_params() if callable(get_params) and not isinstance(learner, type) else {}
        )
        if not params.keys() >= REQUIRED_PARAMETERS:
            name = learner.__name__ if isinstance(learner, type) else type(learner).__name__
            raise errors.Unsupported(
                f"trace follows the updates of a perceptron, got {name}. Give one such as weigh.Perceptron()."
            )
        return cls.from_values(params)

    @classmethod
    def from_values(cls, given: Mapping[str, Any]) -> PerceptronParameters:
        """Return the given parameters and the defaults of the others; raise an error for an invalid one."""
        names = [field.name for field in fields(cls)]
        values = {name: given.get(name, PERCEPTRON.defaults[name]) for name in names}
        seed = values["random_state"] if values["shuffle"] else 0
        PERCEPTRON.check({**values, "random_state": seed})
        return cls(**values)

    @property
    def max_passes(self) -> int:
        """The largest number of passes."""
        return MAX_PASSES if self.max_iter is None else self.max_iter

    @cached_property
    def exact_rate(self) -> Fraction:
        """The learning rate as a fraction; 0.1 means one tenth."""
        return exact_fraction(self.rate)

    @cached_property
    def exact_margin(self) -> Fraction:
        """The margin as a fraction."""
        return exact_fraction(self.margin)

    def step_sizes(
        self, codes: Sequence[int], classes: Sequence[Any], weights: Sequence[float] | None
    ) -> list[Fraction]:
        """Return the step size of each row: the rate times its sample weight and class weight."""
        sample_weights = (
            [Fraction(1)] * len(codes) if weights is None else [exact_fraction(weight) for weight in weights]
        )
        return [
            self.exact_rate * w * c
            for w, c in zip(sample_weights, self._class_weights(codes, classes, sample_weights), strict=True)
        ]

    def _class_weights(
        self, codes: Sequence[int], classes: Sequence[Any], sample_weights: Sequence[Fraction]
    ) -> list[Fraction]:
        if self.class_weight is None:
            return [Fraction(1)] * len(codes)
        if isinstance(self.class_weight, Mapping):
            check_class_weight_labels("Perceptron", self.class_weight, classes)
            return [exact_fraction(self.class_weight.get(classes[code], 1)) for code in codes]
        totals = [Fraction(0)] * len(classes)
        for code, weight in zip(codes, sample_weights, strict=True):
            totals[code] += weight
        return [
            sum(totals) / (len(classes) * totals[code]) if totals[code] else Fraction(0) for code in codes
        ]


def exact_fraction(number: Any) -> Fraction:
    """Convert a number to a fraction; a float stands for its shortest decimal."""
    if isinstance(number, Fraction | int):
        return Fraction(number)
    try:
        return to_fraction(float(number))
    except (TypeError, ValueError, OverflowError):
        raise errors.DataError(
            f"A trace calculates with finite numbers, got {number!r}. Give numbers, or columns of the rows."
        ) from None


ExactVector = dict[str, Fraction]
Entry = TypeVar("Entry")
MAX_TRACE_STEPS = 50_000
MAX_STORED_NUMBERS = 2_000_000  # limits the memory of a trace


class PerceptronPlane(NamedTuple):
    """A separating plane: its weights by feature, and its bias."""

    weights: ExactVector
    bias: Fraction

    def score(self, x: ExactVector) -> Fraction:
        """Return w·x + b."""
        return sum((self.weights.get(name, 0) * value for name, value in x.items()), start=self.bias)

    def add_multiple(self, size: Fraction, x: ExactVector, bias: bool) -> PerceptronPlane:
        """Return the plane with `size` · x added to w and, if it has a bias, `size` added to b."""
        weights = dict(self.weights)
        for name, value in x.items():
            weights[name] = weights.get(name, Fraction(0)) + size * value
        return PerceptronPlane(
            {name: weight for name, weight in weights.items() if weight}, self.bias + size * bias
        )


@dataclass(frozen=True)
class PerceptronStep:
    """One step: the scores before it, the prediction, and the planes after it.

    `scores`, `signs` (1 for a score ≥ 0, else 0), `errors`, `updates` and `planes` have one entry for two
    classes, else one per class. Zero weights are omitted.
    """

    iteration: int
    row: int
    label: Any
    scores: tuple[Fraction, ...]
    signs: tuple[int, ...]
    prediction: Any
    correct: bool
    errors: tuple[int, ...]
    updates: tuple[ExactVector, ...]
    planes: tuple[PerceptronPlane, ...]

    @property
    def is_update(self) -> bool:
        """Whether the weights changed, because of a mistake or within the margin."""
        return any(self.errors)

    @property
    def score(self) -> Fraction:
        """The score, for two classes."""
        return self._single_plane_entry(self.scores)

    @property
    def sign(self) -> int:
        """The sign, 0 or 1, for two classes."""
        return self._single_plane_entry(self.signs)

    @property
    def error(self) -> int:
        """The error, −1, 0 or 1, for two classes."""
        return self._single_plane_entry(self.errors)

    @property
    def update(self) -> ExactVector:
        """The vector added to the weights, for two classes."""
        return self._single_plane_entry(self.updates)

    @property
    def weights(self) -> ExactVector:
        """The weights after the step, for two classes."""
        return self._single_plane_entry(self.planes).weights

    @property
    def bias(self) -> Fraction:
        """The bias after the step, for two classes."""
        return self._single_plane_entry(self.planes).bias

    def _single_plane_entry(self, entries: Sequence[Entry]) -> Entry:
        if len(entries) > 1:
            raise errors.Unsupported(
                f"The step has {len(entries)} planes, one per class. Use its `planes`, `scores`, "
                f"`errors` and `updates`."
            )
        return entries[0]


@dataclass(frozen=True)
class PerceptronHistory:
    """All steps of a training run.

    After a pass without an update the last planes survive `added_passes` further ones, which are not made,
    until their average classifies all rows correctly.
    """

    steps: tuple[PerceptronStep, ...]
    converged: bool
    is_one_vs_rest: bool
    added_passes: int = 0

    @cached_property
    def hypotheses(self) -> list[tuple[int, tuple[PerceptronPlane, ...]]]:
        """The successive planes, each with the number of steps it survived."""
        # Unchanged planes are the same object; equal planes that recur later are different hypotheses.
        grouped = groupby(self.steps, key=lambda step: id(step.planes))
        groups = [list(steps) for _, steps in grouped]
        counts = [len(steps) for steps in groups]
        last_pass = sum(step.iteration == self.steps[-1].iteration for step in self.steps)
        counts[-1] += self.added_passes * last_pass
        return [(count, steps[0].planes) for count, steps in zip(counts, groups, strict=True)]

    def planes(self, keep: str) -> tuple[PerceptronPlane, ...]:
        """Return the final planes: the last ones, or an average over steps or updates."""
        last = self.steps[-1].planes
        if keep == "last":
            return last
        if keep == "averaged":
            return tuple(
                mean_plane([(n, planes[c]) for n, planes in self.hypotheses]) for c in range(len(last))
            )
        return tuple(self._mean_of_updates(c) for c in range(len(last)))

    def _mean_of_updates(self, c: int) -> PerceptronPlane:
        """Return the mean of plane c over updates; in one-vs-rest training, over its own updates."""
        updated = [step for step in self.steps if (step.errors[c] if self.is_one_vs_rest else step.is_update)]
        return mean_plane([(1, step.planes[c]) for step in updated]) if updated else self.steps[-1].planes[c]


def mean_plane(counted: Sequence[tuple[int, PerceptronPlane]]) -> PerceptronPlane:
    """Return the weighted mean of (count, plane) pairs."""
    total = sum(count for count, _ in counted)
    weights: ExactVector = {}
    for count, plane in counted:
        for name, weight in plane.weights.items():
            weights[name] = weights.get(name, Fraction(0)) + count * weight
    bias = sum((count * plane.bias for count, plane in counted), start=Fraction(0))
    return PerceptronPlane({name: weight / total for name, weight in weights.items() if weight}, bias / total)


PlaneErrors = tuple[int, ...]
UpdateRule = Callable[
    [tuple[PerceptronPlane, ...], Sequence[Fraction], int, PerceptronParameters], tuple[bool, PlaneErrors]
]


def run_perceptron(
    rows: Sequence[ExactVector],
    codes: Sequence[int],
    sizes: Sequence[Fraction],
    classes: Sequence[Any],
    parameters: PerceptronParameters,
    most: int | None = None,
) -> PerceptronHistory:
    """Train a perceptron until a pass has no update, or for `max_iter` passes or `most` steps.

    `sizes` are the step sizes of the rows: the rate times the weight of the row.
    """
    is_one_vs_rest = len(classes) > 2 and parameters.multiclass == "one-vs-rest"
    plane_errors: UpdateRule = (
        _two_class_errors if len(classes) == 2 else _one_vs_rest_errors if is_one_vs_rest else _joint_errors
    )
    planes = (PerceptronPlane({}, Fraction(0)),) * (1 if len(classes) == 2 else len(classes))
    steps: list[PerceptronStep] = []
    n_stored = 0
    for number in range(parameters.max_passes):
        is_clean = True
        for row in _row_order(len(rows), parameters, number):
            if len(steps) == most:
                return PerceptronHistory(tuple(steps), False, is_one_vs_rest)
            scores = tuple(plane.score(rows[row]) for plane in planes)
            correct, row_errors = plane_errors(planes, scores, codes[row], parameters)
            if any(row_errors):
                is_clean = False
                updates = [
                    (plane, error * sizes[row]) for plane, error in zip(planes, row_errors, strict=True)
                ]
                planes = tuple(
                    p.add_multiple(size, rows[row], parameters.bias) if size else p for p, size in updates
                )
                n_stored += sum(len(plane.weights) for plane in planes)
            step = PerceptronStep(
                number + 1,
                row,
                label=classes[codes[row]],
                scores=scores,
                signs=tuple(int(score >= 0) for score in scores),
                prediction=classes[predict_code(scores)],
                correct=correct,
                errors=row_errors,
                updates=tuple(_scale_vector(rows[row], error * sizes[row]) for error in row_errors),
                planes=planes,
            )
            steps.append(step)
            n_stored += len(planes)
            if n_stored > MAX_STORED_NUMBERS or len(steps) > MAX_TRACE_STEPS:
                raise _size_error(len(steps), number + 1)
        if is_clean:
            break
    history = PerceptronHistory(tuple(steps), is_clean, is_one_vs_rest)
    max_added = parameters.max_passes - number - 1
    return _continue_averaging(history, rows, codes, max_added) if is_clean else history


def _continue_averaging(
    history: PerceptronHistory, rows: Sequence[ExactVector], codes: Sequence[int], most: int
) -> PerceptronHistory:
    """Return the history with the passes that the average needs to classify all rows correctly."""
    averages, last = history.planes("averaged"), history.planes("last")
    passes_of_average, needed = Fraction(len(history.steps), len(rows)), 0
    for row, code in zip(rows, codes, strict=True):
        leads = [_leads([plane.score(row) for plane in planes], code) for planes in (averages, last)]
        for (lead, wins_tie), (gain, _) in zip(*leads, strict=True):
            if lead < 0 or (lead == 0 and not wins_tie):
                total = passes_of_average * lead
                k = math.ceil(-total / gain) if gain > 0 else most
                needed = max(needed, k + (total + k * gain == 0 and not wins_tie))
    return replace(history, added_passes=min(needed, most))


def _leads(scores: Sequence[Fraction], code: int) -> list[tuple[Fraction, bool]]:
    """Return the lead of a class over each other one, and whether it wins a tie with it."""
    if len(scores) == 1:
        return [(scores[0] if code else -scores[0], code == 1)]
    return [(scores[code] - score, code < c) for c, score in enumerate(scores) if c != code]


def _scale_vector(x: ExactVector, size: Fraction) -> ExactVector:
    return {name: size * value for name, value in x.items()} if size else {}


def _row_order(n: int, parameters: PerceptronParameters, number: int) -> Iterator[int]:
    return iter(
        pass_order(n, int(parameters.random_state), number).tolist() if parameters.shuffle else range(n)
    )


def _two_class_errors(
    planes: tuple[PerceptronPlane, ...],
    scores: Sequence[Fraction],
    code: int,
    parameters: PerceptronParameters,
) -> tuple[bool, PlaneErrors]:
    error = _plane_error(scores[0], code, planes[0], parameters)
    return (scores[0] >= 0) == bool(code), (error,)


def _one_vs_rest_errors(
    planes: tuple[PerceptronPlane, ...],
    scores: Sequence[Fraction],
    code: int,
    parameters: PerceptronParameters,
) -> tuple[bool, PlaneErrors]:
    targets = [int(c == code) for c in range(len(planes))]
    row_errors = tuple(
        _plane_error(score, target, plane, parameters)
        for score, target, plane in zip(scores, targets, planes, strict=True)
    )
    correct = all((score >= 0) == bool(target) for score, target in zip(scores, targets, strict=True))
    return correct, row_errors


def _plane_error(score: Fraction, code: int, plane: PerceptronPlane, parameters: PerceptronParameters) -> int:
    """Return the true minus the predicted code; a row within the margin counts as an error."""
    sign = int(score >= 0)
    if sign == code and _is_within_margin(abs(score), [plane], parameters):
        return 2 * code - 1
    return code - sign


def _joint_errors(
    planes: tuple[PerceptronPlane, ...],
    scores: Sequence[Fraction],
    code: int,
    parameters: PerceptronParameters,
) -> tuple[bool, PlaneErrors]:
    others = [c for c in range(len(planes)) if c != code]
    rival = max(others, key=lambda c: (scores[c], -c))
    correct = best_class(scores) == code
    row_errors = [0] * len(planes)
    if not correct or _is_within_margin(scores[code] - scores[rival], planes, parameters):
        row_errors[code], row_errors[rival] = 1, -1
    return correct, tuple(row_errors)


def best_class(scores: Sequence[Fraction]) -> int:
    """Return the code of the highest score, the first among ties."""
    return max(range(len(scores)), key=lambda c: (scores[c], -c))


def predict_code(scores: Sequence[Fraction]) -> int:
    """Return the code of the predicted class: for two classes by the sign, else by the highest score."""
    return int(scores[0] >= 0) if len(scores) == 1 else best_class(scores)


def _is_within_margin(
    lead: Fraction, planes: Sequence[PerceptronPlane], parameters: PerceptronParameters
) -> bool:
    """Whether a correct row leads by less than the margin (with `relative`, times the norm of w)."""
    margin = parameters.exact_margin
    if parameters.relative:
        # Comparing squares avoids the irrational norm.
        return lead**2 < margin**2 * sum(w**2 for plane in planes for w in plane.weights.values())
    return lead < margin


def _size_error(steps: int, iteration: int) -> errors.Unsupported:
    is_long = steps > MAX_TRACE_STEPS
    what = f"{MAX_TRACE_STEPS:,} steps" if is_long else f"{MAX_STORED_NUMBERS:,} exact numbers"
    return errors.Unsupported(
        f"The trace holds more than {what} after {steps:,} steps, in pass {iteration:,}. Trace fewer rows, "
        f"features or classes, or set max_iter lower."
    )
