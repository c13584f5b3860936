"""What all handlers of requests share."""

from __future__ import annotations

from dataclasses import dataclass

from weigh.serve.catalog import ModelCatalog
from weigh.serve.limits import Limits


@dataclass(frozen=True, eq=False)
class Service:
    """The parts of a running service."""

    catalog: ModelCatalog
    limits: Limits
