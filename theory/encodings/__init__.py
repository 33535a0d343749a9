"""Score laws of position encodings as exact symbolic formulas, one module per family.

Convention of the project: i is the key position, j the query position, i <= j.
"""
