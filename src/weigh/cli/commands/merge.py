"""`weigh merge`: one model from the rows of several."""

from __future__ import annotations

import click

from weigh.cli.lazy_group import CommandWithExamples
from weigh.cli.options import check_output_is_not_input, json_option

SECTIONS = {
    "Examples": """
        weigh merge monday.weigh tuesday.weigh -o week.weigh
        weigh merge part-1.weigh part-2.weigh part-3.weigh -o all.weigh --json
    """,
}


@click.command(cls=CommandWithExamples, sections=SECTIONS)
@click.argument("models", nargs=-1, required=True, metavar="MODEL...")
@click.option("-o", "--output", metavar="NEW", required=True, help="The file of the merged model.")
@json_option
def command(models: tuple[str, ...], output: str, as_json: bool) -> None:
    """Merge models of different rows into the model of all these rows, exactly.

    Naive Bayes and joint models follow from counts, which are added. The models need the same columns of the
    same kinds; the priors of the first are kept. A row that two of them have learned counts twice.
    """
    from weigh.cli.model_update import load_count_model, save_update
    from weigh.text import escape_control_characters

    if len(models) < 2:
        raise click.UsageError("Give two models or more.")
    check_output_is_not_input(output, *models)
    merged = load_count_model(models[0], "be merged")
    for path in models[1:]:
        merged = merged.merge(load_count_model(path, "be merged"))
    title = f"Merged {len(models):,} models: {escape_control_characters(', '.join(models))}."
    save_update(title, None, merged, output, {"merged": list(models)}, as_json)
