"""Benchmarks, one module per question: each compares the project with a named alternative timed in the same run."""
