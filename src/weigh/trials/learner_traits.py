"""What kind of learner each is, in words: the questions one asks before any number."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from sklearn.pipeline import Pipeline

from weigh.text import html_table, truncate
from weigh.trials.learners import learners_by_name


@dataclass(frozen=True)
class Traits:
    """What a learner can express, and how it finds it."""

    hypothesis_space: str
    expressiveness: str
    strategy: str
    form: str
    learning: str
    scoring: str
    search: str
    cost: str
    guarantee: str

    def to_dict(self) -> dict[str, str]:
        """The traits for JSON."""
        return asdict(self)


LINE_WIDTH = 80
NOT_DESCRIBED = "not described"

TRAIT_TITLES = {
    "strategy": "generative or discriminative",
    "form": "parametric or not",
    "learning": "online or batch",
    "cost": "cost of the search",
}
HYPERPLANES = "planes; with more features (products, words) what they can draw"
WEIGH_TRAITS = {
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
        HYPERPLANES,
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
        HYPERPLANES,
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
        known = {"weigh": WEIGH_TRAITS, "sklearn": SKLEARN_TRAITS}.get(kind.__module__.split(".")[0], {})
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
        titles = [TRAIT_TITLES.get(field.name, field.name.replace("_", " ")) for field in fields(Traits)]
        columns = [_trait_cells(each) for each in self.learners.values()]
        return [["", *self.learners], *map(list, zip(titles, *columns, strict=True))]

    def __str__(self) -> str:
        head, *rest = self.rows()
        names = [truncate(name, 20) for name in head[1:]]
        width = max(map(len, names)) + 4
        return "\n\n".join(
            "\n".join([title, *(_format_entry(*pair, width) for pair in zip(names, cells, strict=True))])
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


def describe_learners(learners: Any = None) -> TraitTable:
    """Describe learners, given as `compare` takes them."""
    return TraitTable(
        {name: traits_of(each) for name, each in learners_by_name(learners, "described").items()}
    )


def _trait_cells(traits: Traits | None) -> list[str]:
    if traits is None:
        return [NOT_DESCRIBED] * len(fields(Traits))
    return list(traits.to_dict().values())


def _format_entry(name: str, cell: str, width: int) -> str:
    return textwrap.fill(
        cell, LINE_WIDTH, initial_indent=f"  {name}".ljust(width), subsequent_indent=" " * width
    )


TREE = Traits(
    "boxes: a tree of questions, each about one column",
    "every function of its columns, with leaves enough",
    "discriminative",
    "non-parametric",
    "batch",
    "impurity (Gini, entropy, variance) after the next question",
    "greedy, from the root down, without a way back",
    "a sort per column and level: n log n",
    "none: the smallest tree is NP-hard to find; it memorises unless held back",
)
NEIGHBOURS = Traits(
    "votes of the k nearest training rows",
    "every function of its columns, with rows enough",
    "discriminative",
    "non-parametric",
    "rows are kept as they come; the work is done when asked",
    "none at training; the distance of rows",
    "none at training; the nearest rows when asked",
    "none at training; up to all rows per prediction",
    "k = 1: with endless rows at most twice the least possible error",
)
FOREST = Traits(
    "averages of many trees, each grown on rows and columns drawn at random",
    "every function of its columns",
    "discriminative",
    "non-parametric",
    "batch",
    "impurity after the next question, tree by tree",
    "greedy, from the root down; averaging takes variance away",
    "that of a tree, times the trees",
    "none; more trees do not overfit more",
)
BOOSTING = Traits(
    "sums of many small trees, each grown on what the others left",
    "every function of its columns, with trees enough",
    "discriminative",
    "non-parametric",
    "batch",
    "a loss of the sum, lowered tree by tree",
    "greedy, one tree after the other",
    "that of a small tree, times the trees",
    "the training loss falls; too many trees overfit",
)
LOGISTIC = Traits(
    "log-odds that are linear: w·x + b",
    "planes; with more features what they can draw",
    "discriminative",
    "parametric",
    "batch",
    "likelihood of the labels given the rows, with a penalty on the weights",
    "convex optimisation",
    "some passes over the rows",
    "the global optimum, to its tolerance",
)
ONLINE_LINEAR = Traits(
    "linear functions: w·x + b",
    "planes; with more features what they can draw",
    "discriminative",
    "parametric",
    "online",
    "a loss of one row at a time",
    "a gradient step per row",
    "one pass over the rows per pass",
    "near the optimum where steps shrink; of separable rows a separating plane",
)
LINEAR = Traits(
    "linear functions: w·x + b",
    "planes over the features",
    "discriminative",
    "parametric",
    "batch",
    "squared errors, with a penalty on the weights",
    "a linear system, or coordinate descent",
    "one pass over the rows, then the cube of the features; else some passes",
    "the global optimum, to its tolerance",
)
SUPPORT_VECTOR_MACHINE = Traits(
    "linear functions of the features, or of a kernel's",
    "planes; with a kernel curves of nearly any form",
    "discriminative",
    "parametric if linear, else the rows at the margin are kept",
    "batch",
    "the hinge loss (of numbers, errors beyond ε), with a penalty on the weights",
    "convex optimisation",
    "with a kernel between the square and the cube of the rows",
    "the global optimum, to its tolerance",
)
NETWORK = Traits(
    "layers of linear functions with a bend after each",
    "every continuous function, with units enough",
    "discriminative",
    "parametric",
    "online, in small batches",
    "log loss or squared errors, with a penalty on the weights",
    "gradient steps from random weights",
    "passes over the rows, times the weights",
    "none: a local optimum, another for another seed",
)
NAIVE_BAYES = Traits(
    "one distribution per class, columns independent within it",
    "planes in the log-odds (curves for numbers of unlike spread)",
    "generative",
    "parametric",
    "online: counts and moments are added",
    "likelihood of rows and labels together, smoothed",
    "none: counting, in closed form",
    "one pass over the rows",
    "the exact optimum of its score; over-sure where columns repeat each other",
)
DISCRIMINANT = Traits(
    "a normal curve over all columns per class",
    "planes, or curves of degree two where every class has its own spread",
    "generative",
    "parametric",
    "batch",
    "likelihood of rows and labels together",
    "none: means and covariances, in closed form",
    "one pass over the rows, then the cube of the columns",
    "the exact optimum of its score",
)
BASELINE = Traits(
    "one answer for all rows",
    "constants",
    "neither: it does not look at the rows",
    "parametric",
    "batch",
    "mistakes, or errors, without the columns",
    "none: counting",
    "one pass over the labels",
    "the best constant; whoever does no better has learned nothing",
)

SKLEARN_FAMILIES = (
    (TREE, "DecisionTreeClassifier", "DecisionTreeRegressor"),
    (NEIGHBOURS, "KNeighborsClassifier", "KNeighborsRegressor"),
    (
        FOREST,
        "RandomForestClassifier",
        "RandomForestRegressor",
        "ExtraTreesClassifier",
        "ExtraTreesRegressor",
    ),
    (BOOSTING, "GradientBoostingClassifier", "GradientBoostingRegressor"),
    (BOOSTING, "HistGradientBoostingClassifier", "HistGradientBoostingRegressor"),
    (LOGISTIC, "LogisticRegression", "LogisticRegressionCV"),
    (ONLINE_LINEAR, "SGDClassifier", "SGDRegressor", "Perceptron", "PassiveAggressiveClassifier"),
    (LINEAR, "LinearRegression", "Ridge", "RidgeCV", "RidgeClassifier", "ElasticNet", "ElasticNetCV"),
    (SUPPORT_VECTOR_MACHINE, "LinearSVC", "LinearSVR", "SVC", "SVR", "NuSVC", "NuSVR"),
    (NETWORK, "MLPClassifier", "MLPRegressor"),
    (NAIVE_BAYES, "GaussianNB", "MultinomialNB", "BernoulliNB", "CategoricalNB", "ComplementNB"),
    (DISCRIMINANT, "LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"),
    (BASELINE, "DummyClassifier", "DummyRegressor"),
)
SKLEARN_TRAITS = {name: traits for traits, *names in SKLEARN_FAMILIES for name in names}
