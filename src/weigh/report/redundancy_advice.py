"""Advice on features that repeat others, from the test whether the model predicts better without them."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from weigh.judge.redundancy_check import RedundancyCheck, RedundantFeature
from weigh.judge.redundancy_format import describe_feature, format_features, format_test, quote
from weigh.text import format_quantity

MAX_LISTED_FEATURES = 4


def redundancy_advice(check: RedundancyCheck | None) -> Iterator[str]:
    """Yield what is counted twice, the log loss without it, and what to do."""
    if check is None:
        return
    listed = check.features[:MAX_LISTED_FEATURES]
    n_more = check.found - len(listed)
    repeats = ", ".join(map(describe_feature, listed))
    more = f" and {format_quantity(n_more, 'more feature')} repeat others" if n_more else ""
    yield (
        f"The same evidence is counted twice, because {repeats}{more}. "
        f"{'. '.join(_format_tests(check, listed))}: {_choose(check, listed)}."
    )


def _format_tests(check: RedundancyCheck, listed: Sequence[RedundantFeature]) -> Iterator[str]:
    yield from (format_test(check, feature) for feature in listed)
    if check.together is not None:
        count = "both" if check.found == 2 else f"all {check.found:,}"
        yield format_test(check, check.together, count)


def _choose(check: RedundancyCheck, listed: Sequence[RedundantFeature]) -> str:
    """Return the options that leave out what is better left out."""
    if check.together is not None and check.together.verdict == "helps":
        chosen = [feature for feature in listed if feature.verdict != "hurts"]
    else:
        chosen = [feature for feature in listed if feature.verdict == "helps"]
    if not chosen:
        return f"keep {'it' if check.found == 1 else 'them'}"
    options = [option for feature in chosen if (option := _option(feature))]
    steps = [f"train with {' '.join(options)}"] if options else []
    for feature in chosen:
        if not _option(feature):
            column = "" if feature.column in feature.titles else f" of {quote(feature.column)}"
            steps.append(f"leave {format_features(feature)} out{column}")
    return " and ".join(steps)


def _option(feature: RedundantFeature) -> str:
    """Return the option that leaves a feature out; empty if there is none."""
    match feature.remedy:
        case "skip":
            return " ".join(f"--kind {shlex.quote(f'{name}=skip')}" for name in feature.titles)
        case "stop_words":
            words = "|".join(feature.features)
            return f"--kind {shlex.quote(f'{feature.column}=text:stop_words={words}')}"
    return ""
