"""Predictions, explanations and feedback over HTTP, and a web page; needs `pip install 'weigh[serve]'`."""

from weigh.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "app": ("create_app",),
        "http.access": ("Access", "TokenFile"),
        "http.limits": ("Limits",),
    },
)
