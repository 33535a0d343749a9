"""Certificates of the identities of claims, and lemmas for Coq: one real identity a lemma, and its tactic.

A reader who trusts neither engine replays certificates with `tests/replay_certificates.py`.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

from lengthgen.infrastructure.shapes import COUNT, FLAG, TEXT, list_of, mapping_to, record, row
from lengthgen.proofs_checks.formal.terms import (
    Tree,
    denominators,
    derivative,
    folded,
    identifiers,
    nodes,
    number,
    symbols,
    text,
    tree_shape,
)
from lengthgen.theory.zero.identity_certificate import UNIT, NotCertified, certificate
from lengthgen.theory.zero.two_engines import Identity

Certificate = Mapping[str, Any]
Certificates: TypeAlias = tuple[Certificate, ...]
"""Certificates as plain data; one without a proof has the key "missing", with the reason, and no trees."""
_POLYNOMIAL = list_of(row(TEXT, mapping_to(COUNT)))
_PROOF = record(
    holds=FLAG,
    left=tree_shape,
    right=tree_shape,
    roots=mapping_to(tree_shape),
    **dict.fromkeys(("units", "relations", "cofactors"), list_of(_POLYNOMIAL)),
    arguments=list_of(row(TEXT, tree_shape, list_of(COUNT))),
    point=mapping_to(row(TEXT, TEXT)),
)


def certified(identities: Iterable[Identity]) -> Certificates:
    """Certificates of identities, each once."""
    return tuple(map(_certificate, dict.fromkeys(identities)))


def _certificate(identity: Identity) -> Certificate:
    try:
        return certificate(identity)
    except NotCertified as reason:
        return {"holds": identity.zero, "missing": str(reason)}


def certificate_shape(value: Any, where: str) -> None:
    """Check a stored certificate (`lengthgen.infrastructure.shapes`), or the reason why there is none."""
    record(holds=FLAG)(value, where)
    (record(missing=TEXT) if "missing" in value else _PROOF)(value, where)


@dataclass(frozen=True)
class Lemma:
    """Identity of a certificate as a lemma over the real numbers; true or false, as the certificate says.

    Raises `NotReal` on every use if the identity has complex numbers in it.
    """

    certificate: Certificate

    @cached_property
    def sides(self) -> dict[str, Tree]:
        """Sides of the identity, with the arithmetic of their numbers done."""
        return {side: folded(self.certificate[side]) for side in ("left", "right")}

    @cached_property
    def names(self) -> dict[str, str]:
        """Coq identifier of each symbol."""
        sides = [self.sides["left"], self.sides["right"], *self.certificate["roots"].values()]
        return identifiers(
            sorted({symbol for side in sides for symbol in symbols(side)} | {*self.certificate["roots"]})
        )

    @property
    def renamed(self) -> dict[str, str]:
        """Identifier -> symbol, for symbols whose names are no identifiers."""
        return {name: symbol for symbol, name in self.names.items() if name != symbol}

    @cached_property
    def bases(self) -> list[Tree]:
        """Denominators, which must not be 0."""
        return denominators(["+", self.sides["left"], self.sides["right"]])

    @cached_property
    def hypotheses(self) -> list[str]:
        """Squares of the roots, and denominators that are not 0."""
        return self.hypotheses_of(self.names)

    def hypotheses_of(self, terms: Mapping[str, str]) -> list[str]:
        """The hypotheses with a Coq term for each symbol."""
        roots = self.certificate["roots"].items()
        squares = [f"{terms[root]} * {terms[root]} = {text(square, terms)}" for root, square in roots]
        return squares + [f"{text(base, terms)} <> 0" for base in self.bases]

    @cached_property
    def statement(self) -> str:
        """Statement of the lemma."""
        return self._with_sides(*(text(self.sides[side], self.names) for side in ("left", "right")))

    @property
    def twin(self) -> str:
        """The statement with 1 added to the right side: false, so its negation is proved."""
        return f"{self.statement} + 1"

    @property
    def is_trivial(self) -> bool:
        """True if both sides are the same term, so that the statement says nothing."""
        return bool(self.sides["left"] == self.sides["right"])

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the statement."""
        return hashlib.sha256(self.statement.encode()).hexdigest()

    @property
    def tactic(self) -> str:
        """Tactic that proves the statement if it is true."""
        steps = [self._introduced]
        roots = self.certificate["roots"]
        if roots and len(self.hypotheses) == len(roots):
            return ";\n  ".join([*steps, *self._by_cofactors()])
        steps += self._derivatives()
        hyperbolic = self._heads & {"sinh", "cosh", "tanh", "coth", "sech", "csch"}
        if hyperbolic:
            steps.append("unfold tanh, sinh, cosh in *")
        expansions = [*self._expansions(both=bool(hyperbolic))]
        steps += [*expansions, "expand_sum"] if expansions else []
        return ";\n  ".join([*steps, self._equation])

    @cached_property
    def _equation(self) -> str:
        """Tactic for an equation between the functions of the units."""
        roots = [f"H{n}" for n, _ in enumerate(self.certificate["roots"])]
        relations = [*roots]
        for unit, imaginary in (pair for pair in self._units() if pair[0]):
            relations.append(f"({'square_of_sine' if imaginary else 'exponentials_cancel'} {unit})")
        used = f" [{' '.join(relations)}]" if relations else ""
        ways = [f"ring{used}", f"field{used}; nonzero"]
        if roots:  # ring uses a relation only if it has no fraction
            cleared = "; ".join(f"field_simplify_eq in {root}" for root in roots)
            ways.append(f"{cleared}; field_simplify_eq; [ring{used} | nonzero]")
        return f"first [{' | '.join(ways)}]"

    def _by_cofactors(self) -> list[str]:
        """Steps that write the difference of the sides as a sum of cofactors times relations of roots."""
        laws = [hypothesis.partition(" = ") for hypothesis in self.hypotheses]
        cofactors = self.certificate["cofactors"]
        terms = [
            f"{self._polynomial(cofactor)} * ({square} - {value})"
            for cofactor, (square, _, value) in zip(cofactors, laws, strict=False)
        ]
        rewritten = ", ".join(f"H{n}" for n, _ in enumerate(laws))
        return [f"apply Rminus_diag_uniq; transitivity ({' + '.join(terms)}); [field | rewrite {rewritten}; field]"]

    def _polynomial(self, terms: list[Any]) -> str:
        """Coq text of a polynomial in symbols."""
        products = [
            " * ".join([number(Fraction(value)), *(f"{self.names[name]} ^ {power}" for name, power in powers.items())])
            for value, powers in terms
        ]
        return f"({' + '.join(products) or '0'})"

    @cached_property
    def computed_sides(self) -> tuple[Tree, Tree]:
        """Sides with their derivatives computed."""
        return _computed(self.sides["left"]), _computed(self.sides["right"])

    @property
    def computed(self) -> str:
        """The statement with its derivatives computed."""
        return self._with_sides(*(text(side, self.names) for side in self.computed_sides))

    def by_values(self, name: str) -> str:
        """Tactic that proves the statement with its derivatives computed, from the statement, which has this name."""
        arguments = " ".join([*self.names.values(), *self._named_hypotheses])
        return "; ".join(
            [self._introduced, f"generalize ({name} {arguments})", *self._derivatives(), "exact (fun E => E)"]
        )

    @property
    def _named_hypotheses(self) -> list[str]:
        return [f"H{n}" for n, _ in enumerate(self.hypotheses)]

    @property
    def _introduced(self) -> str:
        """Tactic that introduces the variables and the hypotheses."""
        return f"intros {' '.join([*self.names.values(), *self._named_hypotheses])}"

    def _with_sides(self, left: str, right: str) -> str:
        variables = f"forall {' '.join(self.names.values())} : R, " if self.names else ""
        premises = "".join(f"{hypothesis} -> " for hypothesis in self.hypotheses)
        return f"{variables}{premises}{left} = {right}"

    @cached_property
    def _heads(self) -> set[str]:
        """Functions and operations in the sides."""
        return {node[0] for side in self.computed_sides for node in nodes(side) if isinstance(node, list)}

    def _derivatives(self) -> Iterator[str]:
        """Steps that compute the outermost derivatives."""
        for side in ("left", "right"):
            for n, node in enumerate(_outermost(self.sides[side])):
                name = f"D{side[0]}{n}"
                value = text(_computed(node), self.names)
                yield f"assert ({name} : {text(node, self.names)} = {value}) by ({self._slope(node, self.names)})"
                yield f"rewrite ?{name}"

    def _slope(self, node: Tree, names: dict[str, str]) -> str:
        """Tactic that proves the value of a derivative."""
        _, body, by = node
        inner = list(_outermost(body))
        unfold = "unfold tanh, sinh, cosh; " if self._heads & {"sinh", "cosh", "tanh"} else ""
        equal = f"first [ring | {self._equation} | simpl; {self._equation}]"
        direct = f"apply is_derive_unique; {unfold}auto_derive; [nonzero | {equal}]"
        if not inner:
            return direct
        fresh = {**names, by: f"{names[by]}_"}
        steps = [f"intros {fresh[by]}"]
        for n, part in enumerate(inner):
            value = text(_computed(part), fresh)
            steps += [
                f"assert (I{n} : {text(part, fresh)} = {value}) by ({self._slope(part, fresh)})",
                f"rewrite ?I{n}",
            ]
        simple = text(_computed(body), names)
        return f"rewrite (Derive_ext _ (fun {names[by]} => {simple})); [{direct} | {'; '.join(steps)}; reflexivity]"

    def _units(self) -> list[tuple[str, bool]]:
        """Text of each unit, empty if its symbols are not in the statement, and whether it is that of an angle."""
        units = []
        for ((coefficient, powers),) in self.certificate["units"]:
            names = [name for name in powers if name != UNIT]
            factors = [
                f"{self.names[n]} ^ {powers[n]}" if powers[n] > 1 else self.names[n] for n in names if n in self.names
            ]
            weight = [number(Fraction(coefficient))] if Fraction(coefficient) != 1 else []
            unit = f"({' * '.join([*weight, *factors])})" if len(factors) == len(names) else ""
            units.append((unit, UNIT in powers))
        return units

    def _expansions(self, *, both: bool) -> Iterator[str]:
        """Steps that write each function by the functions of the units; `both` for exponentials of negatives too."""
        units = [unit for unit, _ in self._units()]
        rows = [(kind, folded(argument), times) for kind, argument, times in self.certificate["arguments"]]
        for n, (kind, argument, times) in enumerate(rows):
            if any(symbol not in self.names for symbol in symbols(argument)) or (kind, argument) in [
                row[:2] for row in rows[:n]
            ]:
                continue
            inner = text(argument, self.names)
            inner = inner if inner.startswith("(") else f"({inner})"
            copies = [
                unit if count > 0 else f"- {unit}"
                for unit, count in zip(units, times, strict=True)
                for _ in range(abs(count))
            ]
            if kind == "angle":
                if copies != [inner]:
                    for name in ("cos", "sin"):
                        yield from _rewritten(f"F{n}{name}", name, inner, copies)
                continue
            if copies != [inner]:
                yield from _rewritten(f"F{n}", "exp", inner, copies)
            if both:
                opposite = [copy.removeprefix("- ") if copy.startswith("- ") else f"- {copy}" for copy in copies]
                if opposite != [f"- {inner}"]:
                    yield from _rewritten(f"G{n}", "exp", f"(- {inner})", opposite)


def _rewritten(name: str, function: str, argument: str, copies: list[str]) -> Iterator[str]:
    """Steps that rewrite a function of an argument as the function of a sum, and expand it."""
    total = " + ".join(f"({copy})" for copy in copies) or "0"
    yield f"assert ({name} : {function} {argument} = {function} ({total})) by (f_equal; first [ring | field; nonzero])"
    yield f"rewrite ?{name} in *; clear {name}"


def _outermost(tree: Tree) -> Iterator[Tree]:
    """Derivatives in a tree that are in no other derivative, each once."""
    waiting, seen = [tree], []
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, list) and node[0] == "d":
            if node not in seen:
                seen.append(node)
                yield node
        elif isinstance(node, list) and node[0] not in ("q", "i"):
            waiting += [part for part in node[1:] if not isinstance(part, int)]


def _computed(tree: Tree) -> Tree:
    """Tree with its derivatives computed."""
    if isinstance(tree, list) and tree[0] == "d":
        return folded(derivative(_computed(tree[1]), tree[2]))
    if isinstance(tree, list) and tree[0] not in ("q", "i"):
        return [tree[0], *(part if isinstance(part, int) else _computed(part) for part in tree[1:])]
    return tree
