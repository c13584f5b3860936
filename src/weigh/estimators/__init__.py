"""Learners as scikit-learn estimators."""

from weigh.estimators.base import expected_failed_checks
from weigh.estimators.bayes import JointBayes, NaiveBayes
from weigh.estimators.calibration import calibrate
from weigh.estimators.linear_model import LinearRegression, LogisticRegression
from weigh.estimators.model_selection import TuningResult, path, tune
from weigh.estimators.perceptron import Perceptron
from weigh.estimators.text_vectorizer import TextVectorizer
from weigh.estimators.threshold import Threshold
from weigh.learn.regularisation_path import Path

__all__ = [
    "JointBayes",
    "LinearRegression",
    "LogisticRegression",
    "NaiveBayes",
    "Path",
    "Perceptron",
    "TextVectorizer",
    "Threshold",
    "TuningResult",
    "calibrate",
    "expected_failed_checks",
    "path",
    "tune",
]
