"""Equality decided: are two exact numbers equal, is an expression identically zero?

`equality` answers for the entries of patterns: by balls (`enclosure`) and by algebra (`algebraic`, `identities`).
`two_engines` answers for the two sides of an identity, by `sympy_engine` and `flint_engine`, which share no code;
`identity_certificate` writes down a proof for replay.
"""
