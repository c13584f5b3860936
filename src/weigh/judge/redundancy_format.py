"""Sentences about redundant features and the predictions without them."""

from __future__ import annotations

from collections.abc import Iterator

from weigh.judge.redundancy_check import RedundancyCheck, RedundantFeature
from weigh.learn.redundancy import describe_dependence
from weigh.text import format_quantity, truncate

REDUNDANCY_TITLE = "Features that repeat others, which naive Bayes counts twice"
MAX_NAME_LENGTH = 30
MAX_LISTED_WORDS = 5


def format_redundancy(check: RedundancyCheck) -> list[str]:
    """Return one item for each feature that was tested, and notes."""
    return [*_format_tests(check), _describe_rows(check)]


def _format_tests(check: RedundancyCheck) -> Iterator[str]:
    for feature in check.features:
        effect = f"without {'them' if len(feature.titles) > 1 else 'it'} probabilities change by "
        points = f"{100 * feature.confidence_change:.2g} points{' there' if feature.occur_together else ''}"
        place = "" if feature.column in feature.titles else f"In {quote(feature.column)}, "
        yield f"- {place}{describe_feature(feature)}; {effect}{points}. {format_test(check, feature)}."
    if check.together is not None:
        all_of_them = "both" if check.found == 2 else f"all {check.found:,}"
        yield f"- {format_test(check, check.together, all_of_them)}."


def describe_feature(feature: RedundantFeature) -> str:
    """Return what repeats what, such as "'b' repeats 'a'"."""
    names, repeats = format_features(feature), quote(feature.repeats)
    n_names, occur_together = len(feature.titles), feature.occur_together
    return describe_dependence(names, repeats, feature.share, n_names=n_names, occur_together=occur_together)


def format_features(feature: RedundantFeature) -> str:
    """Return the names of the features that were left out."""
    shown = [quote(name) for name in feature.titles[:MAX_LISTED_WORDS]]
    n_more = len(feature.titles) - len(shown)
    last = f"{n_more:,} more" if n_more else shown.pop()
    return f"{', '.join(shown)} and {last}" if shown else last


def format_test(check: RedundancyCheck, feature: RedundantFeature, names: str = "") -> str:
    """Return a sentence such as "Leaving out 'b': log loss 0.41 instead of 0.47 (helps)"."""
    digits = _count_digits(check.log_loss, feature.log_loss_without)
    return (
        f"Leaving out {names or format_features(feature)}: log loss {feature.log_loss_without:.{digits}f} "
        f"instead of {check.log_loss:.{digits}f} ({_format_verdict(check, feature)})"
    )


def _format_verdict(check: RedundancyCheck, feature: RedundantFeature) -> str:
    if feature.verdict != "mixed":
        return feature.verdict
    digits = _count_digits(check.accuracy, feature.accuracy_without)
    return f"mixed: accuracy {feature.accuracy_without:.{digits}f} instead of {check.accuracy:.{digits}f}"


def _count_digits(first: float, second: float) -> int:
    """Return how many decimals show the difference of two numbers, from two to four."""
    return next((n for n in (2, 3) if f"{first:.{n}f}" != f"{second:.{n}f}"), 4)


def _describe_rows(check: RedundancyCheck) -> str:
    rows = format_quantity(check.n, "row")
    tested = f"Tested on a sample of {rows}" if check.is_sample else f"Tested on {rows}"
    n_more = check.found - len(check.features)
    return f"{tested}{f'; {n_more:,} more were found' if n_more else ''}."


def quote(name: str) -> str:
    """Return a name in quotes, shortened if it is long."""
    return repr(truncate(name, MAX_NAME_LENGTH))
