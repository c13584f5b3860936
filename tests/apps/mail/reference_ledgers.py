"""Reference implementations of the mail filter's learners in plain Python, one message at a time."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable
from typing import Any

View = tuple[int, ...]
Views = tuple[View, View]


def pack_features(views: Iterable[Iterable[int]]) -> bytes:
    """Return the hashed features of a message as the ledger takes them."""
    headers, body = (sorted(set(view)) for view in views)
    return struct.pack(f"<II{len(headers) + len(body)}Q", len(headers), len(body), *headers, *body)


def to_float32(number: float) -> float:
    """Round a number to single precision, as the ledger stores it."""
    return struct.unpack("<f", struct.pack("<f", number))[0]


def feature_value(view: View) -> float:
    return 1 / math.sqrt(max(len(view), 1))


def view_score(rows: dict[int, tuple[float, float]], view: View, bias: float) -> float:
    """Return a view's score, summed in the order of the ledger: margins depend on the last bit."""
    return bias + sum(rows[key][0] for key in view if key in rows) * feature_value(view)


def to_log_odds(parts: dict[Any, float], scale: float) -> dict[Any, float]:
    """Scale the terms of a score so that they sum to its log-odds, which are at most 11."""
    score = sum(parts.values())
    unit = 11 * math.tanh(scale * score) / score if score else 11 * scale
    return {key: unit * part for key, part in parts.items()}


class ReferenceBayes:
    def __init__(self) -> None:
        self.messages = [0, 0]
        self.counts: dict[int, list[int]] = {}

    def learn(self, views: Views, spam: int) -> None:
        self.messages[spam] += 1
        for key in (key for view in views for key in view):
            self.counts.setdefault(key, [0, 0])[spam] += 1

    def evidence(self, views: Views) -> dict[tuple[int, int], float]:
        return {
            (i, key): 10 * self.logit(*self.counts[key]) / len(view)
            for i, view in enumerate(views)
            for key in view
            if key in self.counts
        }

    def logit(self, ham: int, spam: int) -> float:
        hams, spams = self.messages
        if not hams or not spams:
            return 0.0
        p = (spam / spams) / (spam / spams + ham / hams)
        f = (0.03 * 0.5 + (ham + spam) * p) / (0.03 + ham + spam)
        return math.log(f / (1 - f))


class ReferenceLogistic:
    def __init__(self) -> None:
        self.rows: dict[int, tuple[float, float]] = {}
        self.biases = [0.0, 0.0]

    def parts(self, i: int, view: View) -> dict[tuple[int, int], float]:
        terms = {(i, key): self.rows[key][0] * feature_value(view) for key in view if key in self.rows}
        return {(i, 0): self.biases[i], **terms}

    def learn(self, views: Views, spam: int) -> None:
        for i, view in enumerate(views):
            error = spam - 1 / (1 + math.exp(-view_score(self.rows, view, self.biases[i])))
            gradient = error * feature_value(view)
            for key in view:
                w, squares = self.rows.get(key, (0.0, 0.0))
                squares += gradient**2
                self.rows[key] = to_float32(w + gradient / math.sqrt(squares + 1e-8)), to_float32(squares)
            self.biases[i] += 0.02 * error

    def evidence(self, views: Views) -> dict[tuple[int, int], float]:
        terms = [to_log_odds(self.parts(i, view), 1 / 12) for i, view in enumerate(views)]
        return terms[0] | terms[1]


class ReferencePerceptron:
    def __init__(self) -> None:
        self.rows: dict[int, tuple[float, float]] = {}
        self.biases = [(0.0, 0.0), (0.0, 0.0)]
        self.messages = 0

    def parts(self, i: int, view: View, share: float) -> dict[tuple[int, int], float]:
        """Return the terms of the score with averaged weights, w minus a share of the weighted updates."""
        bias = self.biases[i][0] - self.biases[i][1] * share
        known = {key: self.rows[key] for key in view if key in self.rows}
        return {(i, 0): bias} | {(i, k): (w - u * share) * feature_value(view) for k, (w, u) in known.items()}

    def learn(self, views: Views, spam: int) -> None:
        truth, ticks = (1.0 if spam else -1.0), float(self.messages) ** 4
        for i, view in enumerate(views):
            if truth * view_score(self.rows, view, self.biases[i][0]) > 0.15:
                continue
            for key in view:
                w, u = self.rows.get(key, (0.0, 0.0))
                change = truth * feature_value(view)
                self.rows[key] = to_float32(w + change), to_float32(u + ticks * change)
            w, u = self.biases[i]
            self.biases[i] = w + 0.02 * truth, u + ticks * 0.02 * truth
        self.messages += 1

    def evidence(self, views: Views) -> dict[tuple[int, int], float]:
        share = 1 / self.messages**4 if self.messages else 0.0
        terms = [to_log_odds(self.parts(i, view, share), 0.85) for i, view in enumerate(views)]
        return terms[0] | terms[1]


REFERENCES = {
    "naive-bayes": ReferenceBayes,
    "logistic": ReferenceLogistic,
    "perceptron": ReferencePerceptron,
}
