"""The score laws of position encodings as exact symbolic formulas, one family a file.

Orientation of the house: i is the key position, j the query position, i <= j.
"""
