"""Learners with scikit-learn's face."""

from weigh.estimators.contract import expected_failed_checks
from weigh.estimators.joint_bayes import JointBayes
from weigh.estimators.naive_bayes import NaiveBayes
from weigh.estimators.perceptron import Perceptron
from weigh.estimators.text_vectorizer import TextVectorizer
from weigh.estimators.threshold import Threshold
from weigh.estimators.tuning import Tuned, tune

__all__ = [
    "JointBayes",
    "NaiveBayes",
    "Perceptron",
    "TextVectorizer",
    "Threshold",
    "Tuned",
    "expected_failed_checks",
    "tune",
]
