"""weigh: naive Bayes, perceptrons, logistic and linear regression from tables, text and mail, with reasons.

Names are resolved when they are first used, so that `import weigh` costs next to nothing.
"""

from weigh import errors as errors
from weigh.lazy_names import lazy_names

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "apps.mail.store": ("MailStore",),
        "apps.spelling.speller": ("Speller",),
        "estimators.base": ("expected_failed_checks",),
        "estimators.bayes": ("JointBayes", "NaiveBayes"),
        "estimators.calibration": ("calibrate",),
        "estimators.linear_model": ("LinearRegression", "LogisticRegression"),
        "estimators.model_selection": ("path", "tune"),
        "estimators.perceptron": ("Perceptron",),
        "estimators.text_vectorizer": ("TextVectorizer",),
        "estimators.threshold": ("Threshold",),
        "explain.counterfactual": ("flip",),
        "explain.decision_regions": ("regions",),
        "explain.likelihood_surface": ("surface",),
        "explain.novelty_detection": ("unfamiliar",),
        "explain.perceptron_trace": ("trace",),
        "explain.strongest_features": ("strongest",),
        "features.kind_registry": ("Derived", "Lag"),
        "features.kinds": ("Category", "Count", "Flag", "Number", "Products", "Skip"),
        "features.schema": ("Schema",),
        "features.text_kinds": ("Text", "Tokens"),
        "judge.label_audit": ("audit",),
        "judge.margins.margin": ("margin",),
        "judge.margins.mistake_bound": ("mistake_bound",),
        "judge.metrics.evaluation": ("Evaluation", "evaluate"),
        "judge.model_difference": ("diff",),
        "judge.verification.verify": ("verify",),
        "model.calibrated": ("CalibratedModel",),
        "model.decision": ("Decision",),
        "model.evidence.evidence": ("Evidence",),
        "model.file.loading": ("load",),
        "model.joint_bayes": ("JointModel",),
        "model.linear": ("LinearModel",),
        "model.logistic": ("LogisticModel",),
        "model.naive_bayes": ("BayesModel",),
        "model.perceptron": ("PerceptronModel", "VotedModel"),
        "model.probability_table": ("ProbabilityTable",),
        "model.regression": ("RegressionModel",),
        "model.threshold": ("ThresholdModel",),
        "priors.beta": ("Beta",),
        "priors.dirichlet": ("Dirichlet",),
        "priors.location_scale": ("Laplace", "Normal"),
        "priors.penalty": ("Penalty",),
        "report.builder": ("report_on",),
        "report.report": ("Report",),
        "source.base": ("Source",),
        "source.files.open_files": ("open",),
        "source.memory.table": ("rows",),
        "trials.bias_variance": ("bias_variance",),
        "trials.comparison": ("compare",),
        "trials.learning_curves": ("learning_curve",),
    },
)
__all__ += ["errors"]
