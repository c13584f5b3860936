"""Counts of requests and verdicts, summed over the processes of a server, in Prometheus' text format."""

from __future__ import annotations

import contextlib
import json
import os
import time
import uuid
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import TypeAlias

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
# Rows are compared with the training rows at most this often, so that it costs about a hundredth of the time.
SECONDS_BETWEEN_EXAMINATIONS = 0.05

Labels: TypeAlias = tuple[tuple[str, str], ...]
Counts: TypeAlias = dict[tuple[str, Labels], float]

_HELP = {
    "weigh_requests_total": "Requests by endpoint, model and status.",
    "weigh_request_seconds": "Time from the first byte of a request to its answer.",
    "weigh_predictions_total": "Predicted rows by model and verdict; 'unsure' has its own metric.",
    "weigh_unsure_total": "Predicted rows with the verdict 'unsure'.",
    "weigh_examined_rows_total": "Rows compared with training rows: one per request, at most 20 a second.",
    "weigh_unfamiliar_rows_total": "Rows among the examined ones that are unlike the training rows.",
    "weigh_feedback_rows_total": "Rows learned or forgotten.",
}


class Metrics:
    """The counts of this process, which other processes read from a file of the shared folder.

    A process writes its file about once a second; `format` adds the files of the others. Files of processes
    that have ended stay until the server ends, so that no count ever decreases.
    """

    def __init__(self, folder: str | None = None) -> None:
        self._counts: Counts = defaultdict(float)
        self._folder = folder
        self._name = f"{os.getpid()}-{uuid.uuid4().hex}.json"
        self._has_changed = False
        self._next_examination = 0.0

    def add(self, name: str, number: float, **labels: str) -> None:
        """Add to a count."""
        self._counts[name, tuple(labels.items())] += number
        self._has_changed = True

    def observe_request(self, endpoint: str, model: str, status: int, seconds: float) -> None:
        """Count a request and its time."""
        counts = self._counts
        labels = (("endpoint", endpoint),)
        counts["weigh_requests_total", (*labels, ("model", model), ("status", str(status)))] += 1
        bucket = bisect_left(BUCKETS, seconds)
        if bucket < len(BUCKETS):
            counts["weigh_request_seconds_bucket", (*labels, ("le", str(BUCKETS[bucket])))] += 1
        counts["weigh_request_seconds_count", labels] += 1
        counts["weigh_request_seconds_sum", labels] += seconds
        self._has_changed = True

    def may_examine(self) -> bool:
        """Return whether enough time has passed to examine another row."""
        now = time.monotonic()
        if now < self._next_examination:
            return False
        self._next_examination = now + SECONDS_BETWEEN_EXAMINATIONS
        return True

    def publish(self) -> None:
        """Write the counts to the shared folder if they have changed."""
        if self._folder is None or not self._has_changed:
            return
        self._has_changed = False
        path = os.path.join(self._folder, self._name)
        records = [[name, labels, number] for (name, labels), number in list(self._counts.items())]
        with contextlib.suppress(OSError):
            with open(f"{path}.new", "w", encoding="ascii") as file:
                json.dump(records, file)
            os.replace(f"{path}.new", path)

    def format(self) -> str:
        """Return the counts of all processes as Prometheus' text."""
        totals: Counts = defaultdict(float, self._counts)
        for name, labels, number in self._read_others():
            totals[name, labels] += number
        return "".join(f"{line}\n" for line in _format_lines(totals))

    def _read_others(self) -> Iterable[tuple[str, Labels, float]]:
        folder = self._folder
        names = [] if folder is None else sorted(os.listdir(folder))
        for file_name in names:
            if folder is None or not file_name.endswith(".json") or file_name == self._name:
                continue
            with contextlib.suppress(OSError, ValueError):
                with open(os.path.join(folder, file_name), encoding="ascii") as file:
                    records = json.load(file)
                for name, labels, number in records:
                    yield name, tuple((key, value) for key, value in labels), number


def _format_lines(totals: Mapping[tuple[str, Labels], float]) -> Iterable[str]:
    for metric, text in _HELP.items():
        is_histogram = metric == "weigh_request_seconds"
        yield f"# HELP {metric} {text}"
        yield f"# TYPE {metric} {'histogram' if is_histogram else 'counter'}"
        if is_histogram:
            yield from _format_histogram(metric, totals)
            continue
        for (name, labels), number in sorted(totals.items()):
            if name == metric:
                yield f"{name}{_format_labels(labels)} {number:.15g}"


def _format_histogram(metric: str, totals: Mapping[tuple[str, Labels], float]) -> Iterable[str]:
    for (name, labels), count in sorted(totals.items()):
        if name != f"{metric}_count":
            continue
        below = 0.0
        for bound in BUCKETS:
            bucket = (*labels, ("le", str(bound)))
            below += totals.get((f"{metric}_bucket", bucket), 0.0)
            yield f"{metric}_bucket{_format_labels(bucket)} {below:.15g}"
        yield f"{metric}_bucket{_format_labels((*labels, ('le', '+Inf')))} {count:.15g}"
        yield f"{metric}_sum{_format_labels(labels)} {totals.get((f'{metric}_sum', labels), 0.0):.9g}"
        yield f"{metric}_count{_format_labels(labels)} {count:.15g}"


def _format_labels(labels: Labels) -> str:
    pairs = ",".join(f'{name}="{_escape(value)}"' for name, value in labels)
    return f"{{{pairs}}}" if pairs else ""


def _escape(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return escaped.encode("utf-8", "replace").decode()
