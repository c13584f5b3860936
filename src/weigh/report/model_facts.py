"""What the model is: its kind, its classes, what it learned from, its settings in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from weigh import __version__
from weigh.report.facts import Fact
from weigh.text import amount, counted, cut, short

MOST_CLASSES = 50
NAME = 200


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
    settings: tuple[Fact, ...]
    file: str | None
    digest: str
    version: str


@dataclass(frozen=True)
class _Kind:
    """How a kind of model is told: its name, one sentence on how it decides, its settings."""

    name: str
    sentence: str
    settings: Callable[[Any], Iterator[Fact]]


def model_facts(model: Any, file: str | None, digest: str) -> ModelFacts:
    """Collect what a model of this library or of scikit-learn is."""
    given = getattr(model, "model_", model)
    ours = getattr(given, "uncalibrated", given)
    kind = _KINDS.get(getattr(ours, "type_name", ""), _other(model))
    shares = _shares(ours, model)
    rows = _rows(ours)
    schema = getattr(ours, "schema", None)
    return ModelFacts(
        kind.name,
        kind.sentence,
        _calibrated(given),
        getattr(ours, "label", None),
        rows,
        getattr(ours, "n_parameters", None),
        getattr(model, "n_features_in_", None) if schema is None else len(schema.names),
        tuple(shares[:MOST_CLASSES]),
        len(shares),
        (*kind.settings(ours), *_calibration(given)),
        file,
        digest,
        __version__,
    )


def _calibrated(model: Any) -> str:
    """What calibration has done, for those who have not heard of it."""
    if not hasattr(model, "calibration"):
        return ""
    return f"Its probabilities were set right by rows it had not learned from ({model.calibration})."


def _calibration(model: Any) -> Iterator[Fact]:
    """How the probabilities were set right, if they were."""
    if hasattr(model, "calibration"):
        yield Fact("calibration", str(model.calibration))
    elif getattr(model, "probable", False):
        yield Fact("calibration", "none: probabilities as they were learned")


def _rows(model: Any) -> float | None:
    """How many rows were learned, or what weight of them."""
    if getattr(model, "stated", False):
        return None
    if hasattr(model, "fit") and hasattr(model.fit, "rows"):
        return float(model.fit.rows)
    run = getattr(model, "certificate", None)
    if run is not None and hasattr(run, "examples"):
        return float(run.examples // max(1, run.passes))
    counted_rows = _counted(model)
    return None if counted_rows is None else float(sum(counted_rows))


def _counted(model: Any) -> list[float] | None:
    """The rows of every class, where they were counted."""
    counts = getattr(model, "counts", None)
    if counts is None or getattr(model, "stated", False):
        return None
    found: list[float] = (counts.rows if hasattr(counts, "rows") else counts.sum(axis=0)).tolist()
    return found


def _shares(ours: Any, model: Any) -> list[ClassShare]:
    labels = list(getattr(ours, "classes", getattr(model, "classes_", [])))
    names = [cut(label, NAME) for label in labels]
    rows = _counted(ours)
    if rows is not None:
        total = sum(rows) or 1.0
        return [ClassShare(name, n, n / total) for name, n in zip(names, rows, strict=True)]
    if hasattr(ours, "shares"):
        return [ClassShare(name, None, s) for name, s in zip(names, ours.shares.tolist(), strict=True)]
    return [ClassShare(name) for name in names]


def _naive(model: Any) -> Iterator[Fact]:
    yield Fact("smoothing", "none: stated numbers" if model.stated else _smoothing(model.prior))
    yield Fact("class prior", _class_prior(model.class_prior))
    if model.complement:
        yield Fact("variant", "complement: each class is weighed by the rows of all others")
    yield Fact("free parameters", amount(model.n_parameters))


def _joint(model: Any) -> Iterator[Fact]:
    yield Fact("smoothing", _smoothing(model.prior))
    yield Fact("class prior", _class_prior(model.class_prior))
    yield Fact("free parameters", amount(model.n_parameters))


def _smoothing(prior: Any) -> str:
    if prior is None:
        return "none: shares as they were counted, zeros included"
    if isinstance(prior, Mapping):
        return "by column: " + ", ".join(
            f"{cut(name, 40)} {_smoothing(each)}" for name, each in prior.items()
        )
    if isinstance(prior, int | float):
        return f"{prior:g} added to every count" + (" (Laplace)" if prior == 1 else "")
    return str(prior)


def _class_prior(given: Any) -> str:
    if given is None:
        return "the classes' shares in training"
    if given == "uniform":
        return "all classes alike"
    if isinstance(given, Mapping):
        shares = (f"{cut(label, 40)} {float(share):.4g}" for label, share in given.items())
        return "as given: " + ", ".join(shares)
    return f"shares smoothed by {given}"


def _perceptron(model: Any) -> Iterator[Fact]:
    run = model.certificate
    yield Fact("kept", f"the {model.kept} hypothesis of the run")
    ended = "converged: the last pass changed nothing" if run.converged else "did not converge"
    yield Fact("run", f"{counted(run.passes, 'pass', 'passes')}, {ended}")
    yield Fact("mistakes while learning", amount(run.mistakes))


def _fitted(model: Any) -> Iterator[Fact]:
    for name, value in model.summary().facts:
        if name != "rows":
            title = f"{name} in training" if name == "R²" else name
            yield Fact(title, "none" if value == "None" else value)


def _threshold(model: Any) -> Iterator[Fact]:
    yield Fact("column", cut(model.column, NAME))
    yield Fact("cut", f"{short(model.cut)}; any from {short(model.low)} to {short(model.high)} does alike")


def _linear(model: Any) -> Iterator[Fact]:
    yield Fact("weights", amount(len(model.features)))


def _other(model: Any) -> _Kind:
    """A classifier or regression of somebody else."""
    name = type(model).__name__
    home = type(model).__module__.split(".")[0]

    def settings(_: Any) -> Iterator[Fact]:
        given = model.get_params(deep=False) if hasattr(model, "get_params") else {}
        for key, value in given.items():
            yield Fact(str(key), cut(repr(value), 160))

    return _Kind(
        f"{name} of {home}", "It was trained elsewhere and is judged by its answers alone.", settings
    )


_SUM = "Every feature of a row adds its weight"
_KINDS = {
    "naive-bayes": _Kind(
        "naive Bayes",
        "It multiplies how often each value occurs in a class, as if columns were independent of each other.",
        _naive,
    ),
    "joint-bayes": _Kind(
        "joint Bayes", "It counts how often all columns' values occur together in each class.", _joint
    ),
    "perceptron": _Kind(
        "perceptron",
        f"{_SUM} to a score and the greatest score wins; scores are no probabilities.",
        _perceptron,
    ),
    "voted": _Kind(
        "voted perceptron", "Every hypothesis of its run votes, as often as it survived a row.", _perceptron
    ),
    "logistic": _Kind(
        "logistic regression",
        f"{_SUM} to the log-odds of the classes, from which probabilities follow.",
        _fitted,
    ),
    "regression": _Kind("linear regression", f"{_SUM} to the number that is predicted.", _fitted),
    "threshold": _Kind("threshold", "It compares one number with one cut.", _threshold),
    "linear": _Kind("linear classifier", f"{_SUM} to the score of each class; the greatest wins.", _linear),
}
