"""The learners of the mail filter in plain Python, one message at a time: what the native ones must equal."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable
from typing import Any

View = tuple[int, ...]
Views = tuple[View, View]


def print_of(views: Iterable[Iterable[int]]) -> bytes:
    """The keys of a message as the ledger takes them."""
    headers, body = (sorted(set(view)) for view in views)
    return struct.pack(f"<II{len(headers) + len(body)}Q", len(headers), len(body), *headers, *body)


def single(number: float) -> float:
    """A number as a cell keeps it."""
    return struct.unpack("<f", struct.pack("<f", number))[0]


def value(view: View) -> float:
    return 1 / math.sqrt(max(len(view), 1))


def scored(rows: dict[int, tuple[float, float]], view: View, bias: float) -> float:
    """A view's score by the weights as they are, added as the ledger does: margins are a matter of bits."""
    return bias + sum(rows[key][0] for key in view if key in rows) * value(view)


def squeezed(parts: dict[Any, float], scale: float) -> dict[Any, float]:
    """What parts of a score add to its log-odds, which are 11 at most."""
    score = sum(parts.values())
    unit = 11 * math.tanh(scale * score) / score if score else 11 * scale
    return {key: unit * part for key, part in parts.items()}


class Bayes:
    def __init__(self) -> None:
        self.messages = [0, 0]
        self.counts: dict[int, list[int]] = {}

    def learn(self, views: Views, spam: int) -> None:
        self.messages[spam] += 1
        for key in (key for view in views for key in view):
            self.counts.setdefault(key, [0, 0])[spam] += 1

    def evidence(self, views: Views) -> dict[tuple[int, int], float]:
        return {
            (at, key): 10 * self.logit(*self.counts[key]) / len(view)
            for at, view in enumerate(views)
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


class Logistic:
    def __init__(self) -> None:
        self.rows: dict[int, tuple[float, float]] = {}
        self.biases = [0.0, 0.0]

    def parts(self, at: int, view: View) -> dict[tuple[int, int], float]:
        known = {(at, key): self.rows[key][0] * value(view) for key in view if key in self.rows}
        return {(at, 0): self.biases[at], **known}

    def learn(self, views: Views, spam: int) -> None:
        for at, view in enumerate(views):
            error = spam - 1 / (1 + math.exp(-scored(self.rows, view, self.biases[at])))
            gradient = error * value(view)
            for key in view:
                w, squares = self.rows.get(key, (0.0, 0.0))
                squares += gradient**2
                self.rows[key] = single(w + gradient / math.sqrt(squares + 1e-8)), single(squares)
            self.biases[at] += 0.02 * error

    def evidence(self, views: Views) -> dict[tuple[int, int], float]:
        found = [squeezed(self.parts(at, view), 1 / 12) for at, view in enumerate(views)]
        return found[0] | found[1]


class Perceptron:
    def __init__(self) -> None:
        self.rows: dict[int, tuple[float, float]] = {}
        self.biases = [(0.0, 0.0), (0.0, 0.0)]
        self.messages = 0

    def parts(self, at: int, view: View, share: float) -> dict[tuple[int, int], float]:
        """The mean of the weights: w less a share of what earlier messages lacked."""
        bias = self.biases[at][0] - self.biases[at][1] * share
        known = {key: self.rows[key] for key in view if key in self.rows}
        return {(at, 0): bias} | {(at, k): (w - u * share) * value(view) for k, (w, u) in known.items()}

    def learn(self, views: Views, spam: int) -> None:
        truth, ticks = (1.0 if spam else -1.0), float(self.messages) ** 4
        for at, view in enumerate(views):
            if truth * scored(self.rows, view, self.biases[at][0]) > 0.15:
                continue
            for key in view:
                w, u = self.rows.get(key, (0.0, 0.0))
                change = truth * value(view)
                self.rows[key] = single(w + change), single(u + ticks * change)
            w, u = self.biases[at]
            self.biases[at] = w + 0.02 * truth, u + ticks * 0.02 * truth
        self.messages += 1

    def evidence(self, views: Views) -> dict[tuple[int, int], float]:
        share = 1 / self.messages**4 if self.messages else 0.0
        found = [squeezed(self.parts(at, view, share), 0.85) for at, view in enumerate(views)]
        return found[0] | found[1]


TWINS = {"naive-bayes": Bayes, "logistic": Logistic, "perceptron": Perceptron}
