"""Claims of a paper as generators: the defaults are the statement, the docstring says it, the yields are its facts.

An example::

    CLAIMS = PaperClaims(Source(paper="Example", arxiv=""))

    @CLAIMS.claim("squares-1", "Section 2", r"(x + y)^2 = x^2 + 2xy + y^2", falsifiers={"one": {"mixed": 1}})
    def square_of_sum(mixed: int = 2) -> Facts:
        \"\"\"The square of a sum has the mixed term 2 x y.\"\"\"
        yield "square of a sum", (X + Y) ** 2, X**2 + mixed * X * Y + Y**2

The generator raises `Refuted` with a counterexample where the statement that its parameters make is false.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from typing import Literal, ParamSpec, TypeAlias

from lengthgen.proofs_checks.claim import Claim, Evidence, Parameters, Refuted, Source, Strength
from lengthgen.proofs_checks.facts import Side, require_equal

Facts: TypeAlias = Iterator[str | tuple[str, Side, Side] | Evidence]
"""Yields of a check, each of one of these kinds:

- a text: a fact, or a `Reach` or an `Assumption` of the facts;
- the name and the two sides of an identity, which `require_equal` decides;
- evidence of a test of runs, whose facts and assumptions are taken over.
"""
P = ParamSpec("P")
TITLES: Mapping[str, str] = {
    "1803.02155": "Self-Attention with Relative Position Representations",
    "1910.10683": "Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer",
    "2104.09864": "RoFormer: Enhanced Transformer with Rotary Position Embedding",
    "2108.12409": "Train Short, Test Long: Attention with Linear Biases Enables Input Length Extrapolation",
    "2205.09921": "KERPLE: Kernelized Relative Positional Embedding for Length Extrapolation",
    "2212.10554": "A Length-Extrapolatable Transformer",
    "2306.15595": "Extending Context Window of Large Language Models via Positional Interpolation",
    "2309.00071": "YaRN: Efficient Context Window Extension of Large Language Models",
    "2310.04418": "Functional Interpolation for Relative Positions Improves Long Context Transformers",
    "2502.02004": "Wavelet-based Positional Representation for Long Context",
    "2502.18845": "Sliding Window Attention Training for Efficient Large Language Models",
    "2503.02130": "Forgetting Transformer: Softmax Attention with a Forget Gate",
    "2503.08067": "Context-aware Biases for Length Extrapolation",
    "2505.22842": "Bayesian Attention Mechanism: A Probabilistic Framework for Positional Encoding and Context Length "
    "Extrapolation",
    "2506.00920": "Position as Probability: Self-Supervised Transformers that Think Past Their Training for Length "
    "Extrapolation",
    "2506.13277": "SeqPE: Transformer with Sequential Position Encoding",
    "2506.19834": "A standard transformer and attention with linear biases for molecular conformer generation",
    "2509.05218": "HoPE: Hyperbolic Rotary Positional Encoding for Stable Long-Range Dependency Modeling in Large "
    "Language Models",
    "2512.07805": "Group Representational Position Encoding",
}
"""Titles of the papers that claims call by a shorter name, by arXiv id."""


def title(source: Source) -> str:
    """Return the title of the paper of a source: that in TITLES, or else the name that the source calls it by."""
    return TITLES.get(source.arxiv, source.paper)


class Reach(str):
    """Yield of a check that is no fact: the range that it went through, where only the check knows it."""


class Assumption(str):
    """Yield of a check that is no fact: a condition of the facts, where only the check knows it."""


class PaperClaims(list[Claim]):
    """Claims of one source, in the order in which their module states them."""

    def __init__(self, source: Source) -> None:
        """Begin an empty list; `source` is the paper of all claims that name no other."""
        super().__init__()
        self.source = source

    def claim(
        self,
        id: str,
        at: str | Source,
        latex: str,
        *,
        falsifiers: Mapping[str, Parameters],
        statement: str = "",
        holds: Parameters | None = None,
        label: Literal["P", "F"] = "F",
        strength: Strength = Strength.GENERAL,
        reach: str = "",
        assumptions: tuple[str, ...] = (),
        printed: Parameters | None = None,
        answers: tuple[str, ...] = (),
    ) -> Callable[[Callable[P, Facts]], Callable[P, Evidence]]:
        """Add the claim that a generator makes, and return its check: the function of the same parameters.

        The defaults of the generator's parameters are those of the statement (`Claim.holds`). The first paragraph of
        its docstring is the statement in words. A generator that makes several claims gets both with each.

        Args:
            id: as in `Claim`, like `latex`, `falsifiers`, `label`, `printed` and `answers`.
            at: place in the paper, empty for the source as it is; or another source.
            latex: the statement as a formula.
            falsifiers: name -> changed parameters of a false statement.
            statement: the statement in words, in place of the docstring.
            holds: parameters of the statement, in place of their defaults.
            label: "P" if the paper says it, "F" if it is our formalisation.
            strength: as in `Evidence`, like `reach` and `assumptions`.
            reach: range that a bounded or exhaustive check goes through.
            assumptions: conditions of the facts.
            printed: changed parameters of the paper's statement where that is wrong.
            answers: parameters that the check only compares with what it computes.

        Raises:
            ValueError: a statement or the value of a parameter is missing, or `Claim` refuses a part.
        """

        def register(facts: Callable[P, Facts]) -> Callable[P, Evidence]:
            @wraps(facts)
            def check(*args: P.args, **kwargs: P.kwargs) -> Evidence:
                yields: list[str] = []
                for fact in facts(*args, **kwargs):
                    if isinstance(fact, Evidence):
                        yields += (*fact.facts, *map(Assumption, fact.assumptions))
                    else:
                        yields.append(require_equal(*fact) if isinstance(fact, tuple) else fact)
                return Evidence(
                    strength=strength,
                    facts=tuple(fact for fact in yields if not isinstance(fact, Reach | Assumption)),
                    assumptions=(*assumptions, *(str(fact) for fact in yields if isinstance(fact, Assumption))),
                    reach=next((str(fact) for fact in yields if isinstance(fact, Reach)), reach),
                )

            self.append(
                Claim(
                    id=id,
                    source=at if isinstance(at, Source) else self.source.at(at) if at else self.source,
                    statement=statement or _statement(facts),
                    latex=latex,
                    label=label,
                    check=check,
                    holds=_parameters(facts, holds or {}),
                    falsifiers=falsifiers,
                    printed=printed or {},
                    answers=answers,
                )
            )
            return check

        return register


def refute(wrong: object, because: str) -> None:
    """Raise `Refuted` with a counterexample if something is wrong."""
    if wrong:
        raise Refuted(because)


def _statement(facts: Callable[..., Facts]) -> str:
    """First paragraph of the docstring, in one line. Raises `ValueError` if there is none."""
    statement = " ".join((inspect.getdoc(facts) or "").partition("\n\n")[0].splitlines())
    if not statement:
        raise ValueError(f"{facts.__name__} has no docstring: its first paragraph is the statement of the claim")
    return statement


def _parameters(facts: Callable[..., Facts], holds: Parameters) -> Parameters:
    """Parameters of the statement: those of `holds`, and the defaults. Raises `ValueError` if one has neither."""
    defaults = {name: parameter.default for name, parameter in inspect.signature(facts).parameters.items()}
    bare = [name for name, default in defaults.items() if default is inspect.Parameter.empty and name not in holds]
    if bare:
        raise ValueError(f"{facts.__name__}: the parameters {bare} have no default, so they make no statement")
    return {**defaults, **holds}
