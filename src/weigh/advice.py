"""Messages whose advice is data, so that every interface can write it in its own notation.

`Setting` is a parameter with a value and `Step` something else to do. `str` writes them as Python; another
interface gives its own notation to `Advised.render`, or sends the fields of `Advised.to_dict`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import isfinite

TYPE_CHECKING = False
if TYPE_CHECKING:
    # Importing typing takes longer than this module.
    from typing import Any, TypeAlias


class Call:
    """A call in a setting, such as Normal(1.0) or Penalty(l2=...); an argument may be left open (...)."""

    def __init__(self, name: str, *arguments: object, **keywords: object) -> None:
        self.name = name
        self.arguments = arguments
        self.keywords = keywords

    def __repr__(self) -> str:
        listed = [*map(_python, self.arguments), *(f"{k}={_python(v)}" for k, v in self.keywords.items())]
        return f"{self.name}({', '.join(listed)})"


class Setting:
    """A parameter and the value that a message recommends or is about; `str` gives the keyword argument.

    Without a value it is the parameter itself: of its `owner`, as in "NaiveBayes: prior", or "block=".
    Without a parameter it is a value alone.
    """

    def __init__(self, parameter: str, value: object = ..., owner: str = "") -> None:
        self.parameter = parameter
        self.value = value
        self.owner = owner

    def __str__(self) -> str:
        if self.owner:
            return f"{self.owner}: {self.parameter}"
        if not self.parameter:
            return _python(self.value)
        return f"{self.parameter}={'' if self.value is ... else _python(self.value)}"


class Step:
    """Advice that is more than a setting: its name, for the other interfaces, and its text in Python."""

    def __init__(self, name: str, python: str) -> None:
        self.name = name
        self.python = python

    def __str__(self) -> str:
        return self.python


Part: TypeAlias = "str | Setting | Step | BaseException"
Text: TypeAlias = "Part | tuple[Part, ...]"


def set_kind(column: str, kind: str | Call) -> Setting:
    """Return the setting that gives a column a kind."""
    return Setting("columns", {column: kind})


def _python(value: object) -> str:
    if isinstance(value, dict):
        # Kinds are written with their package, because they are not strings.
        pairs = ((key, f"{'weigh.' * isinstance(each, Call)}{_python(each)}") for key, each in value.items())
        return f"{{{', '.join(f'{key!r}: {text}' for key, text in pairs)}}}"
    return "..." if value is ... else safe_repr(value)


def safe_repr(value: object) -> str:
    """Return the repr of a value, or its type if it has none, like a huge integer or a list nested deeply."""
    try:
        return repr(value)
    except Exception:
        return f"<{type(value).__name__}>"


class Advised(Exception):
    """A message with advice as data: the common base of errors and warnings.

    `message` says what is wrong and `hint` what to do; each is a string, a setting, a step or another error,
    or a tuple of such parts. `parameter` and `value` are what was given and is wrong; `suggestion` is a name
    that may have been meant instead.
    """

    def __init__(
        self,
        message: Text = "",
        *,
        hint: Text = "",
        parameter: str = "",
        value: object = None,
        suggestion: str = "",
    ) -> None:
        super().__init__(message)
        self.hint = hint
        self.parameter = parameter
        self.value = value
        self.suggestion = suggestion

    def __str__(self) -> str:
        return self.render(str)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    def render(self, notation: Callable[[Setting | Step], str]) -> str:
        """Return the whole message with settings and steps in the notation of an interface."""
        sentences = (_render(text, notation) for text in (*self.args[:1], self.hint))
        did_you_mean = f"Did you mean {self.suggestion!r}?" if self.suggestion else ""
        return " ".join(sentence for sentence in (*sentences, did_you_mean) if sentence)

    def to_dict(self) -> dict[str, Any]:
        """Return the class, the message in Python's notation, and the fields that are filled, for JSON."""
        settings = [part for part in _parts(self.hint) if isinstance(part, Setting) and part.parameter]
        fields = {
            "error": type(self).__name__,
            "message": str(self),
            "parameter": self.parameter,
            "value": _plain(self.value),
            "suggestion": self.suggestion,
            "hint": _render(self.hint, str),
            "advice": [{"parameter": each.parameter, "value": _plain(each.value)} for each in settings],
        }
        return {name: field for name, field in fields.items() if field not in ("", None, [])}


def join(*texts: Text) -> Text:
    """Return texts as one."""
    return tuple(part for text in texts for part in _parts(text))


def _parts(text: Text) -> Iterator[Part]:
    yield from text if isinstance(text, tuple) else (text,)


def _render(text: Text, notation: Callable[[Setting | Step], str]) -> str:
    def render_part(part: Part) -> str:
        if isinstance(part, Advised):
            return part.render(notation)
        return notation(part) if isinstance(part, Setting | Step) else str(part)

    return "".join(map(render_part, _parts(text)))


def _plain(value: object) -> Any:
    """Return a value as JSON can hold it; objects become their notation in Python."""
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if value is ...:
        return None
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, str | int | float) else repr(value)
