"""The strongest features of each class of a naive Bayes or linear model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from weigh import errors
from weigh.features.blocks import Floats
from weigh.model.distributions.curve_weights import CurveWeights, PairWeights
from weigh.model.evidence.strengths import Strength, feature_strengths
from weigh.model.linear import LinearModel
from weigh.model.naive_bayes import BayesModel
from weigh.model.perceptron import VotedModel
from weigh.model.regression import RegressionModel
from weigh.result import Facts, Result, Section, Table, to_frame, to_json
from weigh.text import format_float, format_percent, format_signed, use_minus_sign


class FeaturesByClass(Result, ABC):
    """The features of each class; prints as one table per class."""

    classes: Mapping[Any, Sequence[Any]]
    unit: ClassVar[str] = "weight"
    group: ClassVar[str] = "class"

    @abstractmethod
    def feature_table(self, features: Sequence[Any]) -> Table:
        """Return the table of the features of one class."""

    @abstractmethod
    def feature_bar(self, feature: Any) -> tuple[str, float]:
        """Return the name and the bar length of one feature."""

    def class_title(self, label: Any) -> str:
        """Return the title of a class, such as "speaks for spam"."""
        return f"speaks for {label}"

    def to_dict(self) -> dict[str, Any]:
        """Return the features by class as plain values for JSON."""
        features: dict[str, Any] = to_json(self.classes)
        return features

    def to_frame(self) -> Any:
        """Return the features of all classes as a pandas DataFrame of unrounded numbers."""
        classes = self.classes.items()
        return to_frame([{self.group: label, **item.to_dict()} for label, items in classes for item in items])

    def plot(self) -> Any:
        """Plot the features, with one panel per class."""
        from weigh.pictures import bar_chart
        from weigh.pictures.chart_data import clip_infinite

        bars = [
            (self.class_title(label), *self.feature_bar(feature))
            for label in self.classes
            for feature in self.classes[label]
        ]
        if not bars:
            raise errors.Unsupported("No feature speaks for any class, so there is nothing to draw.")
        sizes = clip_infinite([size for *_, size in bars])
        rows = [
            {"group": title, "name": name, "value": size}
            for (title, name, _), size in zip(bars, sizes, strict=True)
        ]
        return bar_chart(rows, x=self.unit)

    def sections(self) -> Iterator[Section]:
        """Yield the table of each class."""
        for label, features in self.classes.items():
            title = self.class_title(label)
            if features:
                yield Section(str(label), [self.feature_table(features)], f"What {title}:")
            else:
                yield Section(str(label), [f"Nothing {title}."])


@dataclass(frozen=True, repr=False)
class StrongestFeatures(FeaturesByClass):
    """The strongest features of each requested class, strongest first."""

    classes: dict[Any, tuple[Strength, ...]]
    unit: ClassVar[str] = "nats"

    def feature_table(self, features: Sequence[Strength]) -> Table:
        """Return the table of the features of one class."""
        rows = [["", "nats", "in class", "in the rest"]]
        for feature in features:
            format_value = format_mean if feature.is_number else format_percent
            numbers = map(format_value, (feature.own, feature.rest))
            rows.append([feature.name, format_signed(feature.nats), *numbers])
        return Table(rows, indent="  ", widths=(40,))

    def feature_bar(self, feature: Strength) -> tuple[str, float]:
        """Return the feature with its value, and its evidence."""
        return feature.name, feature.nats


def strongest(model: Any, label: Any = None, most: int = 10) -> StrongestFeatures | LargestWeights:
    """Return the features that speak most for each class, or for the class `label` only.

    For a linear classifier, such as a perceptron or logistic regression, these are the features with the
    largest weights; for a linear regression, those that raise and lower the prediction most. A curve or
    surface is listed with its highest cell only.

    Parameters
    ----------
    model : a naive Bayes or linear model, a linear regression, or a fitted estimator
    label : a class; None means all
    most : the maximum number of features per class
    """
    model = getattr(model, "model_", model)
    # Calibration does not change the weights.
    model = getattr(model, "uncalibrated", model)
    if not isinstance(model, BayesModel | LinearModel | RegressionModel):
        raise errors.Unsupported(
            f"strongest needs a naive Bayes or linear model, got {type(model).__name__}; explain single rows "
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
    # Complement naive Bayes has no P(value | class), which the strengths are defined by.
    model = replace(model, complement=False) if model.complement else model
    prior = model.class_distribution.log_probabilities
    strengths = {
        name: feature_strengths(model.distributions, prior, model.classes.index(name), most)
        for name in wanted
    }
    return StrongestFeatures(strengths)


def format_mean(number: float) -> str:
    """Format the mean of a number in a class."""
    return f"mean {format_float(number)}"


@dataclass(frozen=True)
class FeatureWeight(Facts):
    """One feature, and the lead over the other classes that one unit of it gives its class."""

    feature: str
    weight: float


@dataclass(frozen=True, repr=False)
class LargestWeights(FeaturesByClass):
    """The features with the largest weights of each requested class, largest first."""

    classes: dict[Any, tuple[FeatureWeight, ...]]

    def feature_table(self, features: Sequence[FeatureWeight]) -> Table:
        """Return the table of the features of one class."""
        rows = ([feature.feature, self.format_weight(feature.weight)] for feature in features)
        return Table([["", "weight"], *rows], indent="  ", widths=(50,))

    def format_weight(self, weight: float) -> str:
        """Format a weight with its sign."""
        return format_signed(weight, 4)

    def feature_bar(self, feature: FeatureWeight) -> tuple[str, float]:
        """Return the feature and its weight."""
        return feature.feature, feature.weight


@dataclass(frozen=True, repr=False)
class LargestRegressionWeights(LargestWeights):
    """The features of a regression that raise and that lower the prediction most."""

    label: str = "the prediction"
    group: ClassVar[str] = "direction"

    def class_title(self, label: Any) -> str:
        """Return the title of a direction, such as "raises price"."""
        return f"{label} {self.label}"

    def format_weight(self, weight: float) -> str:
        """Format a weight with its sign, in at most five digits because units of targets differ."""
        return use_minus_sign(f"{weight:+.5g}")


def largest_regression_weights(model: RegressionModel, most: int) -> LargestRegressionWeights:
    """Return the features with the largest positive and negative weights, per unit of the feature."""
    names, coef = model.feature_names, model.coef
    raises, lowers = (_largest_of_curves(model.terms, weights) for weights in (coef, -coef))
    sides = {"raises": _top_weights(names, raises, most), "lowers": _top_weights(names, lowers, most)}
    lowered = tuple(FeatureWeight(feature.feature, -feature.weight) for feature in sides["lowers"])
    return LargestRegressionWeights({**sides, "lowers": lowered}, model.label or "the prediction")


def largest_weights(model: LinearModel, classes: Sequence[Any], most: int) -> LargestWeights:
    """Return the features whose weights most exceed the mean weight of the other classes.

    A voted perceptron is represented by its average, a curve or surface by its highest cell.
    """
    linear = model.keep("averaged") if isinstance(model, VotedModel) else model
    names, coef = linear.feature_names, np.atleast_2d(linear.coef)
    table = np.vstack([-coef[0], coef[0]]) if len(coef) == 1 else coef - _mean_of_other_classes(coef)
    rows = {label: _largest_of_curves(linear.terms, table[model.classes.index(label)]) for label in classes}
    return LargestWeights({label: _top_weights(names, weights, most) for label, weights in rows.items()})


def _mean_of_other_classes(coef: Floats) -> Floats:
    """Return the mean weights of all other classes, [classes, features]."""
    return np.asarray((coef.sum(axis=0) - coef) / (len(coef) - 1))


def _largest_of_curves(terms: Sequence[Any], weights: Floats) -> Floats:
    """Return the weights, with −∞ for all cells of a curve or surface but the highest."""
    weights, start = weights.copy(), 0
    for term in terms:
        stop = start + len(term.features().names)
        if isinstance(term, CurveWeights | PairWeights):
            cells = weights[start:stop]
            cells[np.arange(len(cells)) != np.argmax(cells)] = -np.inf
        start = stop
    return weights


def _top_weights(names: Sequence[str], weights: Floats, most: int) -> tuple[FeatureWeight, ...]:
    first = np.argsort(-weights, kind="stable")[:most]
    return tuple(FeatureWeight(names[at], float(weights[at])) for at in first.tolist() if weights[at] > 0)
