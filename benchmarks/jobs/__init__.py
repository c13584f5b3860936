"""The rows of each area, listed as `JOBS`."""
