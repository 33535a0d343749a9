"""The search for a circuit of the fewest operators, in stages that each hand a frozen result to the next.

problem.py      a task's traces at one arity, in one mode
candidates.py   the scales at which every step can be computed, and circuits of few templates there: the upper bound
narrowing.py    the lower bound, from few steps with all their wirings; circuits of fewer operators, until bounds meet
simplest.py     the circuit found, through as few templates as may be
stages.py       these one after the other, as far as a limit allows
rounds.py       again, with the prompts that refute a circuit which was found on a sample

All wirings are looked at of few steps only, and the result is as sure as if they were of all: the steps at which an
operator is met for the first time come first, and each step that fewer operators cannot serve joins them.
"""
