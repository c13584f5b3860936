"""The models that are served, by name."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weigh import errors
from weigh.model.base import BaseModel
from weigh.model.file.loading import load
from weigh.serve.answers import Predictor
from weigh.serve.problems import Problem

SUFFIX = ".weigh"


@dataclass(frozen=True, eq=False)
class ServedModel:
    """A model with its name, its file, and the digest of the file's bytes."""

    name: str
    path: str | None
    digest: str
    model: BaseModel
    loaded_at: float
    predictor: Predictor


class ModelCatalog:
    """Models by name."""

    def __init__(self, models: Any) -> None:
        self._models: dict[str, ServedModel] = {}
        for name, model in _name_models(models):
            if name in self._models:
                raise errors.ParameterError(f"Two models have the name {name!r}. Give one another name.")
            self._models[name] = _load_model(name, model)
        if not self._models:
            raise errors.ParameterError("There is no model to serve. Give at least one model file.")

    def __iter__(self) -> Any:
        return iter(self._models.values())

    @property
    def names(self) -> list[str]:
        """The names of the models."""
        return list(self._models)

    def get(self, name: str) -> ServedModel:
        """Return the model with this name, or raise the problem 404."""
        if name not in self._models:
            listed = errors.quote_names(self._models)
            raise Problem(404, f"There is no model {errors.one_line_repr(name)}; there are {listed}.")
        return self._models[name]


def _name_models(models: Any) -> list[tuple[str, Any]]:
    if isinstance(models, Mapping):
        return [(str(name), model) for name, model in models.items()]
    if isinstance(models, str | os.PathLike | BaseModel):
        models = [models]
    named: list[tuple[str, Any]] = []
    for model in models:
        if isinstance(model, BaseModel):
            named.append((model.type_name, model))
        elif os.path.isdir(model):
            named += [(path.stem, path) for path in sorted(Path(model).glob(f"*{SUFFIX}"))]
        else:
            named.append((Path(model).stem, Path(model)))
    return named


def _load_model(name: str, source: BaseModel | Path) -> ServedModel:
    if isinstance(source, BaseModel):
        digest = hashlib.sha256(source.to_bytes()).hexdigest()
        return ServedModel(name, None, digest, source, time.time(), Predictor(source))
    model = load(source)
    digest = hashlib.sha256(source.read_bytes()).hexdigest()
    return ServedModel(name, str(source), digest, model, time.time(), Predictor(model))


def describe_models(models: Sequence[ServedModel]) -> list[dict[str, Any]]:
    """Return the descriptions of models as plain values."""
    return [describe_model(model) for model in models]


def describe_model(served: ServedModel) -> dict[str, Any]:
    """Return what a client needs to know of a model, as plain values."""
    model = served.model
    return {
        "name": served.name,
        "type": model.type_name,
        "label": model.label,
        "digest": served.digest,
        "columns": [{"name": n, "kind": k.name} for n, k in model.schema.described_columns()],
        **({"classes": list(model.classes)} if hasattr(model, "classes") else {}),
    }
