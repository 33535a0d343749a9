"""Audit of whole models."""
