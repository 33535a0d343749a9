"""Checker of certificates of SRC bounds: plain Python, sharing no code with the programs that compute the bounds.

SRC(f, n) is the fewest unit operators of any circuit of one arity that computes f at every scale up to n ([F],
definitions of arXiv 2510.04130, Def. 4). A lower bound rests on some steps and some prompts: leaving the others out
only makes the problem easier. The checker recomputes all wirings of these steps. Fewer operators are too few because
the steps of a clique exclude each other in pairs, or because a DRAT proof refutes a formula. An upper bound is a
circuit, which is evaluated: on all prompts of a scale that proves the bound there, on random prompts it does not, and
the verdict says so. The parts that have to be trusted are the task that is passed in, Python, and the files of this
folder.
"""

from lengthgen.circuits.checker.problem import SCALE, CertificateError
from lengthgen.circuits.checker.verdict import CertificateVerdict, bounds_sentence, check

__all__ = ["SCALE", "CertificateError", "CertificateVerdict", "bounds_sentence", "check"]
