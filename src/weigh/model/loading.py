"""Opening model files: from bytes to the model object they describe."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from weigh import errors
from weigh.features import Derived, Schema
from weigh.model import store
from weigh.model.calibrated import CLASSIFIERS, CalibratedModel
from weigh.model.regression import RegressionModel
from weigh.model.row_model import RowModel

SPELLER = "speller"  # what files of weigh.Speller call themselves
MODELS: dict[str, Any] = {
    **CLASSIFIERS,
    CalibratedModel.type_name: CalibratedModel,
    RegressionModel.type_name: RegressionModel,
}


def load(
    path: str | os.PathLike[str],
    *,
    derived: Mapping[str, Callable[..., Any]] | None = None,
    check: bool | None = None,
) -> Any:
    """Open a model file.

    `derived` gives the functions of derived columns again, by column name. `check` compares all
    data with their digest; left out, files below 16 MiB are compared. Nothing in a file is executed.
    """
    stored = store.read(path, check)
    if stored.meta.get("model") == SPELLER:
        raise errors.ModelFileError(
            f"{stored.path} holds a speller, which judges texts and no rows. "
            f"Open it with weigh.Speller.load({stored.path!r})."
        )
    try:
        kind = MODELS.get(str(stored.meta["model"]))
        if kind is None:
            raise store.damaged(stored.path, f"it holds an unknown kind of model, {stored.meta['model']!r}")
        schema = Schema.from_json(stored.meta["schema"])
        model: RowModel = kind.from_store(stored, _with_functions(schema, derived or {}))
    except errors.WeighError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError, MemoryError) as cause:
        raise store.damaged(
            stored.path, f"its description is incomplete or contradictory ({cause})"
        ) from cause
    return model


def _with_functions(schema: Schema, functions: Mapping[str, Callable[..., Any]]) -> Schema:
    for name in functions:
        if not isinstance(schema.made.get(name), Derived):
            raise errors.unknown_column(name, schema.made, "The model's derived columns: it")
    made = {
        name: replace(kind, function=functions[name])
        if isinstance(kind, Derived) and name in functions
        else kind
        for name, kind in schema.made.items()
    }
    return replace(schema, made=made)
