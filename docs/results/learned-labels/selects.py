"""Select tasks beside the three of fig4: the second digit, the one before the last, and the first and the last."""

from lengthgen import Task

DIGITS = tuple("0123456789")


def _select(name, places):
    """Task `x1 .. xn = y.. $`, where `places` gives the indices of the outputs in the list of digits."""

    def generate(prompt):
        digits = prompt[:-1]
        return [*(digits[place] for place in places(len(digits))), "$"]

    return Task(
        name=name,
        alphabet=(*DIGITS, "=", "$"),
        prompt=lambda n: [*[DIGITS] * n, ("=",)],
        generate=generate,
    )


second = _select("select-second", lambda n: [min(1, n - 1)])
second_last = _select("select-second-last", lambda n: [max(0, n - 2)])
first_and_last = _select("select-first-and-last", lambda n: [0, n - 1])
