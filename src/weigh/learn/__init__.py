"""Learners as tasks that any engine can run; independent of scikit-learn."""

from weigh.learn.design_matrix import DesignMatrix, build_design_matrix
from weigh.learn.diagnostics import Dependence, find_dependent_columns
from weigh.learn.joint_bayes import JointTask
from weigh.learn.naive_bayes import BayesTask
from weigh.learn.perceptron import PerceptronTask, PerceptronTraining
from weigh.learn.preprocessing import VocabularyTask
from weigh.learn.task import Counter, OrderedTask, Task
from weigh.learn.threshold import ThresholdTask

__all__ = [
    "BayesTask",
    "Counter",
    "Dependence",
    "DesignMatrix",
    "JointTask",
    "OrderedTask",
    "PerceptronTask",
    "PerceptronTraining",
    "Task",
    "ThresholdTask",
    "VocabularyTask",
    "build_design_matrix",
    "find_dependent_columns",
]
