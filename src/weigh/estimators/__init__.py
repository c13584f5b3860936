"""Learners with scikit-learn's face."""

from weigh.estimators.calibration import calibrate
from weigh.estimators.contract import expected_failed_checks
from weigh.estimators.joint_bayes import JointBayes
from weigh.estimators.linear_regression import LinearRegression
from weigh.estimators.logistic_regression import LogisticRegression
from weigh.estimators.naive_bayes import NaiveBayes
from weigh.estimators.path import Path, path
from weigh.estimators.perceptron import Perceptron
from weigh.estimators.text_vectorizer import TextVectorizer
from weigh.estimators.threshold import Threshold
from weigh.estimators.tuning import Tuned, tune

__all__ = [
    "JointBayes",
    "LinearRegression",
    "LogisticRegression",
    "NaiveBayes",
    "Path",
    "Perceptron",
    "TextVectorizer",
    "Threshold",
    "Tuned",
    "calibrate",
    "expected_failed_checks",
    "path",
    "tune",
]
