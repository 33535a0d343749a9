"""Far keys: how does an encoding treat a key whose distance from the query goes to infinity?

The answers come from limits and signs over the whole range of the parameters. Content is held constant, so they
describe the effect of the distance, not of the words. For a structure on pairs of tokens the distance is the one in it.
The distance D goes to infinity, so no finite set of distances decides. If the answer depends on parameters, each range
of the parameters has its own case. If all scores of a query share a factor, such as log n for n visible keys, and
depend on the distance alone without it, then the answers describe the scores without this factor: it changes the rates
at which the keys of one query fall, not how they fall.

A bias that falls without bound sends the weight to 0 at its own rate under both normalisers, as 1 / (1 + e^-b) is e^b
up to a factor that goes to 1. A bias that grows without bound differs: softmax gives the far keys all the weight, the
sigmoid gives each of them the weight 1. A window ends all of this: within it the answers are those of distances that
grow with the window, and beyond it a key has no weight.

effects.py   what may happen to a far key, and in which range of the parameters
limits.py    limits of formulas at infinite distance
content.py   formulas of an encoding with constant content
growth.py    a bias by the power of the distance with which it grows
bias.py      the bias
kernel.py    the actions on query and key
score.py     all parts together
"""

from lengthgen.theory.far.effects import Cases, FarCase, FarField, cases_text
from lengthgen.theory.far.score import bounded, causal_only, far_cases

__all__ = ["Cases", "FarCase", "FarField", "bounded", "cases_text", "causal_only", "far_cases"]
