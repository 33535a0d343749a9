"""Statements of the papers, formalised or corrected: a module or a package for each paper."""
