"""Reports on models: facts are collected first, then rendered as one self-contained HTML page."""

from weigh.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__, {"builder": ("report_on",), "facts": ("ReportFacts",), "report": ("Report",)}
)
