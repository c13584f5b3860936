"""Evaluation of learners by resampling: learning curves, bias and variance, comparison, tuning."""

from weigh.lazy_names import lazy_names

# The function bias_variance has the name of its module, so it is found there and in weigh.
__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "bias_variance": ("BiasVariance",),
        "comparison": ("Comparison", "compare"),
        "learner_choice": ("LearnerChoice", "choose_learner"),
        "learner_traits": ("TraitTable", "describe_learners"),
        "learning_curves": ("LearningCurve", "learning_curve"),
        "tuning": ("TuningResult", "tune"),
    },
)
