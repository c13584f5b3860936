"""Traces in print: text of 80 columns, HTML, LaTeX, and pages."""

from __future__ import annotations

import re
from fractions import Fraction as F
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weigh
from weigh import errors
from weigh.explain.perceptron_trace import trace
from weigh.explain.trace_format import format_exact_vector, format_fraction

AND = {"x": [0, 0, 1, 1], "y": [0, 1, 0, 1], "both": ["no", "no", "no", "yes"]}
NASTY = {
    "50 % & more_$#": ["<b>{x}", "~^\\", "<b>{x}"],
    "n": [1, 2, 3],
    "<script>alert(1)</script>": ["a_b", "</script>", "a_b"],
}


def perceptron(**parameters: Any) -> Any:
    return weigh.Perceptron(**{"keep": "last", "shuffle": False} | parameters)


def test_a_number_is_written_whole_as_a_fraction_or_rounded() -> None:
    assert [format_fraction(F(3)), format_fraction(F(-7, 8)), format_fraction(F(1, 3))] == [
        "3",
        "-7/8",
        "1/3",
    ]
    assert format_fraction(F(1234567, 7654321)) == "0.161290"
    assert format_fraction(F(12345670001, 12345670)) == "1000.00"
    assert format_exact_vector([F(0), F(-1, 2)]) == "(0,-1/2)"


def test_a_number_is_written_as_a_decimal_where_asked() -> None:
    assert [
        format_fraction(F(27, 20), True),
        format_fraction(F(1, 3), True),
        format_fraction(F(2), True),
    ] == ["1.35", "1/3", "2"]


def test_numbers_are_decimals_where_the_rows_have_decimals() -> None:
    result = trace(perceptron(keep="averaged", max_iter=1), [[0.5], [1.5]], ["a", "b"])
    assert result.uses_decimals
    assert "Averaged: w = (0.25) and b = -0.5" in str(result)


def test_changes_of_many_features_are_listed_by_name() -> None:
    rows = np.eye(30)[:4] + np.eye(30)[4]
    result = str(trace(perceptron(max_iter=1), rows, ["a", "b", "a", "b"]))
    assert result == (
        "Perceptron over 4 rows: b is 1, a is 0.\n"
        "30 features; all weights and b start at 0.\n"
        "\n"
        "Iteration 1:\n"
        "w·x+b  sign(·)  correct?  error   b  change of w\n"
        "    0        1        no     -1  -1  x0 0 → -1, x4 0 → -1\n"
        "   -2        0        no      1   0  x1 0 → 1, x4 -1 → 0\n"
        "    0        1        no     -1  -1  x2 0 → -1, x4 0 → -1\n"
        "   -2        0        no      1   0  x3 0 → 1, x4 -1 → 0\n"
        "\n"
        "4 mistakes in 1 iteration; not converged.\n"
        "Last: b = 0; x0 -1, x1 1, x2 -1, x3 1"
    )


@pytest.mark.parametrize("multiclass", ["joint", "one-vs-rest"])
@pytest.mark.parametrize("n_classes", [2, 3, 12])
@pytest.mark.parametrize("width", [2, 5, 40])
def test_no_line_is_longer_than_80_characters(multiclass: str, n_classes: int, width: int) -> None:
    rng = np.random.default_rng(width)
    table: dict[str, Any] = {f"a rather long name {at}": rng.integers(-99, 99, 24) / 8 for at in range(width)}
    labels = [f"a class of {at % n_classes} with a long name" for at in range(24)]
    learner = weigh.Perceptron(margin=2.0, max_iter=3, multiclass=multiclass)
    printed = str(trace(learner, table, labels))
    assert max(map(len, printed.splitlines())) <= 80


def test_omitted_steps_are_counted() -> None:
    result = trace(perceptron(), AND, "both")
    assert result.passes == 6
    shown = result.table(most=6)
    assert shown.count("Iteration") == 2
    assert "\n… and 18 more steps\n" in shown
    assert "… and 18 more steps" in result.table("html", most=6)
    assert r"\dots{} and 18 more steps" in result.table("latex", most=6)


def test_passes_are_chosen_by_number_or_one_by_one() -> None:
    result = trace(perceptron(), AND, "both")
    assert re.findall(r"Iteration \d+:", result.table(passes=2)) == ["Iteration 1:", "Iteration 2:"]
    assert re.findall(r"Iteration \d+:", result.table(passes=[3, 6])) == ["Iteration 3:", "Iteration 6:"]
    assert result.table(passes=99) == result.table()


def test_the_latex_table_word_for_word() -> None:
    result = trace(perceptron(keep="averaged", max_iter=1), AND, "both")
    assert result.table("latex") == (
        "Perceptron over 4 rows: yes is 1, no is 0.\n"
        "\n"
        "x = (x, y)\n"
        "\n"
        "Initialize: w = (0,0) and b = 0\n"
        "\n"
        "Iteration 1:\n"
        "\n"
        "\\begin{tabular}{rrrrrrrrr}\n"
        r"$x$ & label & $w \cdot x + b$ & $\operatorname{sign}(\cdot)$ & correct? & error & "
        r"error $\times$ $x$ & $w'$ & "
        "$b$ \\\\ \\hline\n"
        "$(0,0)$ & no & $0$ & $1$ & no & $-1$ & $(0,0)$ & $(0,0)$ & $-1$ \\\\\n"
        "$(0,1)$ & no & $-1$ & $0$ & yes & $0$ & $(0,0)$ & $(0,0)$ & $-1$ \\\\\n"
        "$(1,0)$ & no & $-1$ & $0$ & yes & $0$ & $(0,0)$ & $(0,0)$ & $-1$ \\\\\n"
        "$(1,1)$ & yes & $-1$ & $0$ & no & $1$ & $(1,1)$ & $(1,1)$ & $0$ \\\\\n"
        "\\end{tabular}\n"
        "\n"
        "2 mistakes in 1 iteration; not converged.\n"
        "\n"
        "Averaged: w = (1/4,1/4) and b = -3/4"
    )


@pytest.mark.parametrize("parameters", [{}, {"rate": 0.5}, {"margin": 1.0, "shuffle": True}])
def test_latex_has_no_sign_that_is_not_escaped(parameters: Any) -> None:
    label = "<script>alert(1)</script>"
    written = trace(perceptron(**parameters), NASTY, label).table("latex")
    assert written.count(r"\begin{tabular}") == written.count(r"\end{tabular}") > 0
    bare = re.sub(r"\\[A-Za-z]+(\{\})?|\\[\\&%$#_{}]", "", written)
    assert bare.count("$") % 2 == 0
    assert not re.search(r"[#%_^\\]", bare)
    assert bare.count("{") == bare.count("}")
    for line in bare.splitlines():
        assert line.count("$") % 2 == 0
        assert "&" not in line or "yes" in line or "no" in line or "correct?" in line


def test_html_escapes_names_and_labels() -> None:
    markup = trace(perceptron(), NASTY, "<script>alert(1)</script>").table("html")
    assert "<script" not in markup
    assert "</script" not in markup
    assert "&lt;/script&gt;" in markup


def test_html_escapes_predictions_and_changes() -> None:
    several = trace(perceptron(), [[1.0], [2.0], [3.0]], ["<i>", "<j>", "<k>"]).table("html")
    assert "<td>&lt;i&gt;</td>" in several
    wide: dict[str, Any] = {f"<u>{at}": [at, at % 3, at % 2] for at in range(30)}
    changes = trace(perceptron(), wide, ["a", "b", "a"]).table("html")
    assert "&lt;u&gt;" in changes
    assert not re.search("<[iu]>", several + changes)


def test_html_marks_updates() -> None:
    result = trace(perceptron(), AND, "both")
    assert result.table("html").count('<tr class="update"') == result.updates
    assert result._repr_html_() == result.table("html")


def markup_of(page: str) -> str:
    """Return a page without its scripts."""
    return re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)


def test_a_page_of_two_features_holds_all_it_needs(tmp_path: Path) -> None:
    result = trace(perceptron(), AND, "both")
    path = tmp_path / "and.html"
    page = result.to_html(path)
    assert path.read_text("utf-8") == page
    assert len(page.encode()) < 1_500_000
    assert page.count('<div class="chart">') == 1
    assert not re.search(r"https?:|//|\bsrc=|\bhref=|@import|url\(", markup_of(page))
    assert result.table("html") in page


def test_a_page_of_other_features_is_the_table_alone() -> None:
    rows = np.eye(3)
    page = trace(perceptron(), rows, ["a", "b", "a"]).to_html()
    assert "<script" not in page
    assert len(page) < 20_000
    several = trace(perceptron(), rows[:, :2], ["a", "b", "c"]).to_html()
    assert "<h1>Perceptron of 3 classes</h1>" in several


def test_a_long_run_stays_below_the_size_of_a_page() -> None:
    rng = np.random.default_rng(0)
    result = trace(perceptron(max_iter=40), rng.normal(size=(60, 2)).round(3), rng.integers(0, 2, 60))
    page = result.to_html()
    assert len(page.encode()) < 1_500_000
    assert "<p>The picture shows 150 updates, of 2,400 steps in all.</p>" in page
    assert "… and 1,400 more steps" in page


def test_words_of_the_data_cannot_leave_the_script_of_a_page() -> None:
    table = {
        "</script><b>": [0.0, 1.0, 2.0],
        "y": [1.0, 0.0, 1.0],
        "label": ["</script>", "<!--", "</script>"],
    }
    page = trace(perceptron(), table, "label").to_html()
    data = re.search(r'<script type="application/json">(.*?)</script>', page, re.DOTALL)
    assert data is not None
    assert "<" not in data[1]
    assert "\\u003c/script>" in data[1]


def test_a_failed_write_is_reported_and_leaves_no_file(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(errors.FileError) as refusal:
        trace(perceptron(), AND, "both").to_html(tmp_path / "file" / "page.html")
    assert str(refusal.value).endswith("page.html cannot be written: Not a directory. Check its folder.")


def test_a_single_step_can_be_plotted() -> None:
    result = trace(perceptron(), AND, "both")
    (step,) = [each for each in result.plot(at=4).to_dict()["params"] if each["name"] == "step"]
    assert (step["value"], step["bind"]["max"]) == (4, len(result.steps))
    with pytest.raises(errors.Unsupported) as refusal:
        trace(perceptron(), np.eye(3), ["a", "b", "a"]).plot()
    assert str(refusal.value) == (
        "plot needs two features and two classes, got 3 features and 2 classes. Its steps are in `table()`."
    )
