"""The web page of the served models."""

from weigh.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, {"routes": ("page_routes",)})
