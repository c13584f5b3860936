"""The path of one row in docs/architecture.md names the functions that are called, in their order."""

from __future__ import annotations

import functools
import importlib
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import weigh

PAGE = Path(__file__).parents[2] / "docs" / "architecture.md"
TABLE = {
    "sky": ["sun", "rain", "sun", "fog", "rain", "fog"],
    "warm": [21.5, 12.0, 25.0, 9.5, 14.0, 18.0],
    "play": ["yes", "no", "yes", "no", "no", "yes"],
}
ROW = {"sky": "sun", "warm": 20.0}
LINE = re.compile(r"^([│ ]*[├└]─ )(\S+) +([a-z_.]+): (\S.*)$")

Name = tuple[str, str]  # module and qualified name
Step = tuple[int, Name]  # depth in the diagram, and the function


def paths_of_page() -> dict[str, list[Step]]:
    """Return the steps of every diagram of the section, by the operation in its first line."""
    section = PAGE.read_text().split("## The path of one row\n")[1].split("\n## ")[0]
    paths = {}
    for block in re.findall(r"```text\n(.*?)```", section, re.DOTALL):
        title, *lines = block.splitlines()
        steps = [LINE.match(line) for line in lines]
        assert all(steps), [line for line, step in zip(lines, steps, strict=True) if step is None]
        paths[title] = [(len(step[1]) // 3, (f"weigh.{step[3]}", step[2])) for step in steps if step]
    return paths


def operations() -> dict[str, Callable[[], Any]]:
    model = weigh.NaiveBayes().fit(TABLE, "play").model_
    return {
        'weigh.NaiveBayes().fit(table, "play")': lambda: weigh.NaiveBayes().fit(TABLE, "play"),
        "model.predict(row)": lambda: model.predict(ROW),
        "model.explain(row)": lambda: model.explain(ROW),
    }


def traced_calls(operation: Callable[[], Any]) -> list[list[Name]]:
    """Return the stack of functions, innermost last, at every call that the operation makes."""
    calls: list[list[Name]] = []

    def record(frame: FrameType | None, event: str, _: Any) -> None:
        stack: list[Name] = []
        while event == "call" and frame is not None:
            stack.append((frame.f_globals.get("__name__", ""), frame.f_code.co_qualname))
            frame = frame.f_back
        if stack and stack[0][0].startswith("weigh."):
            calls.append(stack[::-1])

    sys.setprofile(record)
    try:
        operation()
    finally:
        sys.setprofile(None)
    return calls


def first_difference(steps: list[Step], calls: list[list[Name]]) -> str | None:
    """Return what differs first between a diagram and the calls: the order, or the caller."""
    remaining, parents = iter(calls), dict[int, Name]()
    for depth, name in steps:
        parents[depth] = name
        callers = (stack[:-1] for stack in remaining if stack[-1] == name)
        if not any(depth == 1 or parents.get(depth - 1) in stack for stack in callers):
            return f"{name[1]} is not called in this order by {parents.get(depth - 1)}"
    return None


def test_the_page_draws_all_three_operations() -> None:
    assert list(paths_of_page()) == list(operations())


@pytest.mark.parametrize("title", operations())
def test_the_functions_of_the_page_exist_and_are_called_in_this_order(title: str) -> None:
    steps = paths_of_page()[title]
    for _, (module, name) in steps:
        functools.reduce(getattr, name.split("."), importlib.import_module(module))
    assert first_difference(steps, traced_calls(operations()[title])) is None


@pytest.mark.parametrize("title", operations())
def test_a_diagram_in_another_order_or_with_another_name_is_found(title: str) -> None:
    steps, calls = paths_of_page()[title], traced_calls(operations()[title])
    assert first_difference([*steps[:-2], steps[-1], steps[-2]], calls)
    assert first_difference([*steps, (1, ("weigh.model.base", "Model.linear"))], calls)
    assert first_difference([steps[0], (1, ("weigh.model.base", "Model.linear")), *steps[1:]], calls)
