"""What a column is distributed like within the classes, by its kind."""

from __future__ import annotations

from typing import Any

from weigh.features import Part
from weigh.model import column_priors
from weigh.model.bernoulli import Bernoulli
from weigh.model.categorical import Categorical
from weigh.model.column_priors import PriorSpec
from weigh.model.multinomial import Multinomial
from weigh.model.normal import Normal
from weigh.model.tally import Table

Distribution = Categorical | Multinomial | Bernoulli | Normal


def distributed(part: Part, counts: Any, priors: PriorSpec, rows: Table, complement: bool) -> Distribution:
    """Return what a part is distributed like, from its counts and the priors of all parts."""
    prior, own = column_priors.prior_of(priors, part)
    if part.kind.family == "normal":
        return Normal(part, counts)
    if part.kind.family == "bernoulli":
        return Bernoulli(part, counts, prior, own)
    if part.kind.family == "multinomial":
        return Multinomial(part, counts, prior, rows, complement, own)
    return Categorical(part, counts, prior)
