"""The rows of a trace as a design matrix, with the class that counts as positive last."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from weigh import errors
from weigh.learn.design_matrix import DesignMatrix, build_design_matrix


def read_trace_design(X: Any, columns: object = "auto", y: Any = None, **options: Any) -> DesignMatrix:
    """Return labelled rows as a design matrix; one that is given is returned unchanged."""
    return X if isinstance(X, DesignMatrix) and y is None else build_design_matrix(X, y, columns, **options)


def design_with_positive(design: DesignMatrix, positive: Any) -> DesignMatrix:
    """Return the design with the positive class second; None keeps the canonical order."""
    if positive is None or (len(design.classes) == 2 and positive == design.classes[1]):
        return design
    if len(design.classes) != 2 or positive not in design.classes:
        must = f"one of two classes, {errors.quote_names(design.classes)}"
        raise errors.parameter_error("trace", "positive", must, positive)
    return replace(design, classes=design.classes[::-1], codes=1 - design.codes)
