"""The perceptron in exact fractions, step by step, straight from its definition.

Two classes have one plane. Its score w·x + b speaks for the second class from 0 on; an error, the
true class (0 or 1) minus the predicted one, adds rate · error · x to w and rate · error to b. More
classes have one plane each: the highest score predicts, the first of equals. Joint, a mistake adds
rate · x to the true class's plane and takes it from the predicted one's; one against the rest, every
plane has its own sign and its own error, and a row is right if all signs are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from itertools import groupby
from typing import Any, NamedTuple, TypeVar

from weigh import errors
from weigh.features import Number, Schema
from weigh.features.validation import check_integer
from weigh.learn.online_training import pass_order
from weigh.learn.perceptron import check_parameters
from weigh.model.evidence.exact_products import to_fraction

REQUIRED_PARAMETERS = {"keep", "margin", "rate", "max_iter"}


@dataclass(frozen=True)
class PerceptronParameters:
    """How a perceptron moves: the parameters of `weigh.Perceptron`, with its defaults."""

    keep: str = "averaged"
    margin: Any = 0.0
    relative: bool = False
    rate: Any = 1.0
    max_iter: int = 20
    shuffle: bool = True
    random_state: Any = 0
    multiclass: str = "joint"
    bias: bool = True
    scale: Any = None
    class_weight: Any = None
    columns: Any = "auto"
    missing: Any = ()

    @classmethod
    def from_learner(cls, learner: Any) -> PerceptronParameters:
        """Read and check the parameters of a learner."""
        if isinstance(learner, cls):
            return learner.check()
        ask = getattr(learner, "get_params", None)
        given: Mapping[str, Any] = ask() if callable(ask) and not isinstance(learner, type) else {}
        if not given.keys() >= REQUIRED_PARAMETERS:
            name = learner.__name__ if isinstance(learner, type) else type(learner).__name__
            raise errors.Unsupported(
                f"trace follows the updates of a perceptron, got {name}. Give one such as weigh.Perceptron()."
            )
        known = {field.name for field in fields(cls)}
        return cls(**{name: given[name] for name in known & given.keys()}).check()

    def check(self) -> PerceptronParameters:
        """Return the rules, or refuse the first one that cannot be followed."""
        check_parameters(
            keep=self.keep,
            margin=self.margin,
            rate=self.rate,
            max_iter=self.max_iter,
            multiclass=self.multiclass,
            class_weight=self.class_weight,
            flags={"relative": self.relative, "shuffle": self.shuffle, "bias": self.bias},
        )
        if self.shuffle:
            check_integer("Perceptron", "random_state", self.random_state, 0)
        if self.scale is not None:
            raise _rescaling_error(f"Perceptron(scale={self.scale!r})")
        return self

    def check_kinds(self, schema: Schema | None) -> None:
        """Refuse columns that are rescaled by their kind."""
        for kind in () if schema is None else schema.kinds:
            if isinstance(kind, Number) and kind.scale is not None:
                raise _rescaling_error(repr(kind))

    @cached_property
    def exact_rate(self) -> Fraction:
        """The learning rate as a fraction: 0.1 means one tenth."""
        return exact_fraction(self.rate)

    @cached_property
    def exact_margin(self) -> Fraction:
        """The margin as a fraction."""
        return exact_fraction(self.margin)

    def step_sizes(
        self, codes: Sequence[int], classes: Sequence[Any], weights: Sequence[float] | None
    ) -> list[Fraction]:
        """Return how far an error at each row moves the weights: the rate times the row's weights."""
        own = (
            [Fraction(1)] * len(codes) if weights is None else [exact_fraction(weight) for weight in weights]
        )
        return [
            self.exact_rate * w * c
            for w, c in zip(own, self._class_weights(codes, classes, own), strict=True)
        ]

    def _class_weights(
        self, codes: Sequence[int], classes: Sequence[Any], own: Sequence[Fraction]
    ) -> list[Fraction]:
        if self.class_weight is None:
            return [Fraction(1)] * len(codes)
        if isinstance(self.class_weight, Mapping):
            beyond = [label for label in self.class_weight if label not in classes]
            if beyond:
                raise errors.ParameterError(
                    f"Perceptron: class_weight names the class {errors.quote_names(beyond)}; the rows have "
                    f"{errors.quote_names(classes)}."
                )
            return [exact_fraction(self.class_weight.get(classes[code], 1)) for code in codes]
        totals = [Fraction(0)] * len(classes)
        for code, weight in zip(codes, own, strict=True):
            totals[code] += weight
        return [
            sum(totals) / (len(classes) * totals[code]) if totals[code] else Fraction(0) for code in codes
        ]


def _rescaling_error(who: str) -> errors.Unsupported:
    return errors.Unsupported(
        f"{who} learns from rescaled rows, and a trace shows the arithmetic of the values as they are. Take "
        f"scale=None, or rescale the rows first."
    )


def exact_fraction(number: Any) -> Fraction:
    """A number as a fraction; a float means its shortest decimal."""
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
MAX_STORED_NUMBERS = 2_000_000  # weights that are held; more would fill the memory, and no one reads them


class PerceptronPlane(NamedTuple):
    """A separating plane: its weights by feature, and its bias."""

    weights: ExactVector
    bias: Fraction

    def score(self, x: ExactVector) -> Fraction:
        """Return w·x + b."""
        return sum((self.weights.get(name, 0) * value for name, value in x.items()), start=self.bias)

    def add_multiple(self, size: Fraction, x: ExactVector, bias: bool) -> PerceptronPlane:
        """Return the plane after `size` times x was added, and `size` to the bias if it has one."""
        weights = dict(self.weights)
        for name, value in x.items():
            weights[name] = weights.get(name, Fraction(0)) + size * value
        return PerceptronPlane(
            {name: weight for name, weight in weights.items() if weight}, self.bias + size * bias
        )


@dataclass(frozen=True)
class PerceptronStep:
    """One row met in one pass: the scores before, the verdict, and the planes after it.

    `scores`, `signs` (1 for a score from 0 on, else 0), `errors`, `updates` and `planes` have one
    entry for two classes, else one per class. Weights that are zero are left out.
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
        """Whether the weights changed, after a mistake or within the margin."""
        return any(self.errors)

    @property
    def score(self) -> Fraction:
        """The score of the one plane that two classes have."""
        return self._single_plane_entry(self.scores)

    @property
    def sign(self) -> int:
        """The sign, 0 or 1, of the one plane that two classes have."""
        return self._single_plane_entry(self.signs)

    @property
    def error(self) -> int:
        """The error, −1, 0 or 1, of the one plane that two classes have."""
        return self._single_plane_entry(self.errors)

    @property
    def update(self) -> ExactVector:
        """What was added to the weights of the one plane that two classes have."""
        return self._single_plane_entry(self.updates)

    @property
    def weights(self) -> ExactVector:
        """The weights after the step of the one plane that two classes have."""
        return self._single_plane_entry(self.planes).weights

    @property
    def bias(self) -> Fraction:
        """The bias after the step of the one plane that two classes have."""
        return self._single_plane_entry(self.planes).bias

    def _single_plane_entry(self, entries: Sequence[Entry]) -> Entry:
        if len(entries) > 1:
            raise errors.Unsupported(
                f"The step moves {len(entries)} planes, one per class. Take its `planes`, `scores`, "
                f"`errors` and `updates`."
            )
        return entries[0]


@dataclass(frozen=True)
class PerceptronHistory:
    """All steps of one perceptron."""

    steps: tuple[PerceptronStep, ...]
    converged: bool
    is_one_vs_rest: bool

    @cached_property
    def hypotheses(self) -> list[tuple[int, tuple[PerceptronPlane, ...]]]:
        """The planes in the order in which they were held, each with the number of steps it lasted."""
        # Planes that were not moved are the same object, so that equal ones found later stay apart.
        grouped = groupby(self.steps, key=lambda step: id(step.planes))
        found = [list(steps) for _, steps in grouped]
        return [(len(steps), steps[0].planes) for steps in found]

    def planes(self, keep: str) -> tuple[PerceptronPlane, ...]:
        """Return the planes that are left at the end: the last, or a mean of all."""
        last = self.steps[-1].planes
        if keep == "last":
            return last
        if keep == "averaged":
            return tuple(
                mean_plane([(n, planes[c]) for n, planes in self.hypotheses]) for c in range(len(last))
            )
        return tuple(self._mean_of_updates(c) for c in range(len(last)))

    def _mean_of_updates(self, c: int) -> PerceptronPlane:
        """Return the mean of the planes that followed an update, of this very plane if each has its own."""
        moved = [step for step in self.steps if (step.errors[c] if self.is_one_vs_rest else step.is_update)]
        return mean_plane([(1, step.planes[c]) for step in moved]) if moved else self.steps[-1].planes[c]


def mean_plane(counted: Sequence[tuple[int, PerceptronPlane]]) -> PerceptronPlane:
    """Return the mean of planes that count several times."""
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
    rules: PerceptronParameters,
) -> PerceptronHistory:
    """Run a perceptron over rows until a pass is clean or the passes are used up.

    `sizes` is what an error of 1 multiplies each row with: the rate, times its weight.
    """
    separate = len(classes) > 2 and rules.multiclass == "one-vs-rest"
    judge: UpdateRule = (
        _two_class_errors if len(classes) == 2 else _one_vs_rest_errors if separate else _joint_errors
    )
    planes = (PerceptronPlane({}, Fraction(0)),) * (1 if len(classes) == 2 else len(classes))
    steps: list[PerceptronStep] = []
    held = 0
    for number in range(rules.max_iter):
        clean = True
        for row in _row_order(len(rows), rules, number):
            scores = tuple(plane.score(rows[row]) for plane in planes)
            correct, wrong = judge(planes, scores, codes[row], rules)
            if any(wrong):
                clean = False
                moves = [(plane, error * sizes[row]) for plane, error in zip(planes, wrong, strict=True)]
                planes = tuple(
                    p.add_multiple(size, rows[row], rules.bias) if size else p for p, size in moves
                )
                held += sum(len(plane.weights) for plane in planes)
            step = PerceptronStep(
                number + 1,
                row,
                label=classes[codes[row]],
                scores=scores,
                signs=tuple(int(score >= 0) for score in scores),
                prediction=classes[predict_code(scores)],
                correct=correct,
                errors=wrong,
                updates=tuple(_scale_vector(rows[row], error * sizes[row]) for error in wrong),
                planes=planes,
            )
            steps.append(step)
            held += len(planes)
            if held > MAX_STORED_NUMBERS:
                raise _size_error(len(steps), number + 1)
        if clean:
            break
    return PerceptronHistory(tuple(steps), clean, separate)


def _scale_vector(x: ExactVector, size: Fraction) -> ExactVector:
    return {name: size * value for name, value in x.items()} if size else {}


def _row_order(n: int, rules: PerceptronParameters, number: int) -> Iterator[int]:
    return iter(pass_order(n, int(rules.random_state), number).tolist() if rules.shuffle else range(n))


def _two_class_errors(
    planes: tuple[PerceptronPlane, ...], scores: Sequence[Fraction], code: int, rules: PerceptronParameters
) -> tuple[bool, PlaneErrors]:
    error = _plane_error(scores[0], code, planes[0], rules)
    return (scores[0] >= 0) == bool(code), (error,)


def _one_vs_rest_errors(
    planes: tuple[PerceptronPlane, ...], scores: Sequence[Fraction], code: int, rules: PerceptronParameters
) -> tuple[bool, PlaneErrors]:
    wanted = [int(c == code) for c in range(len(planes))]
    wrong = tuple(_plane_error(*each, rules) for each in zip(scores, wanted, planes, strict=True))
    return all((score >= 0) == bool(want) for score, want in zip(scores, wanted, strict=True)), wrong


def _plane_error(score: Fraction, code: int, plane: PerceptronPlane, rules: PerceptronParameters) -> int:
    """Return the true class minus the predicted one; within the margin, as if it had been mistaken."""
    sign = int(score >= 0)
    if sign == code and _is_within_margin(abs(score), [plane], rules):
        return 2 * code - 1
    return code - sign


def _joint_errors(
    planes: tuple[PerceptronPlane, ...], scores: Sequence[Fraction], code: int, rules: PerceptronParameters
) -> tuple[bool, PlaneErrors]:
    others = [c for c in range(len(planes)) if c != code]
    rival = max(others, key=lambda c: (scores[c], -c))
    correct = best_class(scores) == code
    wrong = [0] * len(planes)
    if not correct or _is_within_margin(scores[code] - scores[rival], planes, rules):
        wrong[code], wrong[rival] = 1, -1
    return correct, tuple(wrong)


def best_class(scores: Sequence[Fraction]) -> int:
    """Return the place of the highest score, the first of equals."""
    return max(range(len(scores)), key=lambda c: (scores[c], -c))


def predict_code(scores: Sequence[Fraction]) -> int:
    """Return the place of the predicted class: the second of two from 0 on, else the best of many."""
    return int(scores[0] >= 0) if len(scores) == 1 else best_class(scores)


def _is_within_margin(lead: Fraction, planes: Sequence[PerceptronPlane], rules: PerceptronParameters) -> bool:
    """Whether a right verdict leads by less than the margin; with `relative`, times the norm of w."""
    margin = rules.exact_margin
    if rules.relative:
        # The norm is a root, its square is rational: all stays exact.
        return lead**2 < margin**2 * sum(w**2 for plane in planes for w in plane.weights.values())
    return lead < margin


def _size_error(steps: int, iteration: int) -> errors.Unsupported:
    return errors.Unsupported(
        f"The trace holds more than {MAX_STORED_NUMBERS:,} exact numbers after {steps:,} steps, in pass "
        f"{iteration:,}. Trace fewer rows, features or classes, or set max_iter lower."
    )
