"""The options of requests: those of a JSON body beside its rows, and those of the query."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from weigh import errors
from weigh.model.decision import Decision
from weigh.serve.answers import ExplainOptions, PredictOptions, Predictor
from weigh.serve.http.problems import Problem

MAX_OPTION_FIELDS = 32
MAX_COUNT = 1_000_000
_FLAGS = {"true": True, "1": True, "false": False, "0": False}


class Option(NamedTuple):
    """What an option must be, and the function that returns its value, or None if it is something else."""

    must: str
    read: Callable[[Any], Any]


def _read_flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else _FLAGS.get(value) if isinstance(value, str) else None


def _read_cost(value: Any) -> float | None:
    try:
        number = None if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if number is not None and 0 <= number < float("inf") else None


def _read_count(value: Any) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value[:9])
    is_count = isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MAX_COUNT
    return value if is_count else None


def _read_costs(value: Any) -> list[tuple[Any, Any, float]] | None:
    if not isinstance(value, list) or not all(
        isinstance(each, dict) and each.keys() == {"true", "verdict", "cost"} for each in value
    ):
        return None
    costs = [(each["true"], each["verdict"], _read_cost(each["cost"])) for each in value]
    return None if any(cost is None for _, _, cost in costs) else costs  # type: ignore[return-value]


def _read_prior(value: Any) -> Any:
    is_mapping = isinstance(value, dict) and all(_read_cost(each) is not None for each in value.values())
    return value if value == "uniform" or is_mapping else None


def _read_worked(value: Any) -> str | None:
    flag = _read_flag(value)
    return value if value in ("text", "latex") else None if flag is None else "text" * flag


def _read_label(value: Any) -> Any:
    return value if isinstance(value, str | int | float) else None


def _read_id(value: Any) -> str | None:
    return value if isinstance(value, str) and 0 < len(value) <= 200 else None


FLAG = Option("true or false", _read_flag)
ID = Option("a text of 1 to 200 characters", _read_id)
PREDICT_OPTIONS = {
    "id": ID,
    "unsure": Option("a number of at least 0", _read_cost),
    "costs": Option('a list such as [{"true": "ham", "verdict": "spam", "cost": 20}]', _read_costs),
    "class_prior": Option("an object of one probability per class, or 'uniform'", _read_prior),
    "predictive": FLAG,
    "check": FLAG,
    "std": FLAG,
}
EXPLAIN_OPTIONS = {
    "id": ID,
    "worked": Option("true, false, 'text' or 'latex'", _read_worked),
    "flip": FLAG,
    "to": Option("a class", _read_label),
    "most": Option("a number of at least 1", _read_count),
    "spans": FLAG,
}
CHANGE_OPTIONS = {"id": ID}


def read_options(body: Mapping[str, Any], query_string: bytes, known: Mapping[str, Option]) -> dict[str, Any]:
    """Return the options of a body and of a query by name, or raise the problem 422."""
    given = dict(body)
    if query_string:
        try:
            pairs = parse_qsl(query_string.decode(), keep_blank_values=True, max_num_fields=MAX_OPTION_FIELDS)
        except ValueError:
            raise Problem(400, "The query of the address cannot be read.") from None
        given |= dict(pairs)
    return {name: _read_option(name, value, known) for name, value in given.items()}


def _read_option(name: str, value: Any, known: Mapping[str, Option]) -> Any:
    if name not in known:
        suggestion = errors.did_you_mean(name, known)
        listed = ", ".join(known)
        raise Problem(
            422, f"There is no option {errors.one_line_repr(name)}; there are rows, {listed}.{suggestion}"
        )
    option = known[name]
    read = option.read(value)
    if read is None:
        raise Problem(422, f"{name} must be {option.must}, got {errors.one_line_repr(value)}.")
    return read


def predict_options(options: Mapping[str, Any], predictor: Predictor) -> PredictOptions:
    """Return how to predict."""
    if options.keys().isdisjoint(PREDICT_OPTIONS.keys() - {"id"}):
        return PredictOptions()
    decision = None
    predictive = options.get("predictive", False)
    prior = options.get("class_prior")
    if not options.keys().isdisjoint({"unsure", "costs", "class_prior"}):
        _check_classes(predictor)
        find = predictor.class_of
        costs = {(find(true), find(said)): cost for true, said, cost in options.get("costs", ())}
        if isinstance(prior, Mapping):
            prior = {find(name): float(share) for name, share in prior.items()}
        decision = Decision(costs or None, prior, options.get("unsure"))
    return PredictOptions(decision, predictive, options.get("check", False), options.get("std", False))


def _check_classes(predictor: Predictor) -> None:
    if not hasattr(predictor.model, "classes"):
        raise errors.Unsupported(
            "A regression predicts numbers, not classes, so unsure, costs and class_prior cannot be used."
        )


def explain_options(options: Mapping[str, Any]) -> ExplainOptions:
    """Return what to add to explanations."""
    return ExplainOptions(
        options.get("worked") or None,
        options.get("flip", False),
        options.get("to"),
        options.get("most"),
        options.get("spans", True),
    )
