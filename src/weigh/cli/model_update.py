"""What `weigh learn`, `forget` and `merge` share: models of counts, and the rows before and after."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from weigh import errors
from weigh.cli.options import (
    Command,
    check_output_is_not_input,
    data_argument,
    data_file_options,
    drop_missing_labels_option,
    json_option,
    model_argument,
    open_source_for_model,
)
from weigh.cli.output.text import format_location, print_json, print_text, show_note
from weigh.text import escape_control_characters, format_count, format_quantity, text_table, truncate

if TYPE_CHECKING:
    from weigh.model.count_model import CountModel
    from weigh.source.base import Source

MAX_LISTED_CLASSES = 25


def update_options(command: Command) -> Command:
    """Add the arguments and options of the commands that add rows to a model, or remove them."""
    options = [
        model_argument,
        data_argument,
        click.option("-o", "--output", metavar="NEW", help="The file of the new model. [default: MODEL]"),
        click.option("--label", metavar="COLUMN", help="The column of true labels. [default: the model's]"),
        drop_missing_labels_option,
        data_file_options,
        json_option,
    ]
    for option in reversed(options):
        command = option(command)
    return command


def update_model(
    change: Callable[[CountModel, Source], CountModel],
    verb: str,
    past: str,
    *,
    model: str,
    data: tuple[str, ...],
    output: str | None,
    label: str | None,
    as_json: bool,
    **written: Any,
) -> None:
    """Change a model by the rows of files, save it, and print the rows before and after."""
    from weigh.cli.output.progress import show_row_progress

    target = model if output is None else output
    check_output_is_not_input(target, *data)
    before = load_count_model(model, verb)
    opened = open_source_for_model(before, data, label_of(before, label), **written)
    with show_row_progress(opened) as source:
        after = change(before, source)
    title = f"{past} {changed_rows(before, after)} of {escape_control_characters(', '.join(data))}."
    save_update(title, before, after, target, {"data": list(data)}, as_json)


def load_count_model(path: str, verb: str) -> CountModel:
    """Load a model whose rows can be added and subtracted; a calibration is dropped with a note."""
    from weigh.model.count_model import CountModel, not_from_counts_error
    from weigh.model.file.loading import load

    loaded = load(path)
    model: CountModel | Any = loaded.uncalibrated
    if not isinstance(model, CountModel):
        raise not_from_counts_error(model, path, verb)
    if model is not loaded:
        show_note(
            f"The calibration of {path} is dropped, because it is valid only for the rows it was fitted to. "
            f"Calibrate the new model with `weigh calibrate`."
        )
    counted: CountModel = model
    return counted


def label_of(model: CountModel, label: str | None) -> str:
    """Return the label column to read, or raise LabelError if nothing names it."""
    name = label or model.label
    if name is None:
        raise errors.LabelError("The model does not name its label column; give --label COLUMN.")
    return name


def save_update(
    title: str,
    before: CountModel | None,
    after: CountModel,
    target: str,
    facts: dict[str, Any],
    as_json: bool,
) -> None:
    """Save a model and print how many rows of each class it has, and had before."""
    replaced = os.path.exists(target)
    after.save(target)
    old = _count_rows(before) if before is not None else {}
    new = _count_rows(after)
    classes = list(dict.fromkeys([*old, *new]))
    facts = {
        "model": target,
        "replaced": replaced,
        **facts,
        **({"rows_before": _total(old)} if before is not None else {}),
        "rows": _total(new),
        "classes": [
            {"class": each, **({"before": old.get(each, 0)} if old else {}), "rows": new.get(each, 0)}
            for each in classes
        ],
    }
    if as_json:
        print_json(facts)
        return
    location = format_location("The model", target, " (replaced)" * replaced)
    print_text(f"{title}\n\n{_format_classes(facts['classes'])}\n\n{location}")


def _count_rows(model: CountModel) -> dict[Any, Any]:
    return dict(zip(model.classes, model.counts.rows.tolist(), strict=True))


def _total(rows: dict[Any, Any]) -> Any:
    return sum(rows.values())


def changed_rows(before: CountModel, after: CountModel) -> str:
    """Return the difference of the numbers of rows, such as '1,000 rows'."""
    return format_quantity(abs(_total(_count_rows(after)) - _total(_count_rows(before))), "row")


def _format_classes(classes: list[dict[str, Any]]) -> str:
    has_before = any("before" in each for each in classes)
    rows = [
        [
            truncate(each["class"], 40),
            *([format_count(each.get("before", 0))] if has_before else []),
            format_count(each["rows"]),
        ]
        for each in classes[:MAX_LISTED_CLASSES]
    ]
    if len(classes) > MAX_LISTED_CLASSES:
        rows.append([f"… and {len(classes) - MAX_LISTED_CLASSES:,} more", *[""] * (1 + has_before)])
    return text_table([["class", *["rows before"] * has_before, "rows"], *rows])
