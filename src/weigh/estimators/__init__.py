"""Learners as scikit-learn estimators."""

from weigh.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "base": ("expected_failed_checks",),
        "bayes": ("JointBayes", "NaiveBayes"),
        "calibration": ("calibrate",),
        "linear_model": ("LinearRegression", "LogisticRegression"),
        "perceptron": ("Perceptron",),
        "text_vectorizer": ("TextVectorizer",),
        "threshold": ("Threshold",),
    },
)
