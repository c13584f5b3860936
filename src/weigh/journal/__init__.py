"""A durable append-only store with exactly-once keys, compacted into snapshots."""
