"""Load models from files."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from weigh import errors
from weigh import model as families
from weigh.advice import Step
from weigh.features.kind_registry import Derived
from weigh.features.schema import Schema
from weigh.model.file import store

SPELLER_TYPE = "speller"  # the type of files written by weigh.Speller
# The classes by their `type_name`; a class is imported when the first model of its type is loaded.
CLASSIFIER_TYPES = {
    "naive-bayes": "BayesModel",
    "joint-bayes": "JointModel",
    "linear": "LinearModel",
    "logistic": "LogisticModel",
    "perceptron": "PerceptronModel",
    "threshold": "ThresholdModel",
    "voted": "VotedModel",
}
MODEL_TYPES = {**CLASSIFIER_TYPES, "calibrated": "CalibratedModel", "regression": "RegressionModel"}


def load(
    path: str | os.PathLike[str],
    *,
    derived: Mapping[str, Callable[..., Any]] | None = None,
    check: bool = True,
) -> Any:
    """Load a model from a file. No code in the file is executed.

    `derived` maps the names of derived columns to their functions, which are not saved. Names, shapes and
    numbers are always checked; `check=False` leaves out the digest of the data, which takes about 1 ms per
    megabyte.
    """
    return build_model(store.read(path, check), derived)


def build_model(stored: store.FileContent, derived: Mapping[str, Callable[..., Any]] | None = None) -> Any:
    """Build the model that a file contains, as `load` does."""
    if stored.meta.get("model") == SPELLER_TYPE:
        raise errors.ModelFileError(
            f"{stored.path} contains a speller, not a model.",
            hint=Step("speller instead of model", f"Open it with weigh.Speller.load({stored.path!r})."),
        )
    with store.report_damage(stored.path):
        model_type = find_model_type(stored.meta["model"], MODEL_TYPES)
        if model_type is None:
            raise store.damaged_file_error(
                stored.path, f"it holds an unknown kind of model, {stored.meta['model']!r}"
            )
        schema = Schema.from_json(stored.meta["schema"])
    schema = _attach_functions(schema, derived or {})
    with store.report_damage(stored.path):
        return model_type.from_store(stored, schema)


def find_model_type(type_name: object, class_names: Mapping[str, str]) -> Any:
    """Return the class of models with this `type_name`, or None if it is unknown."""
    class_name = class_names.get(str(type_name))
    return class_name and getattr(families, class_name)


def _attach_functions(schema: Schema, functions: Mapping[str, Callable[..., Any]]) -> Schema:
    for name in functions:
        if not isinstance(schema.made.get(name), Derived):
            raise errors.unknown_column_error(name, schema.made, "The model's derived columns: it")
    made = {
        name: replace(kind, function=functions[name])
        if isinstance(kind, Derived) and name in functions
        else kind
        for name, kind in schema.made.items()
    }
    return replace(schema, made=made)
