"""Learning without scikit-learn: tasks that any engine can run."""

from weigh.learn.bayes import BayesTask
from weigh.learn.dependence import Dependence, dependent_columns
from weigh.learn.design import Design, design
from weigh.learn.joint import JointTask
from weigh.learn.perceptron import Course, PerceptronTask
from weigh.learn.task import Counter, OrderedTask, Task
from weigh.learn.threshold import ThresholdTask
from weigh.learn.vocabulary import VocabularyTask

__all__ = [
    "BayesTask",
    "Counter",
    "Course",
    "Dependence",
    "Design",
    "JointTask",
    "OrderedTask",
    "PerceptronTask",
    "Task",
    "ThresholdTask",
    "VocabularyTask",
    "dependent_columns",
    "design",
]
