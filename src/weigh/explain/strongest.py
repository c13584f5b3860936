"""`strongest`: what speaks most for each class of a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from weigh import errors
from weigh.explain.by_class import ByClass
from weigh.explain.heaviest import Heaviest, heaviest, slopes
from weigh.model import BayesModel, LinearModel, RegressionModel
from weigh.model.strengths import Strength, strengths
from weigh.text import cut, percent, short, signed


@dataclass(frozen=True, repr=False)
class Strongest(ByClass):
    """The strongest features of each class asked for, strongest first."""

    classes: dict[Any, tuple[Strength, ...]]
    unit: ClassVar[str] = "nats"

    def rows_of(self, found: Sequence[Strength]) -> list[list[str]]:
        """Return the table of one class's features, its head first."""
        rows = [["", "nats", "in class", "in the rest"]]
        for each in found:
            write = _mean if each.is_number else percent
            rows.append([cut(each.name, 40), signed(each.nats), write(each.own), write(each.rest)])
        return rows

    def bar_of(self, each: Strength) -> tuple[str, float]:
        """Return the feature with its value, and its evidence."""
        return each.name, each.nats


def strongest(model: Any, label: Any = None, most: int = 10) -> Strongest | Heaviest:
    """The features that speak most for each class, or for the class `label` only.

    Of a linear model, such as a perceptron's or a logistic regression's, these are the features with the
    greatest weights; of a linear regression those that raise and that lower what is predicted most.

    Parameters
    ----------
    model : a naive Bayes or linear model, a linear regression, or an estimator that holds one
    label : a class; None means all
    most : how many features to list per class
    """
    model = getattr(model, "model_", model)
    # How sure a model is changes nothing about what it looks for.
    model = getattr(model, "uncalibrated", model)
    if not isinstance(model, BayesModel | LinearModel | RegressionModel):
        raise errors.Unsupported(
            f"strongest reads a naive Bayes or linear model, got {type(model).__name__}; explain single rows "
            f"instead."
        )
    if most < 1:
        raise errors.parameter("strongest", "most", "at least 1", most)
    if isinstance(model, RegressionModel):
        if label is not None:
            raise errors.LabelError(
                f"A regression predicts numbers and has no class {label!r}. Leave the class out."
            )
        return slopes(model, most)
    if len(model.classes) < 2:
        raise errors.Unsupported("The model has one class only, so nothing speaks for it against others.")
    if label is not None and label not in model.classes:
        raise errors.LabelError(f"The model has no class {label!r}; it has {errors.listing(model.classes)}.")
    wanted = model.classes if label is None else [label]
    if isinstance(model, LinearModel):
        return heaviest(model, wanted, most)
    # The complement's own weights say the same in another form; the definition here needs P(value | class).
    model = replace(model, complement=False) if model.complement else model
    prior = model.class_belief.logs
    found = {each: strengths(model.distributions, prior, model.classes.index(each), most) for each in wanted}
    return Strongest(found)


def _mean(number: float) -> str:
    return f"mean {short(number)}"
