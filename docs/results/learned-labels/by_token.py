"""Labels of (i, j) that serve the five select tasks at every scale, read with the query's own token.

Query j holds '=' at scale j - 1, and an output at scales that follow from j too: what a step reads is a function of j.
"""

from lengthgen import relation_from_function

FOR_EQUALS, FOR_OUTPUT = 1, 2
"""Labels of the key that is read where the query holds '=', and where it holds an output; 3 is both."""


def _labels(name, place, back):
    """Relation for tasks that read x at place(n) after '=', and `back` positions before the query after an output."""

    def label(key, query):
        after_equals = FOR_EQUALS * (query >= 2 and key == place(query - 1))
        return after_equals + FOR_OUTPUT * (key == query - back)

    return relation_from_function(label, name=name)


first = _labels("first by token", lambda n: 1, 1)
middle = _labels("middle by token", lambda n: (n + 1) // 2, 1)
second = _labels("second by token", lambda n: min(2, n), 1)
second_last = _labels("second last by token", lambda n: max(1, n - 1), 1)
first_and_last = _labels("first and last by token", lambda n: 1, 2)
