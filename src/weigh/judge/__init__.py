"""Evaluate and check models: metrics with intervals, margins, verification, label audits, differences."""

from weigh.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "label_audit": ("Audit", "audit"),
        "margins.margin": ("Margin", "margin"),
        "margins.mistake_bound": ("MistakeBound", "mistake_bound"),
        "metrics.evaluation": ("Evaluation", "evaluate"),
        "metrics.regression": ("RegressionEvaluation",),
        "model_difference": ("Difference", "diff"),
        "verification.verify": ("Verification", "verify"),
    },
)
