"""Lemmas that Coq's kernel checks: identities of claims, written by program, and theorems by hand in the .v files."""
