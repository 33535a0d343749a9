"""Random tasks, and few scales, on which rules that may choose among circuits are tried."""

from dataclasses import replace

from lengthgen.circuits.tasks import parse_task

TRAIN, TEST = range(1, 4), range(1, 9)
CIRCUIT = replace(parse_task("random-strided-rises7-2[base=2]"), format="aligned")
SWAPPED = replace(parse_task("random-local-swaps6-2[base=2]"), format="aligned")
"""From step 6 on, the operator's arguments change places."""
LANGUAGE = parse_task("random-language-3-2-5-1-with-states")
OWN_LETTER = parse_task("random-language-2-2-641556-19-with-states")
"""The state is 1 after a and 0 after b."""
TWO_LETTERS = parse_task("random-language-4-2-231668-32-with-states")
"""The last two letters decide the state, and the last one alone does not."""
