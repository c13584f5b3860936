"""Engines run a task over the rows of a source.

A task counts, merges and finishes (`learn.task`). Locally, threads count the chunks of a source and
merge their counters (`local`). The rows of a Dask or Spark frame are in the partitions of that engine, whose
workers run the same three functions:

    rows of a partition ──count──► bytes ─┐
    rows of a partition ──count──► bytes ─┼─merge─► bytes ─┬─merge─► bytes ──► finish, in this process
    …                                      ┘               …┘

- `source.partitioned.frame.PartitionedFrame` is what an engine provides: the first rows, a fold of bytes over
  the partitions, and a lazy map of rows. It has no formulas. `source.partitioned.dask` implements it; another
  engine adds a module there and a line to `source.partitioned.recognition`.
- `source.partitioned.rows.PartitionedSource` is its frame as a source. Tasks infer the schema from its first
  rows; the schema then goes to all workers, so that any partitioning gives the same counts.
- `states` turns counts into bytes and back, with the codec of model files (`write_counts`, `read_counts` of
  the task), together with what is reported at the end of a pass: odd cells, warnings, errors.
- `partitioned` folds a task: `fold` for one pass, `run` for a whole fit. Tasks that need several passes
  implement `learn_by_folds`, which gets `fold` as a function and sends weights as fields of a task.
"""

from weigh.engines.local import run

__all__ = ["run"]
