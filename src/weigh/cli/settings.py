"""Parsers of --set and --kind, which never execute anything."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import click

from weigh import errors
from weigh import parameters as constraints
from weigh.features.kind_registry import KINDS_BY_NAME
from weigh.features.kinds import Kind
from weigh.parameters import Constraint, ParameterTable, kinds
from weigh.parameters.learners import LEARNERS
from weigh.priors.beta import Beta
from weigh.priors.dirichlet import Dirichlet
from weigh.priors.location_scale import Laplace, Normal
from weigh.priors.penalty import Penalty

if TYPE_CHECKING:
    from weigh.source.base import Source


def read_settings(given: Iterable[str], learner: str, option: str = "--set") -> dict[str, Any]:
    """The parameters of a learner from texts such as prior=2 or prior.age=beta:2,2."""
    known = LEARNERS[learner].settings
    settings: dict[str, Any] = {}
    for text in given:
        name, separator, value = text.partition("=")
        name, _, column = name.strip().partition(".")
        if not separator or name not in known:
            raise _usage_error(
                f"{text!r} is not NAME=VALUE with a parameter of {learner}: {_list_names(known)}."
                f"{errors.did_you_mean(name, known)}",
                option,
            )
        parsed = _read_value(known[name].allowed, value, option)
        if not column:
            settings[name] = parsed
            continue
        by_column = settings.setdefault(name, {})
        if not known[name].allowed.by_column or not isinstance(by_column, dict):
            raise _usage_error(
                f"{text!r}: only prior can be set per column, and not for all columns too.", option
            )
        by_column[column] = parsed
    return settings


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
            raise _usage_error(f"{text!r} is not COLUMN=KIND.", "--kind")
        unknown = word.partition(":")[0]
        near = errors.did_you_mean(unknown, KINDS_BY_NAME)
        raise _usage_error(f"{unknown!r} is not a kind: {_list_names(KINDS_BY_NAME)}.{near}", "--kind")
    name, word, options = match.groups()
    known = kinds.KINDS[word].settings if word in kinds.KINDS else {}
    settings: dict[str, Any] = {}
    for option in filter(None, (options or "").split(",")):
        key, _, value = option.partition("=")
        if key not in known or not value:
            near = errors.did_you_mean(key, known)
            raise _usage_error(
                f"{option!r} is not a setting of {word}: {_list_names(known)}.{near}", "--kind"
            )
        settings[key] = _read_value(known[key].allowed, value, "--kind")
    return name, KINDS_BY_NAME[word](**settings)


def _usage_error(message: str, option: str = "--set") -> click.BadParameter:
    return click.BadParameter(message, param_hint=f"'{option}'")


def _list_names(known: Iterable[str]) -> str:
    return ", ".join(known) or "it has none"


def _read_value(allowed: Constraint, text: str, option: str) -> Any:
    """Parse a value in the form that a constraint allows; the constraint itself is checked later."""
    try:
        return _READERS[type(allowed)](allowed, text.strip())
    except click.BadParameter as error:
        raise _usage_error(f"{error.message}{errors.did_you_mean(text, allowed.words)}", option) from None


def _read_word(allowed: Constraint, text: str) -> str | None:
    return None if text.lower() == "none" else text


def _read_flag(allowed: constraints.Flag, text: str) -> bool | str:
    words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
    if text in allowed.words:
        return text
    if text.lower() not in words:
        raise click.BadParameter(f"{text!r} is neither true nor false.")
    return words[text.lower()]


def _read_number(allowed: Constraint | None, text: str) -> Any:
    """Parse a number or a word that is allowed instead; without a constraint, 1/3 is an exact fraction."""
    words = allowed.words if allowed else ()
    if text in words or (None in words and text.lower() == "none"):
        return text if text in words else None
    try:
        # Not Fraction(text): 1e999999999 would take all memory.
        number = Fraction(text) if re.fullmatch(r"[+-]?\d+(/\d+)?", text) else float(text)
        if number == int(number):
            return int(number)
        return number if allowed is None else float(number)
    except OverflowError:
        return float(text)
    except (ValueError, ZeroDivisionError):
        raise click.BadParameter(f"{text!r} is not a number.") from None


def _read_json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as cause:
        raise click.BadParameter(f"{text!r} is not JSON ({cause}).") from None


def _read_class_weight(allowed: Constraint, text: str) -> Any:
    return _read_json(text) if text.startswith("{") else _read_word(allowed, text)


def _read_count_prior(allowed: Constraint, text: str) -> Any:
    """Parse a prior of counts: 2, none, dirichlet:2, beta:2,2, or JSON by column."""
    if text.startswith("{"):
        return {name: _read_count_prior(allowed, str(value)) for name, value in _read_json(text).items()}
    word, _, rest = text.partition(":")
    if word.lower() == "none":
        return None
    if word.lower() == "dirichlet" and rest.lstrip().startswith(("{", "[")):
        return Dirichlet(_read_json(rest))
    try:
        if word.lower() == "dirichlet":
            return Dirichlet(_read_number(None, rest.strip()))
        if word.lower() == "beta" and rest.count(",") == 1:
            return Beta(*(_read_number(None, part.strip()) for part in rest.split(",")))
        return _read_number(None, text)
    except click.BadParameter as error:
        raise click.BadParameter(f"{error.message} A prior is {allowed.option_wording}.") from None


def _read_class_prior(allowed: Constraint, text: str) -> Any:
    if text in allowed.words:
        return text
    return _read_json(text) if text.startswith("{") else _read_count_prior(allowed, text)


def _read_weight_prior(allowed: Constraint, text: str) -> Any:
    """Parse a prior of weights: 2, none, normal:2, laplace:cv, penalty:l1=1,l2=2, or JSON by column."""
    if text.startswith("{"):
        return {name: _read_weight_prior(allowed, str(value)) for name, value in _read_json(text).items()}
    if text.lower() in getattr(allowed, "words", ()):
        return text.lower()
    word, separator, rest = text.partition(":")
    if word.lower() == "none" and not separator:
        return None
    advice = f"{text!r} is not understood. A prior of weights is {allowed.option_wording}."
    distribution = _DISTRIBUTIONS.get(word.lower())
    if distribution is not None:
        scale = rest.strip().lower()
        return distribution(scale if scale in distribution.scale_methods else _read_float(rest, advice))
    if word.lower() != "penalty":
        return _read_float(text, advice)
    penalties: dict[str, Any] = {}
    for part in rest.split(","):
        name, _, value = (text.strip() for text in part.partition("="))
        if name not in ("l1", "l2") and (name, value) != ("scale", "cv"):
            raise click.BadParameter(advice)
        penalties[name] = value if name == "scale" else _read_float(value, advice)
    return Penalty(**penalties)


def _read_noise(allowed: Constraint, text: str) -> Any:
    """Parse a noise distribution: normal, laplace:2, ..."""
    word, separator, rest = text.partition(":")
    advice = f"Noise is {allowed.option_wording}."
    distribution = _DISTRIBUTIONS.get(word.lower())
    if distribution is None:
        raise click.BadParameter(f"{text!r} is not a noise distribution. {advice}")
    if not separator:
        return word.lower()
    return distribution(_read_float(rest, f"{text!r} is not understood. {advice}"))


def _read_float(text: str, advice: str) -> float:
    numerator, _, denominator = text.partition("/")
    try:
        return float(numerator) / float(denominator or 1)
    except (ValueError, ZeroDivisionError):
        raise click.BadParameter(advice) from None


def _read_list(allowed: Constraint, text: str) -> tuple[str, ...]:
    return tuple(text.split("|"))


def _read_pairs(allowed: Constraint, text: str) -> Any:
    """Parse pairs of columns: auto, none, their number, or a*b|c*d."""
    return _read_number(allowed, text) if "*" not in text else text


def _read_stop_words(allowed: Constraint, text: str) -> Any:
    return text if text in allowed.words else _read_list(allowed, text)


def _read_bins(allowed: Constraint, text: str) -> Any:
    cuts = [_read_number(None, part.strip()) for part in text.split("|")]
    return tuple(cuts) if len(cuts) > 1 else cuts[0]


def _read_curve_bins(allowed: Constraint, text: str) -> Any:
    return text if text in allowed.words else _read_bins(allowed, text)


def _read_ngrams(allowed: Constraint, text: str) -> tuple[Any, Any]:
    low, _, high = text.partition("-")
    return _read_number(None, low), _read_number(None, high or low)


def _read_buckets(allowed: Constraint, text: str) -> Any:
    power = re.fullmatch(r"2(?:\*\*|\^)(\d{1,2})", text)
    return 2 ** int(power[1]) if power else _read_number(None, text)


_DISTRIBUTIONS: dict[str, Any] = {"normal": Normal, "laplace": Laplace}
_READERS: dict[type[Constraint], Callable[[Any, str], Any]] = {
    constraints.Flag: _read_flag,
    constraints.OneOf: _read_word,
    constraints.WholeNumber: _read_number,
    constraints.RealNumber: _read_number,
    constraints.ColumnName: _read_word,
    constraints.ClassWeights: _read_class_weight,
    constraints.CountPrior: _read_count_prior,
    constraints.CellPrior: _read_count_prior,
    constraints.ClassPriors: _read_class_prior,
    constraints.WeightPriors: _read_weight_prior,
    constraints.AutomaticWeightPriors: _read_weight_prior,
    constraints.Noise: _read_noise,
    constraints.PairsOfColumns: _read_pairs,
    kinds.ReferenceLevel: _read_word,
    kinds.Levels: _read_list,
    kinds.Bins: _read_bins,
    kinds.CurveBins: _read_curve_bins,
    kinds.DateParts: _read_list,
    kinds.TimeZone: _read_word,
    kinds.NgramRange: _read_ngrams,
    kinds.StopWords: _read_stop_words,
    kinds.Buckets: _read_buckets,
}


def match_classes(parameters: Mapping[str, Any], labels: Iterable[Any]) -> dict[str, Any]:
    """Replace the classes in parameters, which are strings in JSON, by the labels with these names."""
    known = {str(label): label for label in labels}
    return {
        name: {known.get(key, key): share for key, share in value.items()}
        if name in ("class_prior", "class_weight") and isinstance(value, dict)
        else value
        for name, value in parameters.items()
    }


# Imported on use: regressions load solvers that counting does not need.
_TASKS = {
    ("naive-bayes", None): ("weigh.learn", "BayesTask"),
    ("joint", None): ("weigh.learn", "JointTask"),
    ("perceptron", None): ("weigh.learn", "PerceptronTask"),
    ("threshold", None): ("weigh.learn", "ThresholdTask"),
    ("logistic", "exact"): ("weigh.learn.logistic_regression", "LogisticTask"),
    ("logistic", "online"): ("weigh.learn.sgd", "OnlineLogisticTask"),
    ("linear", None): ("weigh.learn.linear_regression", "LinearTask"),
}


def make_task(
    learner: str,
    source: Source,
    parameters: Mapping[str, Any],
    kinds: tuple[str, ...],
    missing: tuple[str, ...],
) -> Any:
    """Return the task of a learner for a source, with parameters that `read_settings` parsed."""
    from weigh.source.chunk import to_pylist

    method = None
    if "method" in LEARNERS[learner].settings:
        method = LEARNERS[learner].check_value("method", parameters.get("method", "exact"))
        _check_method(LEARNERS[learner], method, parameters)
    if any(isinstance(value, dict) for value in parameters.values()):
        parameters = match_classes(parameters, dict.fromkeys(to_pylist(source.prefix().labels)))
    module, name = _TASKS[learner, method]
    task = getattr(importlib.import_module(module), name)
    return task.for_source(source, read_kinds(kinds) or "auto", missing=missing, **parameters)


def _check_method(table: ParameterTable, method: str, given: Iterable[str]) -> None:
    """Raise a usage error for parameters that only another method has."""
    names = [name for name in table.settings if name not in table.for_method(method).names]
    if any(name in given for name in names):
        other = next(each.method for each in table if each.name in names)
        need, them = ("needs", "it") if len(names) == 1 else ("need", "them")
        listed = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
        raise _usage_error(f"{listed} {need} method={other}; add that, or leave {them} out.")
