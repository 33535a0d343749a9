"""Benchmarks: one module a question, each a ratio against a named alternative measured in the same run."""
