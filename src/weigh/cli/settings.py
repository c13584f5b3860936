"""What users write after --set and --kind, read without executing anything."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from fractions import Fraction
from typing import Any

import click

from weigh import errors
from weigh.cli.weight_settings import bad_set, noise, weight_prior
from weigh.features.kinds import Kind
from weigh.features.naming import KINDS
from weigh.priors import Beta, Dirichlet

LEARNERS = {
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
WEIGHTED = ("logistic", "linear")  # learners whose prior is one of weights


def read_settings(given: Iterable[str], learner: str) -> dict[str, Any]:
    """The parameters of a learner from texts such as prior=2 or prior.age=beta:2,2."""
    known = LEARNERS[learner]
    readers = _READERS | (_OF_WEIGHTS if learner in WEIGHTED else {})
    settings: dict[str, Any] = {}
    for text in given:
        name, separator, value = text.partition("=")
        name, _, column = name.strip().partition(".")
        if not separator or name not in known:
            raise bad_set(f"{text!r} is not NAME=VALUE with a parameter of {learner}: {_names(known)}.")
        if column:
            own = settings.setdefault(name, {})
            if name != "prior" or not isinstance(own, dict):
                raise bad_set(f"{text!r}: only prior can be given per column, and then only so.")
            own[column] = readers[name](value)
        else:
            settings[name] = readers[name](value)
    return settings


def _names(known: Sequence[str]) -> str:
    return ", ".join(known) if known else "it has none"


def _prior(text: str) -> Any:
    word, _, rest = text.strip().partition(":")
    if word.lower() == "none":
        return None
    if word.lower() == "dirichlet":
        return Dirichlet(_json(rest) if rest.lstrip().startswith(("{", "[")) else _number(rest))
    if word.lower() == "beta" and rest.count(",") == 1:
        return Beta(*(_number(part) for part in rest.split(",")))
    if text.lstrip().startswith("{"):
        return {name: _prior(str(value)) for name, value in _json(text).items()}
    return _number(text)


def _class_prior(text: str) -> Any:
    if text.strip() == "uniform":
        return "uniform"
    return _json(text) if text.lstrip().startswith("{") else _prior(text)


def _number(text: str) -> int | float | Fraction:
    try:
        number = Fraction(text.strip())
        if number.denominator == 1:
            return int(number)
        return number if "/" in text else float(text)
    except (ValueError, ZeroDivisionError):
        raise bad_set(
            f"{text!r} is not a number. A prior is a number, none, dirichlet:B or beta:A,B."
        ) from None


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as cause:
        raise bad_set(f"{text!r} is not JSON ({cause}).") from None


def _flag(text: str) -> bool:
    words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
    if text.strip().lower() not in words:
        raise bad_set(f"{text!r} is neither true nor false.")
    return words[text.strip().lower()]


def _word(text: str) -> str | None:
    return None if text.strip().lower() == "none" else text.strip()


def _plain_number(text: str) -> int | float:
    try:
        number = Fraction(text.strip())
    except (ValueError, ZeroDivisionError):
        raise bad_set(f"{text!r} is not a number.") from None
    return int(number) if number.denominator == 1 else float(number)


def _class_weight(text: str) -> Any:
    return _json(text) if text.lstrip().startswith("{") else _word(text)


_READERS: dict[str, Callable[[str], Any]] = {
    "prior": _prior,
    "class_prior": _class_prior,
    "complement": _flag,
    "noise": noise,
    **dict.fromkeys(("keep", "multiclass", "scale", "method", "offset", "calibration"), _word),
    **dict.fromkeys(("margin", "rate", "max_iter", "random_state", "folds", "tol"), _plain_number),
    **dict.fromkeys(("relative", "shuffle", "bias", "record"), _flag),
    "class_weight": _class_weight,
}

_OF_WEIGHTS: dict[str, Callable[[str], Any]] = {
    "prior": weight_prior,
    "rate": lambda text: "safe" if text.strip() == "safe" else _plain_number(text),
    "folds": lambda text: _plain_number(text) if text.strip()[:1].isdigit() else _word(text),
}


def read_kinds(given: Sequence[str]) -> dict[str, Kind] | Kind:
    """The kinds of columns from texts such as age=number or body=text:ngrams=1-2,min_count=2.

    A kind without a column, such as count, is for all columns.
    """
    if len(given) == 1 and re.fullmatch(rf"({'|'.join(KINDS)})(:.*)?", given[0], re.DOTALL):
        return _read_kind(f"all={given[0]}")[1]
    return dict(_read_kind(text) for text in given)


def _read_kind(text: str) -> tuple[str, Kind]:
    # A column's name may hold "=" itself: the kind's word tells where the name ends.
    found = re.fullmatch(rf"(.+?)=({'|'.join(KINDS)})(?::(.*))?", text, re.DOTALL)
    if found is None:
        name, _, word = text.partition("=")
        if not word:
            raise _bad_kind(f"{text!r} is not COLUMN=KIND.")
        wrong = word.partition(":")[0]
        raise _bad_kind(f"{wrong!r} is not a kind: {_names(list(KINDS))}.{errors.hint(wrong, KINDS)}")
    name, word, options = found.groups()
    kind = KINDS[word]
    settings: dict[str, Any] = {}
    for option in (options or "").split(","):
        if option:
            key, _, value = option.partition("=")
            known = [field.name for field in fields(kind)]
            if key not in known or not value:
                raise _bad_kind(f"{option!r} is not a setting of {word}: {_names(known)}.")
            settings[key] = _setting(key, value)
    return name, kind(**settings)


def _bad_kind(message: str) -> click.BadParameter:
    return click.BadParameter(message, param_hint="'--kind'")


def _setting(key: str, value: str) -> Any:
    if key == "levels":
        return tuple(value.split("|"))
    if key == "ngrams":
        low, _, high = value.partition("-")
        return int(_kind_number(low)), int(_kind_number(high or low))
    if key in ("counts", "lowercase", "strip_accents", "powers") or (key == "chars" and value != "words"):
        return _flag(value)
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
        return tuple(float(_kind_number(part)) for part in value.split("|"))
    return _kind_number(value)


def _kind_number(text: str) -> int | float:
    try:
        return int(text) if re.fullmatch(r"[+-]?\d+", text) else float(text)
    except ValueError:
        raise _bad_kind(f"{text!r} is not a number.") from None


def match_classes(class_prior: Any, labels: Iterable[Any]) -> Any:
    """A class prior whose keys, texts in JSON, are the classes they name."""
    if not isinstance(class_prior, dict):
        return class_prior
    known = {str(label): label for label in labels}
    return {known.get(name, name): share for name, share in class_prior.items()}
