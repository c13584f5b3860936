"""Models: immutable objects that score rows and explain the scores."""

from weigh.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "base": ("Model",),
        "calibrated": ("CalibratedModel",),
        "calibration": ("Isotonic", "Platt", "Temperature"),
        "counts.bayes_counts": ("BayesCounts",),
        "decision": ("Decision",),
        "evidence.evidence": ("Evidence", "Explained"),
        "file.loading": ("load",),
        "fit": ("Certificate", "Fit", "Optimality"),
        "inference": ("Posterior",),
        "joint_bayes": ("JointModel",),
        "linear": ("LinearModel",),
        "logistic": ("LogisticModel",),
        "naive_bayes": ("BayesModel",),
        "perceptron": ("PerceptronModel", "VotedModel"),
        "probability_table": ("ProbabilityTable",),
        "regression": ("RegressionModel",),
        "threshold": ("ThresholdModel",),
    },
)
