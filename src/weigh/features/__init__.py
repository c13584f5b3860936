"""Schemas and kinds of columns, and the blocks that columns are encoded into."""

from weigh.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "blocks": ("CategoryBlock", "DenseBlock", "Level", "NumberBlock", "NumberedNames", "SparseBlock"),
        "dates.kind": ("Date",),
        "inference.schema": ("infer_schema",),
        "kind_registry": ("Derived", "Lag", "to_kind"),
        "kinds": ("Category", "Count", "Flag", "Kind", "Number", "Products", "Skip", "Value"),
        "names": ("NameArray",),
        "schema": ("ColumnGroup", "Schema"),
        "text_kinds": ("BagOfWordsKind", "Text", "Tokens"),
        "words": ("Block", "TextBlock"),
    },
)
