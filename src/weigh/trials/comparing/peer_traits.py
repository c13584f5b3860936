"""What kind of learners scikit-learn's are: one description for each family of classes."""

from __future__ import annotations

from weigh.trials.comparing.trait import Traits

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
ONLINE = Traits(
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
MARGIN = Traits(
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
BAYES = Traits(
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

FAMILIES = (
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
    (ONLINE, "SGDClassifier", "SGDRegressor", "Perceptron", "PassiveAggressiveClassifier"),
    (LINEAR, "LinearRegression", "Ridge", "RidgeCV", "RidgeClassifier", "ElasticNet", "ElasticNetCV"),
    (MARGIN, "LinearSVC", "LinearSVR", "SVC", "SVR", "NuSVC", "NuSVR"),
    (NETWORK, "MLPClassifier", "MLPRegressor"),
    (BAYES, "GaussianNB", "MultinomialNB", "BernoulliNB", "CategoricalNB", "ComplementNB"),
    (DISCRIMINANT, "LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"),
    (BASELINE, "DummyClassifier", "DummyRegressor"),
)
PEERS = {name: traits for traits, *names in FAMILIES for name in names}
