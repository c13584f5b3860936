"""Learners with scikit-learn's face."""

from weigh.estimators.naive_bayes import NaiveBayes

__all__ = ["NaiveBayes"]
