"""The parameters of every learner, which estimators, tasks, `--set`, `--help` and the reference read."""

from __future__ import annotations

from dataclasses import replace

from weigh.parameters import (
    SCALES,
    AutomaticWeightPriors,
    CellPrior,
    ClassPriors,
    ClassWeights,
    ColumnName,
    CountPrior,
    Flag,
    Markers,
    Noise,
    OneOf,
    PairsOfColumns,
    Parameter,
    ParameterTable,
    RealNumber,
    Stated,
    WeightPriors,
    WholeNumber,
)

CALIBRATION_METHODS = ("temperature", "platt", "isotonic")
HYPOTHESES = ("averaged", "last", "voted", "lazy")
MAX_RATE = 1e100
MAX_PASSES = 10_000  # of a perceptron without `max_iter`, whose rows may not be separable

_COLUMNS = Parameter(
    "columns",
    "kinds of the columns",
    Stated("'auto', a kind for all columns, a mapping from names to kinds, or a schema"),
    "auto",
    "Kinds that are not given are inferred from the first rows.",
    option="--kind",
)
_LINEAR_COLUMNS = replace(
    _COLUMNS,
    details="Kinds that are not given are inferred from the first rows. Categories have one feature per "
    "level, two-valued ones a single feature. ``weigh.Products(2)`` adds products of columns.",
)
_MISSING = Parameter(
    "missing",
    'values that mean "missing"',
    Markers(),
    (),
    'For example ``["?"]``; None and NaN always do.',
    option="--missing",
)
_ZERO_MISSING = replace(
    _MISSING,
    details=f"{_MISSING.details} In a table with column names, numbers that are missing in some of the first "
    "rows count as the mean of their column, unless the prior has stated numbers or `scale` is given; other "
    "missing numbers count as zero, and exact fits warn about it.",
)
_THREADS = Parameter(
    "threads",
    "number of threads",
    WholeNumber(1, (None,)),
    None,
    "None means all cores. Any number gives the same model.",
    option="--threads",
)
_CLASS_PRIOR = Parameter(
    "class_prior",
    "probabilities of the classes",
    ClassPriors(),
    None,
    "None uses the frequencies, a number or Dirichlet smooths them, a mapping gives the probabilities.",
)
_WEIGHT_PRIOR = Parameter(
    "prior",
    "prior of the weights; a number s is Normal(s), or ridge, Laplace is lasso, Penalty an elastic net",
    WeightPriors(),
    1.0,
    'A mapping from columns sets it by column; the others have Normal(1). ``Normal("cv")``, '
    '``Laplace("cv")`` and ``Penalty(l1=1, l2=1, scale="cv")`` choose the scale by cross-validation. '
    "``Normal(0.3, mean=older_model)`` "
    "centres the prior at the weights of an older model.",
)
_BIAS = Parameter("bias", "fit an intercept", Flag(), True)
_SCALE = Parameter(
    "scale",
    "standardise numbers during learning; auto: unless the prior has stated numbers, as normal:1 has",
    SCALES,
    "auto",
    '"auto" standardises the numbers of a table with column names if the prior is a number or its scale is '
    "chosen from the data; ``Normal(s)``, ``Laplace(t)`` and ``Penalty`` apply to the original units. "
    "Columns of 0 and 1 and bare arrays are not rescaled. The prior then applies to the standardised "
    "numbers; the weights are reported in the original units. In an exact logistic regression of at least "
    "50 rows, the words of texts whose kind is not given then have the values of "
    '``Text(weighting="log-tfidf", norm="l2")``.',
)
_CURVES = Parameter(
    "curves",
    "smoothed curves instead of straight lines for all numbers of a table",
    OneOf((None, "auto")),
    None,
    '"auto" makes every number a ``weigh.Curve()``; kinds that are given stay. Curves have a random-walk '
    "prior around a straight line and categories are pooled, with strengths by marginal likelihood.",
    method="exact",
)
_PAIRS = Parameter(
    "pairs",
    "joint effects of two columns, beside curves",
    PairsOfColumns(),
    None,
    '"auto" adds pairs while the loss of held-out rows falls; a number n adds the n clearest; a list such as '
    '``[("age", "hours")]`` names them.',
    method="exact",
)
_OFFSET = Parameter(
    "offset",
    "column that is added to the score with weight one",
    ColumnName(),
    None,
    "Not for online learning.",
)
_CLASS_WEIGHT = Parameter("class_weight", "weights of the classes", ClassWeights(), None)
_SHUFFLE = Parameter("shuffle", "shuffle the rows before each pass", Flag(), True)
_RANDOM_STATE = Parameter(
    "random_state",
    "seed of the shuffling",
    WholeNumber(0),
    0,
    "In Python also None or a ``RandomState``, from which a seed is drawn.",
)
_FOLDS = Parameter("folds", "number of cross-validation folds", WholeNumber(2), 5, "Stratified by class.")
_TOLERANCE = Parameter(
    "tol",
    "largest duality gap, relative to the objective without features",
    RealNumber(above=0, below=1),
    1e-8,
)
_ITERATIONS = Parameter("max_iter", "maximum number of solver iterations", WholeNumber(1), 10_000)

NAIVE_BAYES = ParameterTable(
    "naive-bayes",
    "NaiveBayes",
    (
        _COLUMNS,
        Parameter(
            "prior",
            "pseudo-count of every value (1 is Laplace smoothing), or its prior",
            CountPrior(),
            1.0,
            "A number is added to every count, None is maximum likelihood, Dirichlet and Beta are maximum a "
            "posteriori. A mapping from columns sets it by column; the others keep 1.",
        ),
        _CLASS_PRIOR,
        Parameter(
            "complement",
            "learn a class's word weights from all other classes; counts and text only",
            Flag(),
            False,
        ),
        Parameter(
            "number",
            "how columns inferred to be numbers are modelled",
            Stated("None, or a Number such as Number(bins=20)"),
            None,
            option=None,
        ),
        _MISSING,
        _THREADS,
        Parameter(
            "calibration",
            "calibrate the probabilities on leave-one-out scores of the training rows",
            OneOf((None, "auto", *CALIBRATION_METHODS)),
            None,
            '"auto" fits a temperature and uses it where it lowers the leave-one-out log loss by more than '
            "its standard error, never with fewer than 200 rows or without a prior. For the others see "
            "`weigh.calibrate`. `partial_fit`, `forget` and `merge` drop the calibration with a warning.",
        ),
    ),
)

JOINT_BAYES = ParameterTable(
    "joint",
    "JointBayes",
    (
        Parameter(
            "prior",
            "pseudo-count of every cell (1 is Laplace smoothing), or its prior",
            CellPrior(),
            1.0,
            "None is maximum likelihood, Dirichlet(b) is maximum a posteriori: b − 1 per cell.",
        ),
        _CLASS_PRIOR,
        replace(
            _COLUMNS,
            details="Categories, flags and binned numbers can be tabulated; text and counts are an error. "
            "Columns inferred to be numbers are cut into 10 bins at quantiles of the first 10,000 rows; "
            '``{"age": weigh.Number(bins=(18, 65))}`` sets the cuts.',
        ),
        _MISSING,
        _THREADS,
    ),
)

THRESHOLD = ParameterTable(
    "threshold",
    "Threshold",
    (
        replace(_COLUMNS, details='Columns given as "category", "text" or "skip" are skipped.'),
        _MISSING,
    ),
)

PERCEPTRON = ParameterTable(
    "perceptron",
    "Perceptron",
    (
        Parameter(
            "keep",
            "hypothesis that predicts",
            OneOf(HYPOTHESES),
            "averaged",
            "The mean of the weights over all examples, the last weights, the vote of all weights, or the "
            "mean of the weights after each update.",
        ),
        Parameter(
            "record",
            "keep the misclassified rows, for all four hypotheses",
            Flag(),
            False,
            'Makes ``model_.keep("voted")`` and the others available from one training; "voted" implies it.',
        ),
        Parameter(
            "margin",
            "also update on rows that are correct by less than this",
            RealNumber(minimum=0),
            0.0,
            "A margin gives a thick separator.",
        ),
        Parameter("relative", "margin in units of the length of the weight vector", Flag(), False),
        Parameter(
            "rate",
            "step size of an update",
            RealNumber(above=0, maximum=MAX_RATE),
            1.0,
            "Without a margin it changes no prediction.",
        ),
        Parameter(
            "max_iter",
            "maximum number of passes",
            WholeNumber(1, (None,)),
            20,
            "There are fewer if a pass changes nothing; the average and the votes then continue with the "
            "last weights, without further passes, until the average makes no errors on the rows. None makes "
            f"passes until one changes nothing, at most {MAX_PASSES:,}.",
        ),
        Parameter(
            "mixing",
            "how the partitions of a Dask or Spark frame are learned",
            OneOf((None, "uniform")),
            None,
            '"uniform" is iterative parameter mixing: in every pass each partition learns from the same '
            "weights, and the mean of theirs begins the next pass. The result depends on the partitions. "
            "None refuses frames. Other rows are one partition, for which it has no effect.",
        ),
        _SHUFFLE,
        _RANDOM_STATE,
        Parameter(
            "multiclass",
            "training of several classes",
            OneOf(("joint", "one-vs-rest")),
            "joint",
            "The weight vectors are trained against each other, or each separately.",
        ),
        _BIAS,
        replace(
            _SCALE,
            meaning="standardise numbers during learning; auto: those of tables with column names",
            details='"auto" standardises the numbers of a table with column names and at least 10 rows, but '
            "not columns of 0 and 1 and not bare arrays. The weights are reported in the original units. In "
            "`fit` with at least 50 rows, the words of texts whose kind is not given then have the values of "
            '``Text(weighting="log-tfidf", norm="l2")``.',
        ),
        _CLASS_WEIGHT,
        Parameter("warm_start", "continue `fit` from the current weights", Flag(), False, option=None),
        _LINEAR_COLUMNS,
        _MISSING,
    ),
)

LOGISTIC_REGRESSION = ParameterTable(
    "logistic",
    "LogisticRegression",
    (
        replace(
            _WEIGHT_PRIOR,
            allowed=AutomaticWeightPriors(),
            default="auto",
            details='"auto" is Normal(1), and for exact fits of tables with column names and at least 50 '
            "rows the scale out of 0.1, 0.3, 1, 3, 10 and 30 that predicts held-out rows best, if it does so "
            f"significantly better than 1. {_WEIGHT_PRIOR.details}",
        ),
        Parameter(
            "method",
            "minimise the objective, or update row by row, for files of any size",
            OneOf(("exact", "online")),
            "exact",
            "Online updates, w ← w + ε (y − p) x, support files of any size and `partial_fit`, but have no "
            "certificate.",
        ),
        _BIAS,
        _SCALE,
        _OFFSET,
        _CURVES,
        _PAIRS,
        _CLASS_WEIGHT,
        replace(_FOLDS, method="exact"),
        replace(_TOLERANCE, default=1e-6, method="exact", is_optional=True),
        Parameter(
            "tol",
            "smallest relative decrease of the objective per pass",
            RealNumber(minimum=0),
            1e-3,
            "0 always makes `max_iter` passes.",
            method="online",
            is_optional=True,
        ),
        replace(_ITERATIONS, default=1_000, method="exact", is_optional=True),
        Parameter(
            "max_iter", "maximum number of passes", WholeNumber(1), 20, method="online", is_optional=True
        ),
        Parameter(
            "rate",
            "step size of the plain update, or automatic step sizes",
            RealNumber(above=0, maximum=MAX_RATE, words=("safe",)),
            "safe",
            method="online",
        ),
        replace(_SHUFFLE, method="online"),
        replace(_RANDOM_STATE, method="online"),
        _LINEAR_COLUMNS,
        _ZERO_MISSING,
    ),
)

LINEAR_REGRESSION = ParameterTable(
    "linear",
    "LinearRegression",
    (
        replace(
            _WEIGHT_PRIOR,
            default=None,
            details="A mapping from columns sets it by column; the others have no prior. "
            '``Normal("cv")``, ``Laplace("cv")`` and ``Penalty(l1=1, l2=1, scale="cv")`` choose the scale '
            "by cross-validation, "
            '``Normal("evidence")`` by the marginal likelihood. '
            "``Normal(0.3, mean=older_model)`` centres the prior at the weights of an older "
            "model.",
        ),
        Parameter(
            "noise",
            "distribution of the noise; laplace means least absolute deviations",
            Noise(),
            "normal",
            "Normal noise means squared loss, Laplace noise absolute loss. If a prior needs σ and it is not "
            "given, it is estimated from the residuals of least squares.",
        ),
        _BIAS,
        _SCALE,
        replace(_OFFSET, meaning="column that is added to the prediction with weight one", details=""),
        replace(_CURVES, method=None),
        replace(_PAIRS, method=None),
        replace(
            _FOLDS,
            allowed=WholeNumber(2, ("loo",)),
            details='Folds are consecutive rows; "loo" chooses the scale of a Normal prior by leave-one-out '
            "in closed form.",
        ),
        _TOLERANCE,
        _ITERATIONS,
        _LINEAR_COLUMNS,
        _ZERO_MISSING,
    ),
)

LEARNERS = {
    table.name: table
    for table in (NAIVE_BAYES, JOINT_BAYES, PERCEPTRON, THRESHOLD, LOGISTIC_REGRESSION, LINEAR_REGRESSION)
}
