"""Consequences for POLA (arXiv 2510.04130): gradient flow, worked cases, errors; modules are named as in `papers`."""
