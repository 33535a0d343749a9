"""Checks certificates of SRC bounds: plain Python, and no code shared with what computes them.

SRC(f, n) is the fewest unit operators of any circuit of one arity that computes f at every scale up to n ([F],
definitions of arXiv 2510.04130, Def. 4). A lower bound rests on some steps and some prompts: to leave out the others
only makes the problem easier. All wirings of these steps are found anew. Fewer operators are too few because steps of
a clique exclude each other in pairs, or because a formula is refuted by a DRAT proof. An upper bound is a circuit,
which is evaluated: on all prompts of a scale it proves the bound there, on random ones it does not, and the verdict
says so. What has to be trusted: the task that is passed in, Python, and the files of this folder.
"""

from circuits.checker.shape import SCALE, CertificateError
from circuits.checker.verdict import Verdict, check, in_words

__all__ = ["SCALE", "CertificateError", "Verdict", "check", "in_words"]
