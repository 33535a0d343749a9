"""Checker of DRAT proofs that a formula has no solution: plain Python, independent of the rest of the project."""

import re
from collections.abc import Callable


class ProofError(ValueError):
    """Error of a text that is no proof of the formula; the message is one line."""


def refuted(variables: int, clauses: list[list[int]], proof: list[str], spend: Callable[[int], None]) -> bool:
    """True if a DRAT proof, restricted to reverse unit propagation (RUP), shows that the clauses cannot all hold.

    A clause is added if unit propagation refutes its negation: then it follows from the clauses before it. So all
    clauses follow from the formula. It is therefore sound to honour deletions, to ignore deletions of unknown clauses,
    and to keep literals that a deleted clause had implied.

    Args:
        variables: number of variables, numbered from 1.
        clauses: clauses of the formula; literals as in DIMACS.
        proof: lines "1 -2 0" (add) and "d 3 4 0" (delete).
        spend: called with the effort as it is made; may raise.

    Raises:
        ProofError: a line is not DRAT, or a clause does not follow from those before it.
    """
    value = [0] * (2 * variables + 1)  # by literal, negative literals from the end: 1 true, -1 false, 0 open
    watching: list[list[list[int]]] = [[] for _ in value]  # by literal: the clauses that have it in place 0 or 1
    present: dict[tuple[int, ...], list[list[int]]] = {}
    trail: list[int] = []

    def assume(literal: int) -> None:
        """Set a literal to true."""
        value[literal], value[-literal] = 1, -1
        trail.append(literal)

    def contradiction(head: int) -> bool:
        """Propagate the literals on the trail from `head` on; return True if a clause becomes false."""
        while head < len(trail):
            false = -trail[head]
            head += 1
            watchers, watching[false] = watching[false], []
            spend(1 + len(watchers))
            for place, clause in enumerate(watchers):
                if not clause:
                    continue  # deleted
                if clause[0] == false:
                    clause[0], clause[1] = clause[1], false
                if value[clause[0]] == 1:
                    watching[false].append(clause)
                    continue
                for other in range(2, len(clause)):
                    if value[clause[other]] != -1:
                        clause[1], clause[other] = clause[other], false
                        watching[clause[1]].append(clause)
                        break
                else:
                    if value[clause[0]] == -1:
                        watching[false] += watchers[place:]
                        return True
                    watching[false].append(clause)
                    assume(clause[0])
        return False

    def add(literals: list[int]) -> bool:
        """Add a clause permanently; return True if that is a contradiction."""
        clause = sorted(set(literals), key=lambda literal: (value[literal] == -1, literal))
        present.setdefault(tuple(sorted(clause)), []).append(clause)
        if any(value[literal] == 1 for literal in clause):
            return False  # true for good
        if len(clause) > 1 and value[clause[1]] == 0:
            watching[clause[0]].append(clause)
            watching[clause[1]].append(clause)
            return False
        if not clause or value[clause[0]] == -1:
            return True
        assume(clause[0])
        return contradiction(len(trail) - 1)

    if any(add(clause) for clause in clauses):
        return True
    for line in proof:
        if not re.fullmatch(r"(d )?(-?[1-9][0-9]{0,8} )*0", line):
            raise ProofError("a line of the proof is not DRAT")
        literals = [int(word) for word in line.removeprefix("d ").split()[:-1]]
        if any(abs(literal) > variables for literal in literals):
            raise ProofError("the proof has a variable that is not there")
        if line.startswith("d"):
            same = present.get(tuple(sorted(set(literals))))
            if same:
                same.pop().clear()
            continue
        root, holds = len(trail), False
        for literal in literals:
            holds |= value[literal] == 1
            if value[literal] == 0:
                assume(-literal)
        if not holds and not contradiction(root):
            raise ProofError(f"the clause '{line[:80]}' of the proof does not follow")
        for literal in trail[root:]:
            value[literal] = value[-literal] = 0
        del trail[root:]
        if add(literals):
            return True
    return False
