"""Command that finds claims and shows one whole."""

from typing import Annotated

import typer

from lengthgen.commands.options import Details, Json, show


def claims(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            help="Words of a statement, a paper or an encoding, or an arXiv id. One claim id shows the claim whole.",
            show_default="all claims",
        ),
    ] = None,
    details: Details = False,
    as_json: Json = False,
) -> None:
    """Find claims by words, or show one claim whole: statement, what the paper prints, proof, falsifiers, TeX."""
    from lengthgen.claims import found_answer, one_claim, page_answer
    from lengthgen.tables.claims import claim_page, claims_screen, claims_table
    from lengthgen.tables.layout import LINES

    claim_id = one_claim(words or [])
    if claim_id:
        answer = page_answer(claim_id)
        show(answer, claim_page(answer), as_json)
    else:
        answer = found_answer(words or [], most=None if details or as_json else LINES)
        show(answer, claims_table(answer) if details else claims_screen(answer), as_json)
