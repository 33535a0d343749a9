"""`python -m bench`: every benchmark, one line each."""

from collections.abc import Callable

from bench import data, decoder, formulas, wirings
from bench.measure import Comparison

QUESTIONS: tuple[Callable[[], Comparison], ...] = (
    data.vectorised_against_plain,
    formulas.compiled_against_sympy,
    wirings.search_against_enumeration,
    decoder.training_step_against_torch,
)

if __name__ == "__main__":
    for question in QUESTIONS:
        print(question(), flush=True)
