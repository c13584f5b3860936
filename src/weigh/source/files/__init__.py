"""Data files as sources: CSV, Parquet, JSON lines, fastText, Vowpal Wabbit, LIBSVM and folders of texts."""
