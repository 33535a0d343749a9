"""What the papers say: their statements, formalised or corrected, a module or a package for each paper."""
