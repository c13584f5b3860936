"""Features: a schema of kinds, and the blocks that columns are encoded into."""

from weigh.features.blocks import Codes, Entries, Grid, Level, Numbered, Numbers
from weigh.features.kinds import Category, Count, Flag, Kind, Number, Skip, Value
from weigh.features.made_kinds import Derived, Lag
from weigh.features.names import Names
from weigh.features.naming import to_kind
from weigh.features.products import Products
from weigh.features.schema import Part, Schema
from weigh.features.schema_finder import find_schema
from weigh.features.text_kinds import Text, Tokens, Wordy
from weigh.features.words import Block, Words

__all__ = [
    "Block",
    "Category",
    "Codes",
    "Count",
    "Derived",
    "Entries",
    "Flag",
    "Grid",
    "Kind",
    "Lag",
    "Level",
    "Names",
    "Number",
    "Numbered",
    "Numbers",
    "Part",
    "Products",
    "Schema",
    "Skip",
    "Text",
    "Tokens",
    "Value",
    "Words",
    "Wordy",
    "find_schema",
    "to_kind",
]
