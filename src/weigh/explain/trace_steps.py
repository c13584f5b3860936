"""The perceptron in exact fractions, step by step, straight from its definition.

Two classes have one plane. Its score w·x + b speaks for the second class from 0 on; an error, the
true class (0 or 1) minus the predicted one, adds rate · error · x to w and rate · error to b. More
classes have one plane each: the highest score predicts, the first of equals. Joint, a mistake adds
rate · x to the true class's plane and takes it from the predicted one's; one against the rest, every
plane has its own sign and its own error, and a row is right if all signs are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import groupby
from typing import Any, NamedTuple, TypeVar

from weigh import errors
from weigh.explain.trace_rules import Rules
from weigh.learn.order import pass_order

Vector = dict[str, Fraction]
Entry = TypeVar("Entry")
MOST_NUMBERS = 2_000_000  # weights that are held; more would fill the memory, and no one reads them


class Plane(NamedTuple):
    """A separating plane: its weights by feature, and its bias."""

    weights: Vector
    bias: Fraction

    def score(self, x: Vector) -> Fraction:
        """Return w·x + b."""
        return sum((self.weights.get(name, 0) * value for name, value in x.items()), start=self.bias)

    def moved(self, size: Fraction, x: Vector, bias: bool) -> Plane:
        """Return the plane after `size` times x was added, and `size` to the bias if it has one."""
        weights = dict(self.weights)
        for name, value in x.items():
            weights[name] = weights.get(name, Fraction(0)) + size * value
        return Plane({name: weight for name, weight in weights.items() if weight}, self.bias + size * bias)


@dataclass(frozen=True)
class Step:
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
    updates: tuple[Vector, ...]
    planes: tuple[Plane, ...]

    @property
    def updated(self) -> bool:
        """Whether the weights changed, after a mistake or within the margin."""
        return any(self.errors)

    @property
    def score(self) -> Fraction:
        """The score of the one plane that two classes have."""
        return self._only(self.scores)

    @property
    def sign(self) -> int:
        """The sign, 0 or 1, of the one plane that two classes have."""
        return self._only(self.signs)

    @property
    def error(self) -> int:
        """The error, −1, 0 or 1, of the one plane that two classes have."""
        return self._only(self.errors)

    @property
    def update(self) -> Vector:
        """What was added to the weights of the one plane that two classes have."""
        return self._only(self.updates)

    @property
    def weights(self) -> Vector:
        """The weights after the step of the one plane that two classes have."""
        return self._only(self.planes).weights

    @property
    def bias(self) -> Fraction:
        """The bias after the step of the one plane that two classes have."""
        return self._only(self.planes).bias

    def _only(self, entries: Sequence[Entry]) -> Entry:
        if len(entries) > 1:
            raise errors.Unsupported(
                f"The step moves {len(entries)} planes, one per class. Take its `planes`, `scores`, "
                f"`errors` and `updates`."
            )
        return entries[0]


@dataclass(frozen=True)
class Run:
    """All steps of one perceptron."""

    steps: tuple[Step, ...]
    converged: bool
    separate: bool

    @cached_property
    def hypotheses(self) -> list[tuple[int, tuple[Plane, ...]]]:
        """The planes in the order in which they were held, each with the number of steps it lasted."""
        # Planes that were not moved are the same object, so that equal ones found later stay apart.
        grouped = groupby(self.steps, key=lambda step: id(step.planes))
        found = [list(steps) for _, steps in grouped]
        return [(len(steps), steps[0].planes) for steps in found]

    def planes(self, keep: str) -> tuple[Plane, ...]:
        """Return the planes that are left at the end: the last, or a mean of all."""
        last = self.steps[-1].planes
        if keep == "last":
            return last
        if keep == "averaged":
            return tuple(mean([(n, planes[c]) for n, planes in self.hypotheses]) for c in range(len(last)))
        return tuple(self._lazy(c) for c in range(len(last)))

    def _lazy(self, c: int) -> Plane:
        """Return the mean of the planes that followed an update, of this very plane if each has its own."""
        moved = [step for step in self.steps if (step.errors[c] if self.separate else step.updated)]
        return mean([(1, step.planes[c]) for step in moved]) if moved else self.steps[-1].planes[c]


def mean(counted: Sequence[tuple[int, Plane]]) -> Plane:
    """Return the mean of planes that count several times."""
    total = sum(count for count, _ in counted)
    weights: Vector = {}
    for count, plane in counted:
        for name, weight in plane.weights.items():
            weights[name] = weights.get(name, Fraction(0)) + count * weight
    bias = sum((count * plane.bias for count, plane in counted), start=Fraction(0))
    return Plane({name: weight / total for name, weight in weights.items() if weight}, bias / total)


Errors = tuple[int, ...]
Judge = Callable[[tuple[Plane, ...], Sequence[Fraction], int, Rules], tuple[bool, Errors]]


def follow(
    rows: Sequence[Vector],
    codes: Sequence[int],
    sizes: Sequence[Fraction],
    classes: Sequence[Any],
    rules: Rules,
) -> Run:
    """Run a perceptron over rows until a pass is clean or the passes are used up.

    `sizes` is what an error of 1 multiplies each row with: the rate, times its weight.
    """
    separate = len(classes) > 2 and rules.multiclass == "one-vs-rest"
    judge: Judge = _two if len(classes) == 2 else _separately if separate else _jointly
    planes = (Plane({}, Fraction(0)),) * (1 if len(classes) == 2 else len(classes))
    steps: list[Step] = []
    held = 0
    for number in range(rules.max_iter):
        clean = True
        for row in _order(len(rows), rules, number):
            scores = tuple(plane.score(rows[row]) for plane in planes)
            correct, wrong = judge(planes, scores, codes[row], rules)
            if any(wrong):
                clean = False
                moves = [(plane, error * sizes[row]) for plane, error in zip(planes, wrong, strict=True)]
                planes = tuple(p.moved(size, rows[row], rules.bias) if size else p for p, size in moves)
                held += sum(len(plane.weights) for plane in planes)
            step = Step(
                number + 1,
                row,
                label=classes[codes[row]],
                scores=scores,
                signs=tuple(int(score >= 0) for score in scores),
                prediction=classes[verdict(scores)],
                correct=correct,
                errors=wrong,
                updates=tuple(_scaled(rows[row], error * sizes[row]) for error in wrong),
                planes=planes,
            )
            steps.append(step)
            held += len(planes)
            if held > MOST_NUMBERS:
                raise _too_many(len(steps), number + 1)
        if clean:
            break
    return Run(tuple(steps), clean, separate)


def _scaled(x: Vector, size: Fraction) -> Vector:
    return {name: size * value for name, value in x.items()} if size else {}


def _order(n: int, rules: Rules, number: int) -> Iterator[int]:
    return iter(pass_order(n, int(rules.random_state), number).tolist() if rules.shuffle else range(n))


def _two(
    planes: tuple[Plane, ...], scores: Sequence[Fraction], code: int, rules: Rules
) -> tuple[bool, Errors]:
    error = _error(scores[0], code, planes[0], rules)
    return (scores[0] >= 0) == bool(code), (error,)


def _separately(
    planes: tuple[Plane, ...], scores: Sequence[Fraction], code: int, rules: Rules
) -> tuple[bool, Errors]:
    wanted = [int(c == code) for c in range(len(planes))]
    wrong = tuple(_error(*each, rules) for each in zip(scores, wanted, planes, strict=True))
    return all((score >= 0) == bool(want) for score, want in zip(scores, wanted, strict=True)), wrong


def _error(score: Fraction, code: int, plane: Plane, rules: Rules) -> int:
    """Return the true class minus the predicted one; within the margin, as if it had been mistaken."""
    sign = int(score >= 0)
    if sign == code and _is_within(abs(score), [plane], rules):
        return 2 * code - 1
    return code - sign


def _jointly(
    planes: tuple[Plane, ...], scores: Sequence[Fraction], code: int, rules: Rules
) -> tuple[bool, Errors]:
    others = [c for c in range(len(planes)) if c != code]
    rival = max(others, key=lambda c: (scores[c], -c))
    correct = best(scores) == code
    wrong = [0] * len(planes)
    if not correct or _is_within(scores[code] - scores[rival], planes, rules):
        wrong[code], wrong[rival] = 1, -1
    return correct, tuple(wrong)


def best(scores: Sequence[Fraction]) -> int:
    """Return the place of the highest score, the first of equals."""
    return max(range(len(scores)), key=lambda c: (scores[c], -c))


def verdict(scores: Sequence[Fraction]) -> int:
    """Return the place of the predicted class: the second of two from 0 on, else the best of many."""
    return int(scores[0] >= 0) if len(scores) == 1 else best(scores)


def _is_within(lead: Fraction, planes: Sequence[Plane], rules: Rules) -> bool:
    """Whether a right verdict leads by less than the margin; with `relative`, times the norm of w."""
    margin = rules.exact_margin
    if rules.relative:
        # The norm is a root, its square is rational: all stays exact.
        return lead**2 < margin**2 * sum(w**2 for plane in planes for w in plane.weights.values())
    return lead < margin


def _too_many(steps: int, iteration: int) -> errors.Unsupported:
    return errors.Unsupported(
        f"The trace holds more than {MOST_NUMBERS:,} exact numbers after {steps:,} steps, in pass "
        f"{iteration:,}. Trace fewer rows, features or classes, or set max_iter lower."
    )
