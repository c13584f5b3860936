"""Qualitative descriptions of learners: hypothesis space, objective, search, cost and guarantees."""

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
    """What a learner can represent, and how it is trained."""

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
        """Return the traits for JSON."""
        return asdict(self)


LINE_WIDTH = 80
NOT_DESCRIBED = "not described"

TRAIT_TITLES = {
    "strategy": "generative or discriminative",
    "form": "parametric or not",
    "learning": "online or batch",
    "cost": "cost of the search",
}
HYPERPLANES = "hyperplanes in feature space; non-linear with derived features (products, words)"
JOINT_LIKELIHOOD = "joint likelihood of rows and labels, smoothed by the prior"
NAIVE_GUARANTEE = "the exact optimum of its objective; overconfident if columns are correlated"
WEIGH_TRAITS = {
    "NaiveBayes": Traits(
        "one distribution per class; columns are independent given the class",
        "linear log-odds (quadratic for numbers with class-specific variances); no interactions, so no XOR",
        "generative",
        "parametric",
        "online: counts are added, merged and subtracted",
        JOINT_LIKELIHOOD,
        "none: closed form, by counting",
        "one pass over the rows",
        NAIVE_GUARANTEE,
    ),
    "JointBayes": Traits(
        "one probability table over all combinations of values",
        "every function of its columns",
        "generative",
        "parametric, with one parameter per combination",
        "online: counts are added, merged and subtracted",
        JOINT_LIKELIHOOD,
        "none: closed form, by counting",
        "one pass over the rows; the table grows with the product of the numbers of levels",
        "the exact optimum of its objective; it memorises if there are more cells than rows",
    ),
    "Perceptron": Traits(
        "linear functions: the sign of w·x + b",
        HYPERPLANES,
        "discriminative",
        "parametric",
        "online, error-driven",
        "training errors",
        "an update after each mistake, for max_iter passes or until a pass has none",
        "linear in the rows per pass",
        "at most R²/γ² mistakes if the classes are linearly separable; otherwise none",
    ),
    "LogisticRegression": Traits(
        "linear log-odds: w·x + b",
        HYPERPLANES,
        "discriminative",
        "parametric",
        "batch; online with method='online'",
        "conditional likelihood of the labels, with a prior on the weights",
        "convex optimisation; online: stochastic gradient descent",
        "several passes over the rows",
        "the global optimum, with a certified duality gap; none if online",
    ),
    "LinearRegression": Traits(
        "linear functions: w·x + b",
        "hyperplanes in feature space",
        "discriminative",
        "parametric",
        "batch",
        "conditional likelihood (squared or absolute errors), with a prior on the weights",
        "a linear system; convex optimisation for sparse weights or absolute errors",
        "one pass over the rows and cubic in the features; otherwise several passes",
        "the global optimum, with a certified duality gap",
    ),
    "Threshold": Traits(
        "one threshold on one column",
        "a step function of one column",
        "discriminative",
        "parametric",
        "batch",
        "training errors",
        "exhaustive: every threshold of every column",
        "one sort per column",
        "the global optimum; the threshold is in the middle of its gap",
    ),
}


def traits_of(learner: Any) -> Traits | None:
    """Return the traits of a learner, or of the last step of a pipeline; None if there are none."""
    learner = learner.steps[-1][1] if isinstance(learner, Pipeline) else learner
    for kind in type(learner).__mro__:
        package = kind.__module__.split(".")[0]
        traits = {"weigh": WEIGH_TRAITS, "sklearn": SKLEARN_TRAITS}.get(package, {})
        if kind.__name__ in traits:
            return traits[kind.__name__]
    return None


@dataclass(frozen=True, repr=False)
class TraitTable:
    """The traits of learners by name; None if a learner is not described."""

    learners: Mapping[str, Traits | None]

    def to_dict(self) -> dict[str, Any]:
        """Return the traits of every learner for JSON."""
        return {name: None if each is None else each.to_dict() for name, each in self.learners.items()}

    def rows(self) -> list[list[str]]:
        """Return a header with the learners, then one row per trait: its title and a cell per learner."""
        titles = [TRAIT_TITLES.get(field.name, field.name.replace("_", " ")) for field in fields(Traits)]
        columns = [_trait_cells(each) for each in self.learners.values()]
        return [["", *self.learners], *map(list, zip(titles, *columns, strict=True))]

    def __str__(self) -> str:
        header, *rows = self.rows()
        names = [truncate(name, 20) for name in header[1:]]
        width = max(map(len, names)) + 4
        return "\n\n".join(
            "\n".join([title, *(_format_entry(*pair, width) for pair in zip(names, cells, strict=True))])
            for title, *cells in rows
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table("Kinds of learners", self.rows(), 1 + len(self.learners))

    def to_markdown(self) -> str:
        """Return the table in Markdown, with one row per learner and one column per trait."""
        transposed = list(zip(*self.rows(), strict=True))
        lines = [
            "| " + " | ".join(html.escape(cell).replace("|", "\\|") for cell in row) + " |"
            for row in transposed
        ]
        return "\n".join([lines[0], "|" + "---|" * len(transposed[0]), *lines[1:]])


def describe_learners(learners: Any = None) -> TraitTable:
    """Return the traits of learners, which are specified as for `compare`."""
    by_name = learners_by_name(learners, "describe_learners")
    return TraitTable({name: traits_of(learner) for name, learner in by_name.items()})


def _trait_cells(traits: Traits | None) -> list[str]:
    if traits is None:
        return [NOT_DESCRIBED] * len(fields(Traits))
    return list(traits.to_dict().values())


def _format_entry(name: str, cell: str, width: int) -> str:
    return textwrap.fill(
        cell, LINE_WIDTH, initial_indent=f"  {name}".ljust(width), subsequent_indent=" " * width
    )


TREE = Traits(
    "trees of thresholds on single columns, which cut the space into boxes",
    "every function of its columns, with enough leaves",
    "discriminative",
    "non-parametric",
    "batch",
    "impurity (Gini, entropy, variance) after the next split",
    "greedy, from the root down, without backtracking",
    "one sort per column and level: n log n",
    "none: finding the smallest tree is NP-hard; it memorises unless it is pruned or limited",
)
NEIGHBOURS = Traits(
    "votes of the k nearest training rows",
    "every function of its columns, with enough rows",
    "discriminative",
    "non-parametric",
    "lazy: training stores the rows",
    "none in training; the distance between rows",
    "none in training; nearest-neighbour search in prediction",
    "none in training; up to all rows per prediction",
    "k = 1: in the limit at most twice the Bayes error",
)
FOREST = Traits(
    "averages of many trees, each grown on random rows and columns",
    "every function of its columns",
    "discriminative",
    "non-parametric",
    "batch",
    "impurity after the next split, for each tree",
    "greedy, from the root down; averaging reduces variance",
    "that of a tree, times the number of trees",
    "none; more trees do not increase overfitting",
)
BOOSTING = Traits(
    "sums of many small trees, each fitted to the residuals of the previous ones",
    "every function of its columns, with enough trees",
    "discriminative",
    "non-parametric",
    "batch",
    "the loss of the sum",
    "greedy, one tree at a time (gradient descent in function space)",
    "that of a small tree, times the number of trees",
    "the training loss decreases; too many trees overfit",
)
LOGISTIC = Traits(
    "linear log-odds: w·x + b",
    HYPERPLANES,
    "discriminative",
    "parametric",
    "batch",
    "conditional likelihood of the labels, with a penalty on the weights",
    "convex optimisation",
    "several passes over the rows",
    "the global optimum, to its tolerance",
)
ONLINE_LINEAR = Traits(
    "linear functions: w·x + b",
    HYPERPLANES,
    "discriminative",
    "parametric",
    "online",
    "the loss of one row at a time",
    "a gradient step per row",
    "linear in the rows per pass",
    "converges with decreasing steps; separates linearly separable classes",
)
LINEAR = Traits(
    "linear functions: w·x + b",
    "hyperplanes in feature space",
    "discriminative",
    "parametric",
    "batch",
    "squared errors, with a penalty on the weights",
    "a linear system, or coordinate descent",
    "one pass over the rows and cubic in the features; otherwise several passes",
    "the global optimum, to its tolerance",
)
SUPPORT_VECTOR_MACHINE = Traits(
    "linear functions in the feature space, or in that of a kernel",
    "hyperplanes; with a kernel nearly any boundary",
    "discriminative",
    "parametric if linear; otherwise the support vectors are kept",
    "batch",
    "the hinge loss (regression: errors beyond ε), with a penalty on the weights",
    "convex optimisation",
    "between quadratic and cubic in the rows with a kernel",
    "the global optimum, to its tolerance",
)
NETWORK = Traits(
    "layers of linear functions, each followed by a non-linearity",
    "every continuous function, with enough units",
    "discriminative",
    "parametric",
    "online, in mini-batches",
    "log loss or squared errors, with a penalty on the weights",
    "gradient steps from random initial weights",
    "linear in rows and weights per pass",
    "none: a local optimum that depends on the seed",
)
NAIVE_BAYES = Traits(
    "one distribution per class; columns are independent given the class",
    "linear log-odds (quadratic for numbers with class-specific variances)",
    "generative",
    "parametric",
    "online: counts and moments are added",
    "joint likelihood of rows and labels, smoothed",
    "none: closed form, by counting",
    "one pass over the rows",
    NAIVE_GUARANTEE,
)
DISCRIMINANT = Traits(
    "one multivariate normal distribution per class",
    "hyperplanes, or quadratic boundaries with class-specific covariances",
    "generative",
    "parametric",
    "batch",
    "joint likelihood of rows and labels",
    "none: closed form, means and covariances",
    "one pass over the rows, then cubic in the columns",
    "the exact optimum of its objective",
)
BASELINE = Traits(
    "one prediction for all rows",
    "constants",
    "neither: it ignores the columns",
    "parametric",
    "batch",
    "the loss of a constant",
    "none: counting",
    "one pass over the labels",
    "the best constant; a learner that does no better has learned nothing",
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
