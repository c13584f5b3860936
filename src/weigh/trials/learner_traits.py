"""Qualitative descriptions of learners: hypothesis space, objective, search, cost and guarantees."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from sklearn.pipeline import Pipeline

from weigh.result import LINE_WIDTH, Facts, Lines, Result, Section, Table, to_json
from weigh.text import truncate
from weigh.trials.learners import learners_by_name

SUPERVISED = "supervised: labelled rows"
UNSUPERVISED = "unsupervised: rows without labels"


@dataclass(frozen=True, kw_only=True)
class Traits(Facts):
    """What a learner can represent, and how it is trained."""

    supervision: str = SUPERVISED
    hypothesis_space: str
    expressiveness: str
    strategy: str
    form: str
    learning: str
    scoring: str
    search: str
    cost: str
    guarantee: str


NOT_DESCRIBED = "not described"

TRAIT_TITLES = {
    "supervision": "supervised or not",
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
        hypothesis_space="one distribution per class; columns are independent given the class",
        expressiveness="linear log-odds (quadratic for numbers with class-specific variances); "
        "no interactions, so no XOR",
        strategy="generative",
        form="parametric",
        learning="online: counts are added, merged and subtracted",
        scoring=JOINT_LIKELIHOOD,
        search="none: closed form, by counting",
        cost="one pass over the rows",
        guarantee=NAIVE_GUARANTEE,
    ),
    "JointBayes": Traits(
        hypothesis_space="one probability table over all combinations of values",
        expressiveness="every function of its columns",
        strategy="generative",
        form="parametric, with one parameter per combination",
        learning="online: counts are added, merged and subtracted",
        scoring=JOINT_LIKELIHOOD,
        search="none: closed form, by counting",
        cost="one pass over the rows; the table grows with the product of the numbers of levels",
        guarantee="the exact optimum of its objective; it memorises if there are more cells than rows",
    ),
    "Perceptron": Traits(
        hypothesis_space="linear functions: the sign of w·x + b",
        expressiveness=HYPERPLANES,
        strategy="discriminative",
        form="parametric",
        learning="online, error-driven",
        scoring="training errors",
        search="an update after each mistake, for max_iter passes or until a pass has none",
        cost="linear in the rows per pass",
        guarantee="at most R²/γ² mistakes if the classes are linearly separable; otherwise none",
    ),
    "LogisticRegression": Traits(
        hypothesis_space="linear log-odds: w·x + b",
        expressiveness=HYPERPLANES,
        strategy="discriminative",
        form="parametric",
        learning="batch; online with method='online'",
        scoring="conditional likelihood of the labels, with a prior on the weights",
        search="convex optimisation; online: stochastic gradient descent",
        cost="several passes over the rows",
        guarantee="the global optimum, with a certified duality gap; none if online",
    ),
    "LinearRegression": Traits(
        hypothesis_space="linear functions: w·x + b",
        expressiveness="hyperplanes in feature space",
        strategy="discriminative",
        form="parametric",
        learning="batch",
        scoring="conditional likelihood (squared or absolute errors), with a prior on the weights",
        search="a linear system; convex optimisation for sparse weights or absolute errors",
        cost="one pass over the rows and cubic in the features; otherwise several passes",
        guarantee="the global optimum, with a certified duality gap",
    ),
    "Threshold": Traits(
        hypothesis_space="one threshold on one column",
        expressiveness="a step function of one column",
        strategy="discriminative",
        form="parametric",
        learning="batch",
        scoring="training errors",
        search="exhaustive: every threshold of every column",
        cost="one sort per column",
        guarantee="the global optimum; the threshold is in the middle of its gap",
    ),
}
TREE = Traits(
    hypothesis_space="trees of thresholds on single columns, which cut the space into boxes",
    expressiveness="every function of its columns, with enough leaves",
    strategy="discriminative",
    form="non-parametric",
    learning="batch",
    scoring="impurity (Gini, entropy, variance) after the next split",
    search="greedy, from the root down, without backtracking",
    cost="one sort per column and level: n log n",
    guarantee="none: finding the smallest tree is NP-hard; it memorises unless it is pruned or limited",
)
NEIGHBOURS = Traits(
    hypothesis_space="votes of the k nearest training rows",
    expressiveness="every function of its columns, with enough rows",
    strategy="discriminative",
    form="non-parametric",
    learning="lazy: training stores the rows",
    scoring="none in training; the distance between rows",
    search="none in training; nearest-neighbour search in prediction",
    cost="none in training; up to all rows per prediction",
    guarantee="k = 1: in the limit at most twice the Bayes error",
)
FOREST = Traits(
    hypothesis_space="averages of many trees, each grown on random rows and columns",
    expressiveness="every function of its columns",
    strategy="discriminative",
    form="non-parametric",
    learning="batch",
    scoring="impurity after the next split, for each tree",
    search="greedy, from the root down; averaging reduces variance",
    cost="that of a tree, times the number of trees",
    guarantee="none; more trees do not increase overfitting",
)
BOOSTING = Traits(
    hypothesis_space="sums of many small trees, each fitted to the residuals of the previous ones",
    expressiveness="every function of its columns, with enough trees",
    strategy="discriminative",
    form="non-parametric",
    learning="batch",
    scoring="the loss of the sum",
    search="greedy, one tree at a time (gradient descent in function space)",
    cost="that of a small tree, times the number of trees",
    guarantee="the training loss decreases; too many trees overfit",
)
LOGISTIC = Traits(
    hypothesis_space="linear log-odds: w·x + b",
    expressiveness=HYPERPLANES,
    strategy="discriminative",
    form="parametric",
    learning="batch",
    scoring="conditional likelihood of the labels, with a penalty on the weights",
    search="convex optimisation",
    cost="several passes over the rows",
    guarantee="the global optimum, to its tolerance",
)
ONLINE_LINEAR = Traits(
    hypothesis_space="linear functions: w·x + b",
    expressiveness=HYPERPLANES,
    strategy="discriminative",
    form="parametric",
    learning="online",
    scoring="the loss of one row at a time",
    search="a gradient step per row",
    cost="linear in the rows per pass",
    guarantee="converges with decreasing steps; separates linearly separable classes",
)
LINEAR = Traits(
    hypothesis_space="linear functions: w·x + b",
    expressiveness="hyperplanes in feature space",
    strategy="discriminative",
    form="parametric",
    learning="batch",
    scoring="squared errors, with a penalty on the weights",
    search="a linear system, or coordinate descent",
    cost="one pass over the rows and cubic in the features; otherwise several passes",
    guarantee="the global optimum, to its tolerance",
)
SUPPORT_VECTOR_MACHINE = Traits(
    hypothesis_space="linear functions in the feature space, or in that of a kernel",
    expressiveness="hyperplanes; with a kernel nearly any boundary",
    strategy="discriminative",
    form="parametric if linear; otherwise the support vectors are kept",
    learning="batch",
    scoring="the hinge loss (regression: errors beyond ε), with a penalty on the weights",
    search="convex optimisation",
    cost="between quadratic and cubic in the rows with a kernel",
    guarantee="the global optimum, to its tolerance",
)
NETWORK = Traits(
    hypothesis_space="layers of linear functions, each followed by a non-linearity",
    expressiveness="every continuous function, with enough units",
    strategy="discriminative",
    form="parametric",
    learning="online, in mini-batches",
    scoring="log loss or squared errors, with a penalty on the weights",
    search="gradient steps from random initial weights",
    cost="linear in rows and weights per pass",
    guarantee="none: a local optimum that depends on the seed",
)
NAIVE_BAYES = Traits(
    hypothesis_space="one distribution per class; columns are independent given the class",
    expressiveness="linear log-odds (quadratic for numbers with class-specific variances)",
    strategy="generative",
    form="parametric",
    learning="online: counts and moments are added",
    scoring="joint likelihood of rows and labels, smoothed",
    search="none: closed form, by counting",
    cost="one pass over the rows",
    guarantee=NAIVE_GUARANTEE,
)
DISCRIMINANT = Traits(
    hypothesis_space="one multivariate normal distribution per class",
    expressiveness="hyperplanes, or quadratic boundaries with class-specific covariances",
    strategy="generative",
    form="parametric",
    learning="batch",
    scoring="joint likelihood of rows and labels",
    search="none: closed form, means and covariances",
    cost="one pass over the rows, then cubic in the columns",
    guarantee="the exact optimum of its objective",
)
BASELINE = Traits(
    hypothesis_space="one prediction for all rows",
    expressiveness="constants",
    strategy="neither: it ignores the columns",
    form="parametric",
    learning="batch",
    scoring="the loss of a constant",
    search="none: counting",
    cost="one pass over the labels",
    guarantee="the best constant; a learner that does no better has learned nothing",
)
CLUSTERS = Traits(
    supervision=UNSUPERVISED,
    hypothesis_space="k centres; a row belongs to the nearest one",
    expressiveness="convex cells, one per cluster",
    strategy="neither: clusters are not classes",
    form="parametric",
    learning="batch",
    scoring="squared distances to the centres",
    search="alternating: assign rows, move centres, from several random starts",
    cost="linear in rows and clusters per pass",
    guarantee="a local optimum that depends on the start",
)
MIXTURE = Traits(
    supervision=UNSUPERVISED,
    hypothesis_space="a sum of k multivariate normal distributions",
    expressiveness="nearly every density, with enough components",
    strategy="generative: like Bayes with unknown classes",
    form="parametric",
    learning="batch",
    scoring="likelihood of the rows",
    search="expectation-maximisation",
    cost="linear in rows and components per pass, cubic in the columns",
    guarantee="the likelihood never decreases; a local optimum that depends on the start",
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
    (CLUSTERS, "KMeans", "MiniBatchKMeans"),
    (MIXTURE, "GaussianMixture", "BayesianGaussianMixture"),
)
SKLEARN_TRAITS = {name: traits for traits, *names in SKLEARN_FAMILIES for name in names}


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
class TraitTable(Result):
    """The traits of learners by name; None if a learner is not described."""

    learners: Mapping[str, Traits | None]

    def to_dict(self) -> dict[str, Any]:
        """Return the traits of every learner for JSON."""
        return {name: to_json(each) for name, each in self.learners.items()}

    def rows(self) -> list[list[str]]:
        """Return a header with the learners, then one row per trait: its title and a cell per learner."""
        titles = [TRAIT_TITLES.get(field.name, field.name.replace("_", " ")) for field in fields(Traits)]
        columns = [_trait_cells(each) for each in self.learners.values()]
        return [["", *self.learners], *map(list, zip(titles, *columns, strict=True))]

    def sections(self) -> list[Section]:
        """Return a paragraph per trait, or in HTML a table with a column per learner."""
        header, *rows = self.rows()
        names = [truncate(name, 20) for name in header[1:]]
        width = max(map(len, names)) + 4
        text = "\n\n".join(
            "\n".join([title, *(_format_entry(*pair, width) for pair in zip(names, cells, strict=True))])
            for title, *cells in rows
        )
        table = Table([header, *rows], left=len(header), caption="Kinds of learners")
        return [Section("traits", [Lines(text, table)])]

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
