"""Schemas and kinds of columns, and the blocks that columns are encoded into."""

from weigh.features.blocks import CategoryBlock, DenseBlock, Level, NumberBlock, NumberedNames, SparseBlock
from weigh.features.kind_registry import Derived, Lag, to_kind
from weigh.features.kinds import Category, Count, Flag, Kind, Number, Products, Skip, Value
from weigh.features.names import NameArray
from weigh.features.schema import ColumnGroup, Schema
from weigh.features.schema_inference import infer_schema
from weigh.features.text_kinds import BagOfWordsKind, Text, Tokens
from weigh.features.words import Block, TextBlock

__all__ = [
    "BagOfWordsKind",
    "Block",
    "Category",
    "CategoryBlock",
    "ColumnGroup",
    "Count",
    "DenseBlock",
    "Derived",
    "Flag",
    "Kind",
    "Lag",
    "Level",
    "NameArray",
    "Number",
    "NumberBlock",
    "NumberedNames",
    "Products",
    "Schema",
    "Skip",
    "SparseBlock",
    "Text",
    "TextBlock",
    "Tokens",
    "Value",
    "infer_schema",
    "to_kind",
]
