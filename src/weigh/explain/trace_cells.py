"""The words of a trace: the cells of its tables, and the sentences before and after them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from weigh.explain.trace_facts import vector, written
from weigh.text import counted, cut

if TYPE_CHECKING:
    from weigh.explain.trace import Trace
    from weigh.explain.trace_steps import Plane, Step

NAMED = 6  # features that are named where vectors are too long
LABEL = 10
LONGEST = 16  # signs of a vector with one entry per class
TIED = "\u00a0"


@dataclass(frozen=True)
class Cells:
    """How the steps of a trace are written: vectors as a whole, or their entries by name."""

    trace: Trace
    named: bool

    @property
    def head(self) -> list[str]:
        """The titles of the columns."""
        rate = "" if self.trace.rules.exact_rate == 1 else "rate × "
        rate += "" if set(self.trace.sizes) == {self.trace.rules.exact_rate} else "weight × "
        front = ["row"] if self.trace.rules.shuffle else []
        if self._has_one_plane:
            front += ["w·x+b", "sign(·)", "correct?", "error"]
            return [*front, "b", "change of w"] if self.named else [*front, f"{rate}error × x", "w'", "b"]
        sign = "sign(·)" if self.trace.run.separate else "argmax(·)"
        return [*front, "w·x+b", sign, "correct?", "error", f"{rate}x"]

    @property
    def _has_one_plane(self) -> bool:
        return len(self.trace.classes) == 2

    def row(self, step: Step) -> list[str]:
        """The cells of a step."""
        front = [str(step.row)] if self.trace.rules.shuffle else []
        correct = "yes" if step.correct else "no"
        if not self._has_one_plane:
            sign = self._signs(step) if self.trace.run.separate else cut(step.prediction, LABEL)
            return [*front, self._scores(step), sign, correct, self._blame(step), self._added(step)]
        note = " (margin)" if step.correct and step.updated else ""
        front += [self._written(step.score), str(step.sign), correct, f"{step.error}{note}"]
        bias = self._written(step.bias)
        if self.named:
            return [*front, bias, self._changes(step)]
        return [*front, self._shown(step.update), self._shown(step.weights), bias]

    def _scores(self, step: Step) -> str:
        """All scores or, of many classes, the highest and, if it is another, that of the true class."""
        told = self._vector(step.scores)
        if len(told) <= LONGEST:
            return told
        own = step.scores[self.trace.classes.index(step.label)]
        top = self._written(max(step.scores))
        return top if own == max(step.scores) else f"{top}, true {self._written(own)}"

    def _signs(self, step: Step) -> str:
        """The signs of all classes or, of many classes, the names of those whose sign is 1."""
        told = _whole(step.signs)
        return told if len(told) <= LONGEST else self._classes(step.signs, 1) or "none"

    def _blame(self, step: Step) -> str:
        """Whose weights grow and whose shrink."""
        if not step.updated:
            return "0"
        told = _whole(step.errors)
        if not self.trace.run.separate or len(told) > LONGEST:
            names = (f"+{self._classes(step.errors, 1)}", f"-{self._classes(step.errors, -1)}")
            told = " ".join(name for name in names if len(name) > 1)
        return f"{told} (margin)" if step.correct else told

    def _classes(self, entries: Sequence[int], entry: int) -> str:
        pairs = zip(self.trace.classes, entries, strict=True)
        return cut(",".join(str(label) for label, own in pairs if own == entry), LABEL)

    def _added(self, step: Step) -> str:
        """The rate times the row, which an error of 1 adds and one of −1 takes away."""
        for error, update in zip(step.errors, step.updates, strict=True):
            if error:
                return self._shown({name: error * number for name, number in update.items()})
        return ""

    def _changes(self, step: Step) -> str:
        after = {name: step.weights.get(name, Fraction(0)) for name in step.update}
        return self._listed(
            {
                name: f"{self._written(after[name] - added)} → {self._written(after[name])}"
                for name, added in step.update.items()
            }
        )

    def closing(self, step: Step) -> Iterator[str]:
        """The planes after a pass, where the rows do not show them."""
        if not self._has_one_plane:
            for label, plane in zip(self.trace.classes, step.planes, strict=True):
                yield f"{cut(label, 30)}: {self._plane(plane)}"

    def opening(self) -> Iterator[str]:
        """What the rows are, which class is which, where the run starts."""
        trace = self.trace
        size = f"Perceptron over {counted(len(trace.rows), 'row')}"
        if len(trace.classes) == 2:
            yield f"{size}: {trace.classes[1]} is 1, {trace.classes[0]} is 0."
        else:
            names = ", ".join(map(str, trace.classes))
            yield f"{size} of {counted(len(trace.classes), 'class', 'classes')}: {names}."
        if self.named:
            yield f"{counted(len(trace.names), 'feature')}; all weights and b start at 0."
        else:
            yield f"x = ({', '.join(cut(name, 40) for name in trace.names)})"
            yield f"Initialize: w = {self._shown({})} and b = 0"

    def kept(self) -> Iterator[str]:
        """What the learner keeps of it all."""
        trace, keep = self.trace, self.trace.rules.keep
        if keep == "voted":
            held = counted(len(trace.run.hypotheses), "hypothesis votes", "hypotheses vote")
            yield f"Voted: {held}, each as often as it lasted steps."
        elif len(trace.classes) == 2:
            yield f"{keep.capitalize()}: {self._plane(trace.weights())}"
        else:
            for label, plane in trace.weights().items():
                yield f"{keep.capitalize()}, {cut(label, 30)}: {self._plane(plane)}"

    def _plane(self, plane: Plane) -> str:
        if not self.named:
            return f"w = {self._shown(plane.weights)} and b = {self._written(plane.bias)}"
        largest = sorted(plane.weights.items(), key=lambda pair: -abs(pair[1]))
        told = self._listed({name: self._written(weight) for name, weight in largest if weight})
        return f"b = {self._written(plane.bias)}; {told or 'all weights 0'}"

    def _shown(self, numbers: Mapping[str, Fraction]) -> str:
        if self.named:
            return self._listed({name: self._written(number) for name, number in numbers.items()})
        return self._vector(numbers.get(name, Fraction(0)) for name in self.trace.names)

    def _listed(self, told: Mapping[str, str]) -> str:
        some = [f"{cut(name, 24)} {text}" for name, text in list(told.items())[:NAMED]]
        some += [f"… {len(told) - NAMED} more"] if len(told) > NAMED else []
        # Lines are to break between features only.
        return ", ".join(each.replace(" ", TIED) for each in some)

    def _written(self, number: Fraction) -> str:
        return written(number, self.trace.decimal)

    def _vector(self, numbers: Iterable[Fraction]) -> str:
        return vector(numbers, self.trace.decimal)


def _whole(numbers: Sequence[int]) -> str:
    return f"({','.join(map(str, numbers))})"
