"""How the command line writes the settings and steps that messages of the library recommend."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from typing import Any

from weigh.advice import Advised, Setting, Step


def to_command_line(message: object) -> str:
    """Return a message with its advice as options."""
    return message.render(write_option) if isinstance(message, Advised) else str(message)


def write_option(advice: Setting | Step) -> str:
    """Return the option for a setting, or the text for a step."""
    if isinstance(advice, Step):
        return _write_calls(advice.python) if advice.name == "allowed values" else STEPS[advice.name]
    if advice.owner:
        return _OWNERS.get((advice.owner, advice.parameter), str(advice))
    if not advice.parameter:
        return repr(advice.value) if isinstance(advice.value, str) else _write_value(advice.value)
    return OPTIONS.get(advice.parameter, _write_set)(advice.parameter, advice.value)


def _write_set(parameter: str, value: Any) -> str:
    return f"--set {parameter}={_write_value(value)}"


def _write_calls(wording: str) -> str:
    """Write the calls in a wording as --set takes them; Beta(a, b) is beta:a,b."""
    return re.sub(
        r"([A-Z]\w+)\((.*?)\)", lambda call: f"{call[1].lower()}:{call[2].replace(', ', ',')}", wording
    )


def _write_value(value: Any) -> str:
    """Write a value as --set and --kind take it; Normal(1.0) is normal:1.0."""
    if value is ... or isinstance(value, str):
        return "..." if value is ... else value
    if value is None or isinstance(value, bool):
        return str(value).lower()
    name, _, arguments = repr(value).partition("(")
    return f"{name.lower()}:{arguments[:-1].replace(', ', ',')}".replace("'", "") if arguments else name


def _quote(text: object) -> str:
    quoted = shlex.quote(str(text))
    return quoted if quoted.startswith("'") else f"'{quoted}'"


def _write_flag(parameter: str, value: Any) -> str:
    option = f"--{parameter.replace('_', '-')}"
    return option if value is ... else f"{option} {_quote(value) if isinstance(value, str) else value}"


def _write_kinds(parameter: str, kinds: Any) -> str:
    named = kinds.items() if isinstance(kinds, dict) else ()
    options = [f"--kind {_quote(f'{column}={_write_value(kind)}')}" for column, kind in named]
    return " ".join(options) or f"--kind {kinds}"


def _write_missing(parameter: str, marks: Any) -> str:
    return " ".join(f"--missing {_quote(mark)}" for mark in (marks if isinstance(marks, list) else [marks]))


def _write_scale(parameter: str, value: Any) -> str:
    # The scale of a prior is part of the prior; another scale is that of the numbers.
    return _write_set("scale", value) if value in ("unit", None) else f"--set prior=normal:{value}"


def _write_folds(parameter: str, value: Any) -> str:
    return _write_set(parameter, value) if isinstance(value, str) else _write_flag(parameter, value)


# Parameters with an option of their own; the others are parameters of learners.
OPTIONS: dict[str, Callable[[str, Any], str]] = {
    "columns": _write_kinds,
    "missing": _write_missing,
    "scale": _write_scale,
    "folds": _write_folds,
    "format": lambda _, value: f"--format {value}",
    "baseline": lambda _, value: "--no-baseline",
    "curve": lambda _, value: "--curve",
    "quotes": lambda _, value: "--no-quotes",
    "seen": lambda _, value: "--seen" if value else "--unseen",
    "loss": lambda _, value: f"--loss {value}",
    "strings": lambda _, value: f"--strings {','.join(value)}",
    **dict.fromkeys(
        ("delimiter", "encoding", "decimal", "thousands", "label", "names", "reference", "sheet"), _write_flag
    ),
}

# Parameters of functions that an option names.
_OWNERS = {("measure_learning_curve", "sizes"): "--sizes"}

STEPS = {
    "another socket": "another path: --socket PATH",
    "another store": "another folder (--store DIR)",
    "automatic calibration": "--set calibration=auto",
    "block for a file": "Leave it out, or divide it.",
    "block for a row": "; divide it",
    "block for a quoted row": "Close the quote that is open there.",
    "calibration on other rows": "weigh calibrate MODEL DATA -o NEW",
    "classifiers": "use --learner logistic, naive-bayes or perceptron",
    "drop missing labels": "--drop-missing-labels leaves such rows out.",
    "derived function": "Use the model in Python, which can pass the function.",
    "evaluation": "Look at `weigh evaluate`.",
    "facts alone": "The facts alone (--json)",
    "formats": "--format csv, tsv, excel, parquet, json, fasttext, vw, libsvm or mail",
    "keep averaged": "Train with --set keep=averaged.",
    "largest errors": "`weigh evaluate` lists the rows with the largest errors.",
    "minimum of occurrences": "--at-least",
    "mail to rebuild from": "weigh mail rebuild --spam PATH... --ham PATH...",
    "missing value": "Leave fields of missing values empty.",
    "model instead of speller": "Use it with `weigh predict`, or give the file of `weigh spell learn`.",
    "naive Bayes": "--learner naive-bayes",
    "new store": "weigh mail learn --ham FOLDER --spam FOLDER.",
    "one model per label": ", with one label per row in its file.",
    "probabilities": "calibrate the model with `weigh calibrate`, or train with --learner naive-bayes",
    "rebuild store": "`weigh mail check` and `weigh mail rebuild`.",
    "regression": "use --learner linear",
    "same columns": "Train the second with the --kind options of the first.",
    "share of swaps": "--swap",
    "speller instead of model": "Use it with `weigh spell check`.",
    "standard deviation": "`weigh predict --std` tells how sure it is of them.",
    "store with words": "weigh mail learn --words --store DIR --spam PATH... --ham PATH...",
    "test documents": "give test documents with --on",
    "to open": "",
    "trained model": "Use the model that was calibrated.",
}
