"""What kind of learner each is, in words: the questions one asks before any number."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from sklearn.pipeline import Pipeline

from weigh.text import cut, html_table
from weigh.trials.comparing.peer_traits import PEERS
from weigh.trials.comparing.trait import Traits
from weigh.trials.learners import named

WIDTH = 80
UNKNOWN = "not described"

TITLES = {
    "strategy": "generative or discriminative",
    "form": "parametric or not",
    "learning": "online or batch",
    "cost": "cost of the search",
}
PLANES = "planes; with more features (products, words) what they can draw"
OURS = {
    "NaiveBayes": Traits(
        "one distribution per class, columns independent within it",
        "planes in the log-odds (curves for numbers of unlike spread); no interaction of columns, so no XOR",
        "generative",
        "parametric",
        "online: counts are added, merged and taken back",
        "likelihood of rows and labels together, smoothed by the prior",
        "none: counting, in closed form",
        "one pass over the rows",
        "the exact optimum of its score; over-sure where columns repeat each other",
    ),
    "JointBayes": Traits(
        "one full table of probabilities over all combinations of values",
        "every function of its columns",
        "generative",
        "parametric, with a parameter per combination",
        "online: counts are added, merged and taken back",
        "likelihood of rows and labels together, smoothed by the prior",
        "none: counting, in closed form",
        "one pass over the rows; the table grows with the product of the levels",
        "the exact optimum of its score; it memorises where cells outnumber rows",
    ),
    "Perceptron": Traits(
        "linear functions: the sign of w·x + b",
        PLANES,
        "discriminative",
        "parametric",
        "online, driven by errors",
        "mistakes on the training rows",
        "a step after each mistake, for max_iter passes or until one is clean",
        "one pass over the rows per pass",
        "at most R²/γ² mistakes where a plane separates the classes; else none",
    ),
    "LogisticRegression": Traits(
        "log-odds that are linear: w·x + b",
        PLANES,
        "discriminative",
        "parametric",
        "batch; online by method='online'",
        "likelihood of the labels given the rows, with a prior on the weights",
        "convex optimisation; online, a gradient step per row",
        "some passes over the rows",
        "the global optimum, within a proved gap; online none",
    ),
    "LinearRegression": Traits(
        "linear functions: w·x + b",
        "planes over the features",
        "discriminative",
        "parametric",
        "batch",
        "likelihood of the numbers given the rows (squared or absolute errors), with a prior on the weights",
        "a linear system, or convex optimisation where weights may be zero",
        "one pass over the rows, then the cube of the features; else some passes",
        "the global optimum, within a proved gap",
    ),
    "Threshold": Traits(
        "one cut of one column",
        "one step along one column",
        "discriminative",
        "parametric",
        "batch",
        "mistakes on the training rows",
        "exhaustive: every cut of every column",
        "a sort per column",
        "the best cut there is; in the middle of its gap",
    ),
}


def traits_of(learner: Any) -> Traits | None:
    """Return what is known of a learner, or of the last step of a pipeline; None if nothing is."""
    learner = learner.steps[-1][1] if isinstance(learner, Pipeline) else learner
    for kind in type(learner).__mro__:
        known = {"weigh": OURS, "sklearn": PEERS}.get(kind.__module__.split(".")[0], {})
        if kind.__name__ in known:
            return known[kind.__name__]
    return None


@dataclass(frozen=True, repr=False)
class TraitTable:
    """Learners by name with their traits; None where a learner is not described."""

    learners: Mapping[str, Traits | None]

    def to_dict(self) -> dict[str, Any]:
        """The traits of every learner for JSON."""
        return {name: None if each is None else each.to_dict() for name, each in self.learners.items()}

    def rows(self) -> list[list[str]]:
        """One row per trait: its title, then a cell per learner; the first row names the learners."""
        titles = [TITLES.get(field.name, field.name.replace("_", " ")) for field in fields(Traits)]
        columns = [_cells(each) for each in self.learners.values()]
        return [["", *self.learners], *map(list, zip(titles, *columns, strict=True))]

    def __str__(self) -> str:
        head, *rest = self.rows()
        names = [cut(name, 20) for name in head[1:]]
        width = max(map(len, names)) + 4
        return "\n\n".join(
            "\n".join([title, *(_entry(*pair, width) for pair in zip(names, cells, strict=True))])
            for title, *cells in rest
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table("What kind of learners", self.rows(), 1 + len(self.learners))

    def to_markdown(self) -> str:
        """The table in Markdown, learners down and traits across."""
        across = list(zip(*self.rows(), strict=True))
        lines = [
            "| " + " | ".join(html.escape(cell).replace("|", "\\|") for cell in row) + " |" for row in across
        ]
        return "\n".join([lines[0], "|" + "---|" * len(across[0]), *lines[1:]])


def described(learners: Any = None) -> TraitTable:
    """Describe learners, given as `compare` takes them."""
    return TraitTable({name: traits_of(each) for name, each in named(learners, "described").items()})


def _cells(traits: Traits | None) -> list[str]:
    if traits is None:
        return [UNKNOWN] * len(fields(Traits))
    return list(traits.to_dict().values())


def _entry(name: str, cell: str, width: int) -> str:
    return textwrap.fill(cell, WIDTH, initial_indent=f"  {name}".ljust(width), subsequent_indent=" " * width)
