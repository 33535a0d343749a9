"""Command on regular languages: what theories of length generalization say of them."""

from typing import Annotated

import typer

from lengthgen.commands.options import Json, show


def language(
    expression: Annotated[
        str,
        typer.Argument(
            help="Regular expression: letters and digits as symbols, | or + between alternatives, *, parentheses, and "
            "() for the empty word.",
        ),
    ],
    as_json: Json = False,
) -> None:
    """Decide if a regular language is expressible in C-RASP, and compute SRC if every step may write a state.

    `states` counts the states of the minimal automaton from which a word can still be completed; `complete_states`
    also counts the dead state, which all other words reach. `src` is null, and so is `c_rasp`, if the computation
    gives up; `src_why` and `why` say why.
    """
    from lengthgen.languages import language_answer
    from lengthgen.tables.languages import language_table

    answer = language_answer(expression)
    show(answer, language_table(answer), as_json)
