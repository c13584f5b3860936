"""Tests with a real Spark session, run by `make spark-test` in an environment of their own."""
