"""Models: immutable objects that score rows and explain the scores."""

from weigh.model.base import Model
from weigh.model.calibrated import CalibratedModel
from weigh.model.calibration import Isotonic, Platt, Temperature
from weigh.model.counts.bayes_counts import BayesCounts
from weigh.model.decision import Decision
from weigh.model.evidence.evidence import Evidence, Explained
from weigh.model.file.loading import load
from weigh.model.fit import Certificate, Fit, Optimality
from weigh.model.inference import Posterior
from weigh.model.joint_bayes import JointModel
from weigh.model.linear import LinearModel
from weigh.model.logistic import LogisticModel
from weigh.model.naive_bayes import BayesModel
from weigh.model.perceptron import PerceptronModel, VotedModel
from weigh.model.probability_table import ProbabilityTable
from weigh.model.regression import RegressionModel
from weigh.model.threshold import ThresholdModel

__all__ = [
    "BayesCounts",
    "BayesModel",
    "CalibratedModel",
    "Certificate",
    "Decision",
    "Evidence",
    "Explained",
    "Fit",
    "Isotonic",
    "JointModel",
    "LinearModel",
    "LogisticModel",
    "Model",
    "Optimality",
    "PerceptronModel",
    "Platt",
    "Posterior",
    "ProbabilityTable",
    "RegressionModel",
    "Temperature",
    "ThresholdModel",
    "VotedModel",
    "load",
]
