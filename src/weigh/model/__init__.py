"""Models: frozen objects that read rows, give scores and explain them."""

from weigh.model.base import Model
from weigh.model.bayes import BayesModel
from weigh.model.bayes_counts import BayesCounts
from weigh.model.calibrated import CalibratedModel
from weigh.model.calibration import Isotonic, Platt, Temperature
from weigh.model.certificate import Certificate
from weigh.model.decision import Decision
from weigh.model.evidence import Evidence
from weigh.model.explained import Explained
from weigh.model.fit import Fit
from weigh.model.joint import JointModel
from weigh.model.linear import LinearModel
from weigh.model.loading import load
from weigh.model.logistic import LogisticModel
from weigh.model.optimality import Optimality
from weigh.model.perceptron import PerceptronModel, VotedModel
from weigh.model.posterior import Posterior
from weigh.model.regression import RegressionModel
from weigh.model.table import ProbabilityTable
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
