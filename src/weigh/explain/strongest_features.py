"""`strongest`: what speaks most for each class of a model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from weigh import errors
from weigh.features.blocks import Floats
from weigh.model import BayesModel, LinearModel, RegressionModel, VotedModel
from weigh.model.evidence.strengths import Strength, feature_strengths
from weigh.text import format_float, format_percent, format_signed, html_table, text_table, truncate


class FeaturesByClass(ABC):
    """What speaks for each class: prints as one table per class."""

    classes: Mapping[Any, Sequence[Any]]
    unit: ClassVar[str] = "weight"

    @abstractmethod
    def table_rows(self, found: Sequence[Any]) -> list[list[str]]:
        """Return the table of one class's features, its head first."""

    @abstractmethod
    def feature_bar(self, each: Any) -> tuple[str, float]:
        """Return the name and the size of one feature."""

    def class_title(self, label: Any) -> str:
        """Return what the features of a class do."""
        return f"speaks for {label}"

    def to_dict(self) -> dict[str, Any]:
        """The features by class, for JSON."""
        return {str(label): [each.to_dict() for each in found] for label, found in self.classes.items()}

    def plot(self) -> Any:
        """Return a picture of the features, a panel for each class."""
        from weigh.pictures import bar_chart
        from weigh.pictures.chart_data import clip_infinite

        found = [
            (self.class_title(label), *self.feature_bar(each))
            for label in self.classes
            for each in self.classes[label]
        ]
        if not found:
            raise errors.Unsupported("No feature speaks for any class, so there is nothing to draw.")
        sizes = clip_infinite([size for *_, size in found])
        rows = [
            {"group": title, "name": name, "value": size}
            for (title, name, _), size in zip(found, sizes, strict=True)
        ]
        return bar_chart(rows, x=self.unit)

    def __str__(self) -> str:
        tables = (f"{title}\n{text_table(rows, indent='  ')}".rstrip() for title, rows in self._tables())
        return "\n\n".join(tables)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return "".join(html_table(title, rows) for title, rows in self._tables())

    def _tables(self) -> Iterator[tuple[str, list[list[str]]]]:
        for label, found in self.classes.items():
            rows = self.table_rows(found)
            title = self.class_title(label)
            yield (f"What {title}:", rows) if found else (f"Nothing {title}.", [[""]])


@dataclass(frozen=True, repr=False)
class StrongestFeatures(FeaturesByClass):
    """The strongest features of each class asked for, strongest first."""

    classes: dict[Any, tuple[Strength, ...]]
    unit: ClassVar[str] = "nats"

    def table_rows(self, found: Sequence[Strength]) -> list[list[str]]:
        """Return the table of one class's features, its head first."""
        rows = [["", "nats", "in class", "in the rest"]]
        for each in found:
            write = _format_mean if each.is_number else format_percent
            rows.append(
                [truncate(each.name, 40), format_signed(each.nats), write(each.own), write(each.rest)]
            )
        return rows

    def feature_bar(self, each: Strength) -> tuple[str, float]:
        """Return the feature with its value, and its evidence."""
        return each.name, each.nats


def strongest(model: Any, label: Any = None, most: int = 10) -> StrongestFeatures | LargestWeights:
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
        raise errors.parameter_error("strongest", "most", "at least 1", most)
    if isinstance(model, RegressionModel):
        if label is not None:
            raise errors.LabelError(
                f"A regression predicts numbers and has no class {label!r}. Leave the class out."
            )
        return largest_regression_weights(model, most)
    if len(model.classes) < 2:
        raise errors.Unsupported("The model has one class only, so nothing speaks for it against others.")
    if label is not None and label not in model.classes:
        raise errors.LabelError(
            f"The model has no class {label!r}; it has {errors.quote_names(model.classes)}."
        )
    wanted = model.classes if label is None else [label]
    if isinstance(model, LinearModel):
        return largest_weights(model, wanted, most)
    # The complement's own weights say the same in another form; the definition here needs P(value | class).
    model = replace(model, complement=False) if model.complement else model
    prior = model.class_distribution.log_probabilities
    found = {
        each: feature_strengths(model.distributions, prior, model.classes.index(each), most)
        for each in wanted
    }
    return StrongestFeatures(found)


def _format_mean(number: float) -> str:
    return f"mean {format_float(number)}"


@dataclass(frozen=True)
class FeatureWeight:
    """One feature that speaks for a class: by how much one unit of it moves the class ahead of the rest."""

    feature: str
    weight: float

    def to_dict(self) -> dict[str, Any]:
        """The feature for JSON."""
        return {"feature": self.feature, "weight": self.weight}


@dataclass(frozen=True, repr=False)
class LargestWeights(FeaturesByClass):
    """The heaviest features of each class asked for, heaviest first."""

    classes: dict[Any, tuple[FeatureWeight, ...]]

    def table_rows(self, found: Sequence[FeatureWeight]) -> list[list[str]]:
        """Return the table of one class's features, its head first."""
        return [
            ["", "weight"],
            *([truncate(each.feature, 50), format_signed(each.weight, 4)] for each in found),
        ]

    def feature_bar(self, each: FeatureWeight) -> tuple[str, float]:
        """Return the feature and its weight."""
        return each.feature, each.weight


@dataclass(frozen=True, repr=False)
class LargestRegressionWeights(LargestWeights):
    """The features of a regression that raise what is predicted most, and those that lower it most."""

    label: str = "the prediction"

    def class_title(self, label: Any) -> str:
        """Return what the features of a side do."""
        return f"{label} {self.label}"

    def table_rows(self, found: Sequence[FeatureWeight]) -> list[list[str]]:
        """Return the table of one side's features, its head first."""
        rows = ([truncate(each.feature, 50), f"{each.weight:+.5g}".replace("-", "−")] for each in found)
        return [["", "weight"], *rows]


def largest_regression_weights(model: RegressionModel, most: int) -> LargestRegressionWeights:
    """Return the features with the greatest weights above and below zero, each per unit of the feature."""
    names, coef = model.features, model.coef
    sides = {"raises": _top_weights(names, coef, most), "lowers": _top_weights(names, -coef, most)}
    lowered = tuple(FeatureWeight(each.feature, -each.weight) for each in sides["lowers"])
    return LargestRegressionWeights({**sides, "lowers": lowered}, model.label or "the prediction")


def largest_weights(model: LinearModel, classes: Sequence[Any], most: int) -> LargestWeights:
    """Return the features whose weights exceed the mean of the other classes' most; of votes, the mean's."""
    linear = model.keep("averaged") if isinstance(model, VotedModel) else model
    names, coef = linear.features, np.atleast_2d(linear.coef)
    table = np.vstack([-coef[0], coef[0]]) if len(coef) == 1 else coef - _mean_of_other_classes(coef)
    return LargestWeights(
        {each: _top_weights(names, table[model.classes.index(each)], most) for each in classes}
    )


def _mean_of_other_classes(coef: Floats) -> Floats:
    """Return, for each class, the mean weights of all others."""
    return np.asarray((coef.sum(axis=0) - coef) / (len(coef) - 1))


def _top_weights(names: Sequence[str], weights: Floats, most: int) -> tuple[FeatureWeight, ...]:
    first = np.argsort(-weights, kind="stable")[:most]
    return tuple(FeatureWeight(names[at], float(weights[at])) for at in first.tolist() if weights[at] > 0)
