"""Patterns of a user's own."""

from lengthgen import pattern_from_function, pattern_from_relation, relation_from_function

band = pattern_from_function(lambda i, j: 1 if j - i < 2 else 0, name="band")
by_three = pattern_from_relation(relation_from_function(lambda i, j: (j - i) % 3, name="by three"), {0: 1, 1: 0, 2: 2})
fails = pattern_from_function(lambda i, j: 1 // (j - 3), name="fails")
