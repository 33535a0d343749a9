"""Figures and tables, by subject.  A module lists those that it draws in FIGURES."""
