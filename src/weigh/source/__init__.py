"""Reading rows chunk by chunk, from tables in memory and from files of any size."""

from weigh.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "base": ("Source",),
        "chunk": ("Chunk",),
        "files.open_files": ("open",),
        "memory.table": ("rows",),
    },
)
