"""Zero tests: is an expression identically zero, are two numbers equal?  Exact engines, ring, balls, certificates."""
