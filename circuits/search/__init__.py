"""Search for a circuit of the fewest operators.

`narrowing` narrows the bounds, `simplest` makes the circuit, and `rounds` searches again with prompts that refute it.
Only few steps have all their wirings searched, and the result is as certain as with all steps: the steps at which an
operator is used for the first time come first, and each step that fewer operators cannot serve joins them.
"""
