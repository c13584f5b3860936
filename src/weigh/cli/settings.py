"""Parsers of --set and --kind, which never execute anything."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import click

from weigh import errors
from weigh.features.kind_registry import KINDS_BY_NAME
from weigh.features.kinds import Kind
from weigh.priors.beta import Beta
from weigh.priors.dirichlet import Dirichlet
from weigh.priors.location_scale import Laplace, Normal
from weigh.priors.penalty import Penalty

if TYPE_CHECKING:
    from weigh.source.base import Source

PRIOR_HELP = (
    "A prior of weights is a number, none, normal:S, laplace:T (S, T may be cv) or penalty:l1=A,l2=B."
)
NOISE_HELP = "Noise is normal, laplace, normal:SIGMA or laplace:B."


def read_weight_prior(text: str) -> Any:
    """Parse a prior of weights: 2, none, normal:2, laplace:cv, penalty:l1=1,l2=2, or JSON by column."""
    word, separator, rest = text.strip().partition(":")
    if text.lstrip().startswith("{"):
        return {name: read_weight_prior(str(value)) for name, value in _read_json(text).items()}
    if word.lower() == "none" and not separator:
        return None
    reader = _PRIOR_READERS.get(word.lower())
    if reader is None:
        return _read_fraction(text, text, PRIOR_HELP)
    return reader(rest, text)


def read_noise(text: str) -> Any:
    """Parse a noise distribution: normal, laplace:2, ..."""
    word, separator, rest = text.strip().partition(":")
    if word.lower() not in _NOISE_DISTRIBUTIONS:
        raise set_error(f"{text!r} is not a noise distribution. {NOISE_HELP}")
    if not separator:
        return word.lower()
    return _NOISE_DISTRIBUTIONS[word.lower()](_read_fraction(rest, text, NOISE_HELP))


def set_error(message: str) -> click.BadParameter:
    """Return the error for a value of --set."""
    return click.BadParameter(message, param_hint="'--set'")


def _read_json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as cause:
        raise set_error(f"{text!r} is not JSON ({cause}).") from None


def _read_fraction(part: str, text: str, advice: str) -> float:
    numerator, _, denominator = part.partition("/")
    try:
        # Not Fraction: 1e999999999 would take all memory.
        return float(numerator) / float(denominator or 1)
    except (ValueError, ZeroDivisionError):
        raise set_error(f"{text!r} is not understood. {advice}") from None


def _read_normal(rest: str, text: str) -> Normal:
    word = rest.strip().lower()
    return Normal(word if word in Normal.scale_methods else _read_fraction(rest, text, PRIOR_HELP))


def _read_laplace(rest: str, text: str) -> Laplace:
    word = rest.strip().lower()
    return Laplace(word if word in Laplace.scale_methods else _read_fraction(rest, text, PRIOR_HELP))


def _read_penalty(rest: str, text: str) -> Penalty:
    penalties: dict[str, float] = {}
    for part in rest.split(","):
        name, _, number = part.partition("=")
        if name.strip() not in ("l1", "l2"):
            raise set_error(f"{text!r} is not understood. {PRIOR_HELP}")
        penalties[name.strip()] = _read_fraction(number, text, PRIOR_HELP)
    return Penalty(**penalties)


_PRIOR_READERS: dict[str, Callable[[str, str], Any]] = {
    "normal": _read_normal,
    "laplace": _read_laplace,
    "penalty": _read_penalty,
}
_NOISE_DISTRIBUTIONS: dict[str, Callable[[float], Any]] = {"normal": Normal, "laplace": Laplace}

SETTINGS_BY_LEARNER = {
    "naive-bayes": ("prior", "class_prior", "complement", "calibration"),
    "joint": ("prior", "class_prior"),
    "perceptron": (
        "keep",
        "margin",
        "relative",
        "rate",
        "max_iter",
        "shuffle",
        "random_state",
        "multiclass",
        "bias",
        "scale",
        "class_weight",
        "record",
    ),
    "threshold": (),
    "logistic": (
        "prior",
        "method",
        "bias",
        "scale",
        "offset",
        "class_weight",
        "folds",
        "tol",
        "max_iter",
        "rate",
        "shuffle",
        "random_state",
    ),
    "linear": ("prior", "noise", "bias", "scale", "offset", "folds", "tol", "max_iter"),
}
REGRESSION_LEARNERS = ("logistic", "linear")  # learners whose prior is one of weights


def read_settings(given: Iterable[str], learner: str) -> dict[str, Any]:
    """The parameters of a learner from texts such as prior=2 or prior.age=beta:2,2."""
    known = SETTINGS_BY_LEARNER[learner]
    readers = _READERS | (_REGRESSION_READERS if learner in REGRESSION_LEARNERS else {})
    settings: dict[str, Any] = {}
    for text in given:
        name, separator, value = text.partition("=")
        name, _, column = name.strip().partition(".")
        if not separator or name not in known:
            raise set_error(
                f"{text!r} is not NAME=VALUE with a parameter of {learner}: {_list_names(known)}."
            )
        if column:
            by_column = settings.setdefault(name, {})
            if name != "prior" or not isinstance(by_column, dict):
                raise set_error(f"{text!r}: only prior can be set per column, and not for all columns too.")
            by_column[column] = readers[name](value)
        else:
            settings[name] = readers[name](value)
    return settings


def _list_names(known: Sequence[str]) -> str:
    return ", ".join(known) if known else "it has none"


def _read_prior(text: str) -> Any:
    word, _, rest = text.strip().partition(":")
    if word.lower() == "none":
        return None
    if word.lower() == "dirichlet":
        return Dirichlet(
            _read_json(rest) if rest.lstrip().startswith(("{", "[")) else _read_exact_number(rest)
        )
    if word.lower() == "beta" and rest.count(",") == 1:
        return Beta(*(_read_exact_number(part) for part in rest.split(",")))
    if text.lstrip().startswith("{"):
        return {name: _read_prior(str(value)) for name, value in _read_json(text).items()}
    return _read_exact_number(text)


def _read_class_prior(text: str) -> Any:
    if text.strip() == "uniform":
        return "uniform"
    return _read_json(text) if text.lstrip().startswith("{") else _read_prior(text)


def _read_exact_number(text: str) -> int | float | Fraction:
    try:
        number = Fraction(text.strip())
        if number.denominator == 1:
            return int(number)
        return number if "/" in text else float(text)
    except (ValueError, ZeroDivisionError):
        raise set_error(
            f"{text!r} is not a number. A prior is a number, none, dirichlet:B or beta:A,B."
        ) from None


def _read_flag(text: str) -> bool:
    words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
    if text.strip().lower() not in words:
        raise set_error(f"{text!r} is neither true nor false.")
    return words[text.strip().lower()]


def _read_word(text: str) -> str | None:
    return None if text.strip().lower() == "none" else text.strip()


def _read_number(text: str) -> int | float:
    try:
        number = Fraction(text.strip())
    except (ValueError, ZeroDivisionError):
        raise set_error(f"{text!r} is not a number.") from None
    return int(number) if number.denominator == 1 else float(number)


def _read_class_weight(text: str) -> Any:
    return _read_json(text) if text.lstrip().startswith("{") else _read_word(text)


_READERS: dict[str, Callable[[str], Any]] = {
    "prior": _read_prior,
    "class_prior": _read_class_prior,
    "complement": _read_flag,
    "noise": read_noise,
    **dict.fromkeys(("keep", "multiclass", "scale", "method", "offset", "calibration"), _read_word),
    **dict.fromkeys(("margin", "rate", "max_iter", "random_state", "folds", "tol"), _read_number),
    **dict.fromkeys(("relative", "shuffle", "bias", "record"), _read_flag),
    "class_weight": _read_class_weight,
}

_REGRESSION_READERS: dict[str, Callable[[str], Any]] = {
    "prior": read_weight_prior,
    "rate": lambda text: "safe" if text.strip() == "safe" else _read_number(text),
    "folds": lambda text: _read_number(text) if text.strip()[:1].isdigit() else _read_word(text),
}


def read_kinds(texts: Sequence[str]) -> dict[str, Kind] | Kind:
    """Parse kinds of columns such as age=number or body=text:ngrams=1-2,min_count=2.

    A single kind without a column, such as count, applies to all columns.
    """
    if len(texts) == 1 and re.fullmatch(rf"({'|'.join(KINDS_BY_NAME)})(:.*)?", texts[0], re.DOTALL):
        return _read_kind(f"all={texts[0]}")[1]
    return dict(_read_kind(text) for text in texts)


def _read_kind(text: str) -> tuple[str, Kind]:
    # A column's name may contain "="; it ends before the name of a kind.
    match = re.fullmatch(rf"(.+?)=({'|'.join(KINDS_BY_NAME)})(?::(.*))?", text, re.DOTALL)
    if match is None:
        name, _, word = text.partition("=")
        if not word:
            raise _kind_error(f"{text!r} is not COLUMN=KIND.")
        unknown = word.partition(":")[0]
        near = errors.did_you_mean(unknown, KINDS_BY_NAME)
        raise _kind_error(f"{unknown!r} is not a kind: {_list_names(list(KINDS_BY_NAME))}.{near}")
    name, word, options = match.groups()
    kind = KINDS_BY_NAME[word]
    settings: dict[str, Any] = {}
    for option in (options or "").split(","):
        if option:
            key, _, value = option.partition("=")
            known = [field.name for field in fields(kind)]
            if key not in known or not value:
                raise _kind_error(f"{option!r} is not a setting of {word}: {_list_names(known)}.")
            settings[key] = _read_kind_setting(key, value)
    return name, kind(**settings)


def _kind_error(message: str) -> click.BadParameter:
    return click.BadParameter(message, param_hint="'--kind'")


def _read_kind_setting(key: str, value: str) -> Any:
    if key == "levels":
        return tuple(value.split("|"))
    if key == "ngrams":
        low, _, high = value.partition("-")
        return int(_read_kind_number(low)), int(_read_kind_number(high or low))
    if key in ("counts", "lowercase", "strip_accents", "powers") or (key == "chars" and value != "words"):
        return _read_flag(value)
    if key == "stop_words" and value != "english":
        return tuple(value.split("|"))
    if key in ("chars", "stop_words", "against", "scale"):
        return value
    power = re.fullmatch(r"2(?:\*\*|\^)(\d{1,2})", value)
    if key == "buckets" and power:
        return 2 ** int(power[1])
    if key == "spread" and value in ("own", "shared"):
        return value
    if key == "bins" and "|" in value:
        return tuple(float(_read_kind_number(part)) for part in value.split("|"))
    return _read_kind_number(value)


def _read_kind_number(text: str) -> int | float:
    try:
        return int(text) if re.fullmatch(r"[+-]?\d+", text) else float(text)
    except ValueError:
        raise _kind_error(f"{text!r} is not a number.") from None


def match_classes(class_prior: Any, labels: Iterable[Any]) -> Any:
    """Replace the keys of a class prior, strings in JSON, by the classes with these names."""
    if not isinstance(class_prior, dict):
        return class_prior
    known = {str(label): label for label in labels}
    return {known.get(name, name): share for name, share in class_prior.items()}


ONLINE_SETTINGS = ("rate", "shuffle", "random_state")  # only for method=online
# Imported on use: regressions load solvers that counting does not need.
TASKS = {
    "naive-bayes": ("weigh.learn", "BayesTask"),
    "joint": ("weigh.learn", "JointTask"),
    "perceptron": ("weigh.learn", "PerceptronTask"),
    "threshold": ("weigh.learn", "ThresholdTask"),
    "logistic": ("weigh.learn.logistic_regression", "LogisticTask"),
    "linear": ("weigh.learn.linear_regression", "LinearTask"),
}


def make_task(
    learner: str,
    source: Source,
    settings: tuple[str, ...],
    kinds: tuple[str, ...],
    missing: tuple[str, ...],
) -> Any:
    """Return the task of a learner for a source, with settings parsed from text."""
    from weigh.source.chunk import to_pylist

    parameters = read_settings(settings, learner)
    for name in ("class_prior", "class_weight"):
        if isinstance(parameters.get(name), dict):
            labels = list(dict.fromkeys(to_pylist(source.prefix().labels)))
            parameters[name] = match_classes(parameters[name], labels)
    parameters.pop("calibration", None)  # applied after training
    module, name = TASKS[learner]
    method = parameters.pop("method", "exact")
    if method != "exact":
        module, name = "weigh.learn.sgd", "OnlineLogisticTask"
        parameters = _online_parameters(method, parameters)
    elif learner == "logistic" and any(name in parameters for name in ONLINE_SETTINGS):
        raise set_error(f"{_join_names(ONLINE_SETTINGS)} need method=online; add that, or leave them out.")
    task = getattr(importlib.import_module(module), name)
    return task.for_source(source, read_kinds(kinds) or "auto", missing=missing, **parameters)


def _online_parameters(method: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """Convert the parameters of logistic regression to those of its online task."""
    from weigh.learn.sgd import online_penalty

    if method != "online":
        raise set_error(f"method is exact or online, got {method!r}.")
    if "folds" in parameters:
        raise set_error("folds needs method=exact; leave it out.")
    l2 = online_penalty(parameters.get("prior", 1.0), parameters.get("offset"))
    others = {name: value for name, value in parameters.items() if name not in ("prior", "offset")}
    return {**others, "l2": l2}


def _join_names(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"
