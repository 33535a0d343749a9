"""Search for a circuit of the fewest operators, in stages.

wirings.py      wirings of a step in each mode, and their tables
templates.py    rules that give the wirings of a simple circuit
partition.py    the fewest operators for some steps, by a depth-first search or a SAT solver (sat.py)
problem.py      a task's traces at one arity, in one mode
serving.py      operators assigned to steps
narrowing.py    scales at which every step can be computed; circuits of few templates there: the upper bound; lower
                bound from few steps with all their wirings; circuits of fewer operators, until the bounds meet
simplest.py     the circuit found, with as few templates as possible
rounds.py       all stages in order, as far as a limit allows; again with the prompts that refute a circuit found

Only few steps have all their wirings searched, and the result is as certain as with all steps: the steps at which an
operator is used for the first time come first, and each step that fewer operators cannot serve joins them.
"""
