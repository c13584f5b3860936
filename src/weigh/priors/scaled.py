"""What the normal and the Laplace distribution of a weight have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from weigh import errors
from weigh.priors import centre, exact
from weigh.priors.arguments import Floats
from weigh.priors.drawn import Belief, weight_picture
from weigh.priors.equivalents import Equivalents, find, in_short


@dataclass(frozen=True, repr=False)
class Scaled(Belief, ABC):
    """A belief about a weight: around `mean`, as wide as `scale` says.

    `scale` is a number, or how a learner is to choose it. `mean` is a number, or an older model (or
    fitted learner) whose weights are the centres, by name of the feature.
    """

    scale: float | str
    mean: Any = 0.0

    ways: ClassVar[tuple[str, ...]] = ("cv",)
    shape: ClassVar[tuple[float, float]]  # (l1, l2) but for the scale: ridge or lasso

    def __post_init__(self) -> None:
        owner = type(self).__name__
        if not isinstance(self.scale, str) or self.scale not in self.ways:
            number = exact.positive(self.scale)
            if number is None:
                *most, last = "a positive, finite number", *map(repr, self.ways)
                raise errors.parameter(owner, "scale", f"{', '.join(most)} or {last}", self.scale)
            object.__setattr__(self, "scale", float(number))
        object.__setattr__(self, "mean", centre.checked(self.mean, owner))

    def __repr__(self) -> str:
        scale = self.scale if isinstance(self.scale, str) else exact.fraction(self.scale)
        shown = repr(scale) if isinstance(scale, str | None) else exact.as_source(scale)
        if self.is_centred:
            return f"{type(self).__name__}({shown})"
        mean = exact.fraction(self.mean)
        at = repr(self.mean) if mean is None else exact.as_source(mean)
        return f"{type(self).__name__}({shown}, mean={at})"

    def __str__(self) -> str:
        if isinstance(self.scale, str):
            how = {"cv": "cross-validation", "evidence": "the evidence"}[self.scale]
            return f"{self!r}: the learner chooses the scale by {how}"
        return f"{self!r}: {in_short(*self.exact_penalty(), ' σ²')}"

    @property
    def is_chosen(self) -> bool:
        """Whether the learner is to choose the scale."""
        return isinstance(self.scale, str)

    @property
    def is_centred(self) -> bool:
        """Whether the centre is zero; False for any other number and for a model."""
        return isinstance(self.mean, float) and self.mean == 0

    @property
    def mode(self) -> float | Floats:
        """The most probable weight: the centre; of a model, one for each of its features."""
        return centre.position(self.mean)

    def centre(self, features: Sequence[str]) -> Floats:
        """The centre of each of these features; 0 for one that an older model does not know."""
        return centre.by_name(self.mean, features)

    def penalty(self, sigma: float = 1.0) -> tuple[float, float]:
        """Return (l1, l2), the penalty beside ½‖y − Xw‖² with noise σ, or beside the log loss with σ = 1.

        Beside Σ|y − Xw|, with Laplace noise of scale b, it is that of σ = √b.
        """
        l1, l2 = self.exact_penalty(sigma)
        return float(l1), float(l2)

    def exact_penalty(self, sigma: float = 1.0) -> tuple[Fraction, Fraction]:
        """Return (l1, l2) as fractions, every number taken by its decimal text."""
        noise = exact.positive(sigma)
        if noise is None:
            raise errors.parameter("penalty", "sigma", "a positive, finite number", sigma)
        found = self._penalty_of(noise * noise)
        if max(found) > exact.LARGEST:
            raise errors.parameter(
                "penalty", "sigma", f"smaller beside {self!r}: no float holds l1, l2", sigma
            )
        return found

    def equivalents(self, task: str, n: float, sigma: float = 1.0, spread: float = 1.0) -> Equivalents:
        """What other packages call this prior in a task, "linear" or "logistic".

        `n` is the number of rows, or their total weight; `sigma` the noise of linear regression; `spread`
        the standard deviation of the targets (1/n), which glmnet needs for ridge and elastic net.
        """
        return find(self, task, n, sigma, spread)

    def plot(self) -> Any:
        """Return a picture of the density of a weight; around an older model, of the interval of each."""
        return weight_picture(self, () if isinstance(self.mean, float) else centre.names(self.mean))

    def to_json(self) -> dict[str, object]:
        """The scale and the centre as plain JSON, exactly."""
        return {"kind": type(self).__name__.lower(), "scale": self.scale, "mean": centre.to_json(self.mean)}

    @abstractmethod
    def _penalty_of(self, variance: Fraction) -> tuple[Fraction, Fraction]:
        """Return (l1, l2) beside noise of this variance."""

    @property
    def _width(self) -> float:
        if isinstance(self.scale, str):
            raise errors.Unsupported(
                f"{self!r} has no scale yet: a learner chooses it from rows. Give a number instead."
            )
        return self.scale

    @property
    def _exact_width(self) -> Fraction:
        return Fraction(str(self._width))
