"""What the model is: its kind, its classes, what it learned from, its settings in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from weigh import __version__
from weigh.explain import strongest
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
    """A class with its rows and share in training, where they are known."""

    label: str
    rows: float | None = None
    share: float | None = None


@dataclass(frozen=True)
class ModelFacts:
    """The model in words and numbers."""

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
    """How a kind of model is told: its name, one sentence on how it decides, its settings."""

    name: str
    sentence: str
    settings: Callable[[Any], Iterator[NamedFact]]


def model_facts(model: Any, file: str | None, digest: str) -> ModelFacts:
    """Collect what a model of this library or of scikit-learn is."""
    given = getattr(model, "model_", model)
    ours = getattr(given, "uncalibrated", given)
    kind = _MODEL_KINDS.get(getattr(ours, "type_name", ""), _foreign_kind(model))
    shares = _class_shares(ours, model)
    rows = _training_rows(ours)
    schema = getattr(ours, "schema", None)
    return ModelFacts(
        kind.name,
        kind.sentence,
        _calibration_sentence(given),
        getattr(ours, "label", None),
        rows,
        getattr(ours, "n_parameters", None),
        getattr(model, "n_features_in_", None) if schema is None else len(schema.names),
        tuple(shares[:MAX_CLASSES]),
        len(shares),
        (*kind.settings(ours), *_calibration_facts(given)),
        file,
        digest,
        __version__,
    )


def _calibration_sentence(model: Any) -> str:
    """What calibration has done, for those who have not heard of it."""
    if not hasattr(model, "calibration"):
        return ""
    return f"Its probabilities were set right by rows it had not learned from ({model.calibration})."


def _calibration_facts(model: Any) -> Iterator[NamedFact]:
    """How the probabilities were set right, if they were."""
    if hasattr(model, "calibration"):
        yield NamedFact("calibration", str(model.calibration))
    elif getattr(model, "has_probabilities", False):
        yield NamedFact("calibration", "none: probabilities as they were learned")


def _training_rows(model: Any) -> float | None:
    """How many rows were learned, or what weight of them."""
    if getattr(model, "stated", False):
        return None
    if hasattr(model, "fit") and hasattr(model.fit, "rows"):
        return float(model.fit.rows)
    run = getattr(model, "certificate", None)
    if run is not None and hasattr(run, "examples"):
        return float(run.examples // max(1, run.passes))
    counted_rows = _class_counts(model)
    return None if counted_rows is None else float(sum(counted_rows))


def _class_counts(model: Any) -> list[float] | None:
    """The rows of every class, where they were counted."""
    counts = getattr(model, "counts", None)
    if counts is None or getattr(model, "stated", False):
        return None
    found: list[float] = (counts.rows if hasattr(counts, "rows") else counts.sum(axis=0)).tolist()
    return found


def _class_shares(ours: Any, model: Any) -> list[ClassShare]:
    labels = list(getattr(ours, "classes", getattr(model, "classes_", [])))
    names = [truncate(label, MAX_NAME_LENGTH) for label in labels]
    rows = _class_counts(ours)
    if rows is not None:
        total = sum(rows) or 1.0
        return [ClassShare(name, n, n / total) for name, n in zip(names, rows, strict=True)]
    if hasattr(ours, "shares"):
        return [ClassShare(name, None, s) for name, s in zip(names, ours.shares.tolist(), strict=True)]
    return [ClassShare(name) for name in names]


def _naive_bayes_settings(model: Any) -> Iterator[NamedFact]:
    yield NamedFact("smoothing", "none: stated numbers" if model.stated else _format_smoothing(model.prior))
    yield NamedFact("class prior", _format_class_prior(model.class_prior))
    if model.complement:
        yield NamedFact("variant", "complement: each class is weighed by the rows of all others")
    yield NamedFact("free parameters", format_count(model.n_parameters))


def _joint_bayes_settings(model: Any) -> Iterator[NamedFact]:
    yield NamedFact("smoothing", _format_smoothing(model.prior))
    yield NamedFact("class prior", _format_class_prior(model.class_prior))
    yield NamedFact("free parameters", format_count(model.n_parameters))


def _format_smoothing(prior: Any) -> str:
    if prior is None:
        return "none: shares as they were counted, zeros included"
    if isinstance(prior, Mapping):
        return "by column: " + ", ".join(
            f"{truncate(name, 40)} {_format_smoothing(each)}" for name, each in prior.items()
        )
    if isinstance(prior, int | float):
        return f"{prior:g} added to every count" + (" (Laplace)" if prior == 1 else "")
    return str(prior)


def _format_class_prior(given: Any) -> str:
    if given is None:
        return "the classes' shares in training"
    if given == "uniform":
        return "all classes alike"
    if isinstance(given, Mapping):
        shares = (f"{truncate(label, 40)} {float(share):.4g}" for label, share in given.items())
        return "as given: " + ", ".join(shares)
    return f"shares smoothed by {given}"


def _perceptron_settings(model: Any) -> Iterator[NamedFact]:
    run = model.certificate
    yield NamedFact("kept", f"the {model.kept} hypothesis of the run")
    ended = "converged: the last pass changed nothing" if run.converged else "did not converge"
    yield NamedFact("run", f"{format_quantity(run.passes, 'pass', 'passes')}, {ended}")
    yield NamedFact("mistakes while learning", format_count(run.mistakes))


def _regression_settings(model: Any) -> Iterator[NamedFact]:
    for name, value in model.summary().facts:
        if name != "rows":
            title = f"{name} in training" if name == "R²" else name
            yield NamedFact(title, "none" if value == "None" else value)


def _threshold_settings(model: Any) -> Iterator[NamedFact]:
    yield NamedFact("column", truncate(model.column, MAX_NAME_LENGTH))
    yield NamedFact(
        "cut",
        f"{format_float(model.cut)}; any from {format_float(model.low)} to {format_float(model.high)} does alike",
    )


def _linear_settings(model: Any) -> Iterator[NamedFact]:
    yield NamedFact("weights", format_count(len(model.features)))


def _foreign_kind(model: Any) -> _ModelKind:
    """A classifier or regression of somebody else."""
    name = type(model).__name__
    home = type(model).__module__.split(".")[0]

    def settings(_: Any) -> Iterator[NamedFact]:
        given = model.get_params(deep=False) if hasattr(model, "get_params") else {}
        for key, value in given.items():
            yield NamedFact(str(key), truncate(repr(value), 160))

    return _ModelKind(
        f"{name} of {home}", "It was trained elsewhere and is judged by its answers alone.", settings
    )


_SUM_OF_WEIGHTS = "Every feature of a row adds its weight"
_MODEL_KINDS = {
    "naive-bayes": _ModelKind(
        "naive Bayes",
        "It multiplies how often each value occurs in a class, as if columns were independent of each other.",
        _naive_bayes_settings,
    ),
    "joint-bayes": _ModelKind(
        "joint Bayes",
        "It counts how often all columns' values occur together in each class.",
        _joint_bayes_settings,
    ),
    "perceptron": _ModelKind(
        "perceptron",
        f"{_SUM_OF_WEIGHTS} to a score and the greatest score wins; scores are no probabilities.",
        _perceptron_settings,
    ),
    "voted": _ModelKind(
        "voted perceptron",
        "Every hypothesis of its run votes, as often as it survived a row.",
        _perceptron_settings,
    ),
    "logistic": _ModelKind(
        "logistic regression",
        f"{_SUM_OF_WEIGHTS} to the log-odds of the classes, from which probabilities follow.",
        _regression_settings,
    ),
    "regression": _ModelKind(
        "linear regression", f"{_SUM_OF_WEIGHTS} to the number that is predicted.", _regression_settings
    ),
    "threshold": _ModelKind("threshold", "It compares one number with one cut.", _threshold_settings),
    "linear": _ModelKind(
        "linear classifier",
        f"{_SUM_OF_WEIGHTS} to the score of each class; the greatest wins.",
        _linear_settings,
    ),
}

MAX_FEATURE_LENGTH = 120
MAX_FEATURE_CLASSES = 12
OUTLIER_RATIO = 10  # times as long as the next one: a bar that is cut


@dataclass(frozen=True)
class FeatureStrength:
    """One feature with its strength; `own` and `rest` tell where it is seen, if that was counted."""

    name: str
    amount: float
    told: str
    own: str
    rest: str


@dataclass(frozen=True)
class ClassFeatures:
    """What speaks for one class, or raises or lowers a number; `longest` is where bars are cut, if any."""

    title: str
    features: tuple[FeatureStrength, ...]
    longest: float | None


@dataclass(frozen=True)
class StrongestFacts:
    """The strongest features, side by side; `unit` is what strengths are measured in."""

    unit: str
    meaning: str
    sides: tuple[ClassFeatures, ...]
    left_out: int


def strongest_facts(model: Any, most: int) -> StrongestFacts:
    """Collect the strongest features of every class (of the first dozen)."""
    found = strongest(model, None, most)
    pairs = list(found.classes.items())
    counted = any(hasattr(each, "nats") for _, features in pairs for each in features)
    sides = tuple(
        _class_features(found.class_title(label), features) for label, features in pairs[:MAX_FEATURE_CLASSES]
    )
    meaning = (
        "A strength is the evidence, in nats, that a value gives for the class against all others together."
        if counted
        else "A weight is what one unit of the feature adds."
    )
    return StrongestFacts(
        "nats" if counted else "weight", meaning, sides, max(0, len(pairs) - MAX_FEATURE_CLASSES)
    )


def _class_features(title: str, found: Any) -> ClassFeatures:
    features = tuple(_feature_strengths(found))
    return ClassFeatures(truncate(title, MAX_FEATURE_LENGTH), features, _bar_limit(features))


def _bar_limit(features: tuple[FeatureStrength, ...]) -> float | None:
    """Where bars are cut so that the others can be seen: half as long again as the longest of those."""
    known = [abs(each.amount) for each in features if isinstance(each.amount, float)]
    for size, below in pairwise(sorted(known, reverse=True)):
        if size > OUTLIER_RATIO * below > 0:
            return 1.5 * below
    return None


def _feature_strengths(features: Any) -> Iterator[FeatureStrength]:
    for each in features:
        if hasattr(each, "nats"):
            write = _format_mean if each.is_number else format_percent
            name = truncate(each.name, MAX_FEATURE_LENGTH)
            yield FeatureStrength(
                name, to_json_value(each.nats), format_signed(each.nats), write(each.own), write(each.rest)
            )
        else:
            told = f"{each.weight:+.4g}".replace("-", "−")
            yield FeatureStrength(
                truncate(each.feature, MAX_FEATURE_LENGTH), each.weight, told, EMPTY_CELL, EMPTY_CELL
            )


def _format_mean(number: float) -> str:
    return f"mean {format_float(number)}"
