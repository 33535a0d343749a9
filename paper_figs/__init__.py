"""Figures and tables: one module for each kind, drawn from stored runs and from the other packages in one style."""
