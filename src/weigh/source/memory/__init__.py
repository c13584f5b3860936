"""Data in memory as sources: frames, Arrow tables, dicts, lists, NumPy arrays and scipy.sparse matrices."""
