"""Tables in the partitions of an engine, such as Dask or Spark: frames, and sources of their rows."""
