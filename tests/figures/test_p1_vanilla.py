"""P1: the vanilla perceptron on the five mails: every update of two passes, and convergence."""

from __future__ import annotations

from typing import Any

import pytest

import weigh
from weigh.explain.perceptron_trace import Trace, trace

COLUMNS = {"familiarity": weigh.Category(levels=("high", "medium", "low"))}
FEATURES = ["CS373", "investment", "familiarity=high", "familiarity=medium", "familiarity=low"]

# w·x+b, sign(·), correct?, error, error × x, w', b
PASSES = (
    """
    0   1  yes   0  (0,0,0,0,0)    (0,0,0,0,0)    0
    0   1  no   -1  (0,0,-1,0,0)   (0,0,-1,0,0)   -1
    -2  0  no    1  (0,1,1,0,0)    (0,1,0,0,0)    0
    1   1  no   -1  (0,-1,0,-1,0)  (0,0,0,-1,0)   -1
    -1  0  yes   0  (0,0,0,0,0)    (0,0,0,-1,0)   -1
    """,
    """
    -1  0  no    1  (0,1,0,0,1)    (0,1,0,-1,1)   0
    0   1  no   -1  (0,0,-1,0,0)   (0,1,-1,-1,1)  -1
    -1  0  no    1  (0,1,1,0,0)    (0,2,0,-1,1)   0
    1   1  no   -1  (0,-1,0,-1,0)  (0,1,0,-2,1)   -1
    0   1  no   -1  (-1,0,0,0,-1)  (-1,1,0,-2,0)  -2
    """,
)


def traced(table: Any, **parameters: Any) -> Trace:
    learner = weigh.Perceptron(keep="last", shuffle=False, columns=COLUMNS, **parameters)
    return trace(learner, table, "spam")


def dense(numbers: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(numbers.get(name, 0) for name in FEATURES)


@pytest.mark.parametrize("number", [1, 2])
def test_every_row_of_the_two_passes(spam_table: Any, number: int) -> None:
    found = traced(spam_table, max_iter=2)
    steps = [step for step in found.steps if step.iteration == number]
    rows = [line.split() for line in PASSES[number - 1].split("\n") if line.strip()]
    assert list(found.names) == FEATURES
    assert [step.row for step in steps] == [0, 1, 2, 3, 4]
    for step, (score, sign, correct, error, update, weights, bias) in zip(steps, rows, strict=True):
        assert (step.score, step.sign, step.error, step.bias) == tuple(map(int, (score, sign, error, bias)))
        assert step.correct == (correct == "yes")
        assert dense(step.update) == tuple(map(int, update.strip("()").split(",")))
        assert dense(step.weights) == tuple(map(int, weights.strip("()").split(",")))


@pytest.mark.parametrize(
    ("passes", "weights", "bias"), [(1, (0, 0, 0, -1, 0), -1), (2, (-1, 1, 0, -2, 0), -2)]
)
def test_the_plane_after_each_pass_says_not_spam_of_the_new_mail(
    spam_table: Any, new_mail: Any, passes: int, weights: Any, bias: int
) -> None:
    found = traced(spam_table, max_iter=passes)
    w, b = found.weights()
    assert (tuple(w.values()), b) == (weights, bias)
    assert found.score(new_mail) == bias
    assert found.predict(new_mail) == "not-spam"


def test_it_converges_in_pass_4_after_9_mistakes_where_the_new_mail_is_a_tie(
    spam_table: Any, new_mail: Any
) -> None:
    found = traced(spam_table)
    w, b = found.weights()
    assert (found.converged, found.passes, found.mistakes) == (True, 4, 9)
    assert (tuple(w.values()), b) == ((-1, 2, 0, -2, 1), -1)
    assert found.score(new_mail) == 0
    assert found.predict(new_mail) == "spam"


def test_the_table_is_that_of_the_lecture(spam_table: Any) -> None:
    assert str(traced(spam_table, max_iter=2)) == (
        "Perceptron over 5 rows: spam is 1, not-spam is 0.\n"
        "x = (CS373, investment, familiarity=high, familiarity=medium, familiarity=low)\n"
        "Initialize: w = (0,0,0,0,0) and b = 0\n"
        "\n"
        "Iteration 1:\n"
        "w·x+b  sign(·)  correct?  error      error × x            w'   b\n"
        "    0        1       yes      0    (0,0,0,0,0)   (0,0,0,0,0)   0\n"
        "    0        1        no     -1   (0,0,-1,0,0)  (0,0,-1,0,0)  -1\n"
        "   -2        0        no      1    (0,1,1,0,0)   (0,1,0,0,0)   0\n"
        "    1        1        no     -1  (0,-1,0,-1,0)  (0,0,0,-1,0)  -1\n"
        "   -1        0       yes      0    (0,0,0,0,0)  (0,0,0,-1,0)  -1\n"
        "\n"
        "Iteration 2:\n"
        "w·x+b  sign(·)  correct?  error      error × x             w'   b\n"
        "   -1        0        no      1    (0,1,0,0,1)   (0,1,0,-1,1)   0\n"
        "    0        1        no     -1   (0,0,-1,0,0)  (0,1,-1,-1,1)  -1\n"
        "   -1        0        no      1    (0,1,1,0,0)   (0,2,0,-1,1)   0\n"
        "    1        1        no     -1  (0,-1,0,-1,0)   (0,1,0,-2,1)  -1\n"
        "    0        1        no     -1  (-1,0,0,0,-1)  (-1,1,0,-2,0)  -2\n"
        "\n"
        "8 mistakes in 2 iterations; not converged.\n"
        "Last: w = (-1,1,0,-2,0) and b = -2"
    )
