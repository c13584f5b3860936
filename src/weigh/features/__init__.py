"""Features: a schema of kinds, and the blocks that columns are encoded into."""

from weigh.features.blocks import Block, Codes, Entries, Level, Numbered, Numbers
from weigh.features.kinds import (
    Category,
    Count,
    Flag,
    Kind,
    Number,
    Skip,
    Text,
    Tokens,
    to_kind,
)
from weigh.features.made_kinds import Derived, Lag
from weigh.features.schema import Part, Schema
from weigh.features.schema_finder import find_schema

__all__ = [
    "Block",
    "Category",
    "Codes",
    "Count",
    "Derived",
    "Entries",
    "Flag",
    "Kind",
    "Lag",
    "Level",
    "Number",
    "Numbered",
    "Numbers",
    "Part",
    "Schema",
    "Skip",
    "Text",
    "Tokens",
    "find_schema",
    "to_kind",
]
