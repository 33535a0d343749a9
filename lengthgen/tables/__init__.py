"""Answers as tables for people, one module a subject."""
