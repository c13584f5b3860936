"""Learning without scikit-learn: tasks that any engine can run."""

from weigh.learn.bayes import BayesTask
from weigh.learn.dependence import Dependence, dependent_columns
from weigh.learn.joint import JointTask
from weigh.learn.task import Counter, Task
from weigh.learn.threshold import ThresholdTask
from weigh.learn.vocabulary import VocabularyTask

__all__ = [
    "BayesTask",
    "Counter",
    "Dependence",
    "JointTask",
    "Task",
    "ThresholdTask",
    "VocabularyTask",
    "dependent_columns",
]
