"""Issue each warning once, at the line of the user's code that caused it, or collect the warnings."""

from __future__ import annotations

import _thread
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any, TypeAlias

# Where a warning is issued: file and line, the name of the module, and the registry of its warnings.
Origin: TypeAlias = "tuple[tuple[str, int], str, dict[Any, Any]]"

# Code between the user's line and a warning: this package, and what calls it on the user's behalf.
_LIBRARIES = {
    *("weigh", "sklearn", "joblib", "click"),
    *("concurrent", "contextlib", "functools", "multiprocessing", "runpy", "threading"),
}
_collected: ContextVar[list[Warning] | None] = ContextVar("collected", default=None)
_lock = _thread.allocate_lock()
_thread_state = _thread._local()


def find_origin() -> Origin:
    """Return the line of the user's code that called the library, for warnings from other threads."""
    frame = _user_frame()
    if frame is None:
        # Pools start new threads for every call, which therefore shows its own warnings.
        return ("sys", 1), "sys", vars(_thread_state)
    place, name = (frame.f_code.co_filename, frame.f_lineno), str(frame.f_globals.get("__name__", ""))
    return place, name, frame.f_globals.setdefault("__warningregistry__", {})


@contextmanager
def collect_warnings() -> Iterator[list[Warning]]:
    """Collect the warnings of this thread or task instead of issuing them."""
    collected: list[Warning] = []
    token = _collected.set(collected)
    try:
        yield collected
    finally:
        _collected.reset(token)


def warn(warning: Warning, columns: Iterable[object] = (), origin: Origin | None = None) -> None:
    """Issue a warning at the line of the user's code that called the library, or at another origin.

    Python's default filter shows a message once per line. The messages of this library contain numbers, which
    differ from fold to fold, and scikit-learn resets the filters for every fold. Therefore a line shows each
    class of warning once, and again only for columns that it has not named yet. A thread or a process of a
    pool, in which no line is the user's, counts as a line. Changed filters, `catch_warnings(record=True)` and
    `pytest.warns` start anew; "always" and "error" apply to every warning. Within `collect_warnings` nothing
    is issued.
    """
    collected = _collected.get()
    if collected is not None:
        collected.append(warning)
        return
    place, name, registry = origin or find_origin()
    if _find_action(warning, name, place[1]) in ("default", "module"):
        subjects = [f"{type(warning).__name__} {column}" for column in columns] or [type(warning).__name__]
        with _lock:
            if not _remember(registry, place, subjects):
                return
    warnings.warn_explicit(warning, type(warning), *place, name, {})


def _user_frame() -> FrameType | None:
    """Return the innermost frame outside the libraries."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        spec = frame.f_globals.get("__spec__")
        package = str(spec.name if spec else frame.f_globals.get("__name__", "")).partition(".")[0]
        if package not in _LIBRARIES:
            break
        frame = frame.f_back
    return frame


def _find_action(warning: Warning, module: str, line: int) -> str:
    """Return what Python's filters do with a warning."""
    for action, message, category, module_filter, line_filter in warnings.filters:
        if (
            isinstance(warning, category)
            and _matches(message, str(warning))
            and _matches(module_filter, module)
            and line_filter in (0, line)
        ):
            return action
    return "default"


def _matches(pattern: Any, text: str) -> bool:
    return pattern is None or bool(pattern == text if isinstance(pattern, str) else pattern.match(text))


def _remember(registry: dict[Any, Any], place: tuple[str, int], subjects: list[str]) -> bool:
    """Return whether a subject is new at a place since the filters or the recording of warnings changed."""
    # scikit-learn copies the filters for every fold, so they are compared by content.
    filters = tuple(tuple(getattr(each, "pattern", each) for each in entry) for entry in warnings.filters)
    state = (filters, warnings.showwarning, getattr(warnings, "_showwarnmsg_impl", None))
    if registry.get("weigh") != state:
        for key in [key for key in registry if isinstance(key, tuple) and key[:1] == ("weigh",)]:
            del registry[key]
        registry["weigh"] = state
    shown = registry.setdefault(("weigh", *place), set())
    is_new = not shown.issuperset(subjects)
    shown.update(subjects)
    return is_new
