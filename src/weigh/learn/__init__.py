"""Learners as tasks that any engine can run; independent of scikit-learn."""

from weigh.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "design_matrix": ("DesignMatrix", "build_design_matrix"),
        "redundancy": ("Dependence", "find_dependent_columns"),
        "joint_bayes": ("JointTask",),
        "naive_bayes": ("BayesTask",),
        "perceptron": ("PerceptronTask", "PerceptronTraining"),
        "preprocessing": ("VocabularyTask",),
        "task": ("Counter", "OrderedTask", "Task"),
        "threshold": ("ThresholdTask",),
    },
)
