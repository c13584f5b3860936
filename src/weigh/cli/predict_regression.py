"""Stream the predictions of a regression, with standard deviations on request."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, TextIO

from weigh import errors
from weigh.cli.options import open_output
from weigh.cli.progress import show_row_progress
from weigh.model.regression import RegressionModel
from weigh.source.base import Source
from weigh.source.chunk import Chunk


def write_regression_predictions(
    model: RegressionModel,
    opened: Source,
    output: str | None,
    std: bool,
    as_json: bool,
    unsupported: Mapping[str, Any],
) -> None:
    """Write predictions as CSV or JSON lines; raise Unsupported if an `unsupported` option is set."""
    used = [option for option, value in unsupported.items() if value]
    if used:
        raise errors.Unsupported(
            f"A regression predicts numbers, not classes, so {' and '.join(used)} cannot be used. --std "
            f"writes the standard deviation of its predictions."
        )
    if std:
        # Raises an error before anything is written.
        _ = model.posterior
    opened = model.schema.align_source(opened)
    with open_output(output) as file, show_row_progress(opened, not file.isatty()) as source:
        (_write_json_lines if as_json else _write_csv)(file, _prediction_rows(model, source, std), std)


def _prediction_rows(model: RegressionModel, source: Source, std: bool) -> Iterator[tuple[float, ...]]:
    """Yield the prediction of each row, with its standard deviation if `std`."""

    def predict(chunk: Chunk) -> list[Any]:
        columns = model.predict(chunk, return_std=True) if std else (model.predict(chunk),)
        return [column.tolist() for column in columns]

    for columns in model.map_chunks(predict, source):
        yield from zip(*columns, strict=True)


def _write_csv(file: TextIO, rows: Iterator[tuple[float, ...]], std: bool) -> None:
    file.write("prediction,std\n" if std else "prediction\n")
    file.writelines(",".join(f"{number:.10g}" for number in row) + "\n" for row in rows)


def _write_json_lines(file: TextIO, rows: Iterator[tuple[float, ...]], std: bool) -> None:
    names = ["prediction", *["std"] * std]
    for row in rows:
        file.write(json.dumps(dict(zip(names, row, strict=True))) + "\n")
