"""Facts about the model: kind, classes, training rows, settings and strongest features."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from weigh import __version__
from weigh.explain.strongest_features import format_mean, strongest
from weigh.report.facts import EMPTY_CELL, NamedFact
from weigh.text import (
    format_count,
    format_float,
    format_percent,
    format_quantity,
    format_signed,
    to_json_value,
    truncate,
)

MAX_CLASSES = 50
MAX_NAME_LENGTH = 200


@dataclass(frozen=True)
class ClassShare:
    """A class with its rows and share in training, if they are known."""

    label: str
    rows: float | None = None
    share: float | None = None


@dataclass(frozen=True)
class ModelFacts:
    """Kind, settings, classes and origin of the model."""

    kind: str
    sentence: str
    calibrated: str
    label: str | None
    rows: float | None
    parameters: int | None
    columns: int | None
    classes: tuple[ClassShare, ...]
    n_classes: int
    settings: tuple[NamedFact, ...]
    file: str | None
    digest: str
    version: str


@dataclass(frozen=True)
class _ModelKind:
    """The description of a kind of model: name, a sentence on how it predicts, and its settings."""

    name: str
    sentence: str
    settings: Callable[[Any], Iterator[NamedFact]]


def model_facts(model: Any, file: str | None, digest: str) -> ModelFacts:
    """Describe a model of this library or of scikit-learn."""
    fitted = getattr(model, "model_", model)
    uncalibrated = getattr(fitted, "uncalibrated", fitted)
    kind = _MODEL_KINDS.get(getattr(uncalibrated, "type_name", ""), _foreign_kind(model))
    shares = _class_shares(uncalibrated, model)
    schema = getattr(uncalibrated, "schema", None)
    return ModelFacts(
        kind=kind.name,
        sentence=kind.sentence,
        calibrated=_calibration_sentence(fitted),
        label=getattr(uncalibrated, "label", None),
        rows=_training_rows(uncalibrated),
        parameters=getattr(uncalibrated, "n_parameters", None),
        columns=getattr(model, "n_features_in_", None) if schema is None else len(schema.names),
        classes=tuple(shares[:MAX_CLASSES]),
        n_classes=len(shares),
        settings=(*kind.settings(uncalibrated), *_calibration_facts(fitted)),
        file=file,
        digest=digest,
        version=__version__,
    )


def _calibration_sentence(model: Any) -> str:
    if not hasattr(model, "calibration"):
        return ""
    return f"Its probabilities were calibrated on rows it was not trained on ({model.calibration})."


def _calibration_facts(model: Any) -> Iterator[NamedFact]:
    if hasattr(model, "calibration"):
        yield NamedFact("calibration", str(model.calibration))
    elif getattr(model, "has_probabilities", False):
        yield NamedFact("calibration", "none")


def _training_rows(model: Any) -> float | None:
    """Return the number of training rows, or their total weight; None if it is unknown."""
    if getattr(model, "stated", False):
        return None
    if hasattr(model, "fit") and hasattr(model.fit, "rows"):
        return float(model.fit.rows)
    certificate = getattr(model, "certificate", None)
    if certificate is not None and hasattr(certificate, "examples"):
        return float(certificate.examples // max(1, certificate.passes))
    class_counts = _class_counts(model)
    return None if class_counts is None else float(sum(class_counts))


def _class_counts(model: Any) -> list[float] | None:
    """Return the number of training rows of every class, or None if the model does not count them."""
    counts = getattr(model, "counts", None)
    if counts is None or getattr(model, "stated", False):
        return None
    rows: list[float] = (counts.rows if hasattr(counts, "rows") else counts.sum(axis=0)).tolist()
    return rows


def _class_shares(fitted: Any, model: Any) -> list[ClassShare]:
    labels = list(getattr(fitted, "classes", getattr(model, "classes_", [])))
    names = [truncate(label, MAX_NAME_LENGTH) for label in labels]
    rows = _class_counts(fitted)
    if rows is not None:
        total = sum(rows) or 1.0
        return [ClassShare(name, n, n / total) for name, n in zip(names, rows, strict=True)]
    if hasattr(fitted, "shares"):
        return [ClassShare(name, None, s) for name, s in zip(names, fitted.shares.tolist(), strict=True)]
    return [ClassShare(name) for name in names]


def _naive_bayes_settings(model: Any) -> Iterator[NamedFact]:
    yield NamedFact(
        "smoothing", "none: the parameters were stated" if model.stated else _format_smoothing(model.prior)
    )
    yield NamedFact("class prior", _format_class_prior(model.class_prior))
    if model.complement:
        yield NamedFact("variant", "complement: the weights of each class come from the rows of all others")
    yield NamedFact("free parameters", format_count(model.n_parameters))


def _joint_bayes_settings(model: Any) -> Iterator[NamedFact]:
    yield NamedFact("smoothing", _format_smoothing(model.prior))
    yield NamedFact("class prior", _format_class_prior(model.class_prior))
    yield NamedFact("free parameters", format_count(model.n_parameters))


def _format_smoothing(prior: Any) -> str:
    if prior is None:
        return "none: relative frequencies, including zeros"
    if isinstance(prior, Mapping):
        return "by column: " + ", ".join(
            f"{truncate(name, 40)} {_format_smoothing(each)}" for name, each in prior.items()
        )
    if isinstance(prior, int | float):
        return f"{prior:g} added to every count" + (" (Laplace)" if prior == 1 else "")
    return str(prior)


def _format_class_prior(prior: Any) -> str:
    if prior is None:
        return "class frequencies in training"
    if prior == "uniform":
        return "uniform"
    if isinstance(prior, Mapping):
        shares = (f"{truncate(label, 40)} {float(share):.4g}" for label, share in prior.items())
        return "fixed: " + ", ".join(shares)
    return f"class frequencies smoothed by {prior}"


def _perceptron_settings(model: Any) -> Iterator[NamedFact]:
    certificate = model.certificate
    yield NamedFact("hypothesis", model.kept)
    end = "converged: no mistake in the last pass" if certificate.converged else "did not converge"
    yield NamedFact("training", f"{format_quantity(certificate.passes, 'pass', 'passes')}, {end}")
    yield NamedFact("mistakes in training", format_count(certificate.mistakes))


def _regression_settings(model: Any) -> Iterator[NamedFact]:
    for name, value in model.summary().facts:
        if name != "rows":
            title = f"{name} in training" if name == "R²" else name
            yield NamedFact(title, "none" if value == "None" else value)


def _threshold_settings(model: Any) -> Iterator[NamedFact]:
    yield NamedFact("column", truncate(model.column, MAX_NAME_LENGTH))
    low, high = format_float(model.low), format_float(model.high)
    yield NamedFact("threshold", f"{format_float(model.cut)}; any value from {low} to {high} is equivalent")


def _linear_settings(model: Any) -> Iterator[NamedFact]:
    yield NamedFact("weights", format_count(len(model.feature_names)))


def _foreign_kind(model: Any) -> _ModelKind:
    """Describe a classifier or regressor of another library."""
    name = type(model).__name__
    package = type(model).__module__.split(".")[0]

    def settings(_: Any) -> Iterator[NamedFact]:
        params = model.get_params(deep=False) if hasattr(model, "get_params") else {}
        for key, value in params.items():
            yield NamedFact(str(key), truncate(repr(value), 160))

    return _ModelKind(
        f"{name} ({package})", "A model of another library, evaluated by its predictions alone.", settings
    )


_SUM_OF_WEIGHTS = "The weights of the features add up"
_MODEL_KINDS = {
    "naive-bayes": _ModelKind(
        "naive Bayes",
        "It multiplies the frequencies of the values in each class, assuming that columns are independent.",
        _naive_bayes_settings,
    ),
    "joint-bayes": _ModelKind(
        "joint Bayes",
        "It uses the frequency of each combination of values in each class.",
        _joint_bayes_settings,
    ),
    "perceptron": _ModelKind(
        "perceptron",
        f"{_SUM_OF_WEIGHTS} to a score per class, and the highest score wins; scores are not probabilities.",
        _perceptron_settings,
    ),
    "voted": _ModelKind(
        "voted perceptron",
        "Every hypothesis of its training votes, weighted by the number of rows that it survived.",
        _perceptron_settings,
    ),
    "logistic": _ModelKind(
        "logistic regression",
        f"{_SUM_OF_WEIGHTS} to the log-odds of the classes, which give the probabilities.",
        _regression_settings,
    ),
    "regression": _ModelKind(
        "linear regression", f"{_SUM_OF_WEIGHTS} to the predicted number.", _regression_settings
    ),
    "threshold": _ModelKind("threshold", "It compares one number with a threshold.", _threshold_settings),
    "linear": _ModelKind(
        "linear classifier",
        f"{_SUM_OF_WEIGHTS} to a score per class, and the highest score wins.",
        _linear_settings,
    ),
}

MAX_FEATURE_LENGTH = 120
MAX_FEATURE_CLASSES = 12
OUTLIER_RATIO = 10  # bars more than this many times as long as the next one are cut


@dataclass(frozen=True)
class FeatureStrength:
    """A feature with its strength; `own` and `rest` are its frequencies in the class and in the others."""

    name: str
    amount: float
    told: str
    own: str
    rest: str


@dataclass(frozen=True)
class ClassFeatures:
    """The strongest features of a class; `longest` is the length at which bars are cut, or None."""

    title: str
    features: tuple[FeatureStrength, ...]
    longest: float | None


@dataclass(frozen=True)
class StrongestFacts:
    """The strongest features of the classes; `unit` is the unit of their strengths."""

    unit: str
    meaning: str
    sides: tuple[ClassFeatures, ...]
    left_out: int


def strongest_facts(model: Any, most: int) -> StrongestFacts:
    """Return the strongest features of each of the first `MAX_FEATURE_CLASSES` classes."""
    result = strongest(model, None, most)
    classes = list(result.classes.items())
    has_nats = any(hasattr(each, "nats") for _, features in classes for each in features)
    sides = tuple(
        _class_features(result.class_title(label), features)
        for label, features in classes[:MAX_FEATURE_CLASSES]
    )
    meaning = (
        "The strength of a value is its evidence, in nats, for the class against all others together."
        if has_nats
        else "A weight is the contribution of one unit of the feature."
    )
    left_out = max(0, len(classes) - MAX_FEATURE_CLASSES)
    return StrongestFacts("nats" if has_nats else "weight", meaning, sides, left_out)


def _class_features(title: str, strengths: Any) -> ClassFeatures:
    features = tuple(_feature_strengths(strengths))
    return ClassFeatures(truncate(title, MAX_FEATURE_LENGTH), features, _bar_limit(features))


def _bar_limit(features: tuple[FeatureStrength, ...]) -> float | None:
    """Return the length at which outlying bars are cut, 1.5 times the longest other bar; None without any.

    At most half of the bars are outliers.
    """
    sizes = [abs(each.amount) for each in features if isinstance(each.amount, float)]
    longest = sorted(sizes, reverse=True)[: len(sizes) // 2 + 1]
    for size, next_size in pairwise(longest):
        if size > OUTLIER_RATIO * next_size > 0:
            return 1.5 * next_size
    return None


def _feature_strengths(features: Any) -> Iterator[FeatureStrength]:
    for each in features:
        if hasattr(each, "nats"):
            to_text = format_mean if each.is_number else format_percent
            name = truncate(each.name, MAX_FEATURE_LENGTH)
            yield FeatureStrength(
                name,
                to_json_value(each.nats),
                format_signed(each.nats),
                to_text(each.own),
                to_text(each.rest),
            )
        else:
            name, weight = truncate(each.feature, MAX_FEATURE_LENGTH), f"{each.weight:+.4g}".replace("-", "−")
            yield FeatureStrength(name, each.weight, weight, EMPTY_CELL, EMPTY_CELL)
