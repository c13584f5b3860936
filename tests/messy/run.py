"""Run `weigh` on the messy tables; `python -m tests.messy.run` writes the expected outputs again."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from click.testing import CliRunner

from tests.messy.tables import TABLES, MessyTable
from weigh.cli.main import run_for_exit_code

EXPECTED = Path(__file__).parent / "expected"


def run(*arguments: str) -> tuple[int, str]:
    """Return the exit code and everything that the program prints, notes included."""
    runner = CliRunner()
    with runner.isolation() as (_, _, output):
        code = run_for_exit_code(arguments)
        text = output.getvalue().decode()
    return code, text


def fit(table: MessyTable, name: str, folder: Path) -> tuple[int, str]:
    """Fit naive Bayes to a messy table in a folder, which becomes the working folder."""
    os.chdir(folder)
    path = table.save(folder, name, 1, table.n_rows)
    return run("fit", path.name, "--label", "y", "--learner", "naive-bayes", *table.options)


def kinds_and_accuracy(table: MessyTable, name: str, folder: Path) -> tuple[dict[str, str], float]:
    """Return the kinds of the fitted columns, and the accuracy on new rows."""
    path = table.save(folder, f"{name}-new", 2, 1_000)
    code, text = run("evaluate", f"{name}.weigh", path.name, "--json", *table.options)
    assert code == 0, text
    import weigh

    schema = weigh.load(f"{name}.weigh").schema
    kinds = {column: kind.name for column, kind in zip(schema.names, schema.kinds, strict=True)}
    measures = json.JSONDecoder().raw_decode(text[text.index("{") :])[0]["measures"]
    return kinds, next(each["value"] for each in measures if each["name"] == "accuracy")


def main() -> None:
    """Write the expected output of every table that is named, or of all."""
    import tempfile

    EXPECTED.mkdir(exist_ok=True)
    for name in sys.argv[1:] or TABLES:
        with tempfile.TemporaryDirectory() as folder:
            code, text = fit(TABLES[name], name, Path(folder))
            (EXPECTED / f"{name}.txt").write_text(text)
            print(f"==== {name}: exit {code}\n{text}")
            if code == 0:
                print(kinds_and_accuracy(TABLES[name], name, Path(folder)))


if __name__ == "__main__":
    main()
