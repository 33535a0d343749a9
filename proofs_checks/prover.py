"""Run of Coq: every lemma and theorem is compiled and replayed, and the negation of every false statement is proved.

The folder of the run holds all sources as Coq reads them: the files by hand, each theorem with its false twin refuted;
the lemmas in Identities1.v, ..., and their false twins refuted in Twins1.v, ...; the false statements of falsifiers
refuted in Refuted1.v, ...  Twins and falsifiers are refuted at points, by the library Interval, which computes with
Coq's machine numbers; no lemma or theorem rests on it.
"""

import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.infrastructure.files import write_bytes, write_json
from lengthgen.proofs_checks.formal import recorded, sources
from lengthgen.proofs_checks.formal.lemma import Lemma
from lengthgen.proofs_checks.formal.negation import refuted, twin_refuted
from lengthgen.proofs_checks.formal.sources import LIBRARY, Theorem, refuse
from lengthgen.proofs_checks.formal.terms import NotReal
from lengthgen.proofs_checks.ledger import Steps
from lengthgen.proofs_checks.result import Result

INSTALL = "apt-get install --no-install-recommends coq libcoq-coquelicot libcoq-interval"
"""Command that installs Coq on Debian."""
ALLOWED = frozenset(
    {
        "ClassicalDedekindReals.sig_not_dec",
        "ClassicalDedekindReals.sig_forall_dec",
        "FunctionalExtensionality.functional_extensionality_dep",
        "Classical_Prop.classic",
    }
)
"""Axioms of the classical real numbers in Coq's library; a proof may rest on no other."""
_LEMMAS_OF_FILE = 60
_FLAGS = ("-q", "-w", "none", "-R", ".", LIBRARY)


class ProverError(LengthgenError):
    """Coq is missing, or refuses what it should accept, or accepts what it should refuse; the message is one line."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """Outcome of a run of Coq.

    Attributes:
        assumptions: axioms on which the proofs rest, as Coq prints them.
        lemmas: statement's hash -> name of each lemma that the kernel accepted.
        unproved: statements for which the tactic finds no proof, with the claim.
        complex: number of identities with complex numbers or without a certificate, which are not written as lemmas.
        refuted: number of false statements whose negation was proved.
        claims: hash of the statement of each claim that a theorem states whole.
    """

    prover: str
    assumptions: tuple[str, ...]
    lemmas: dict[str, str]
    unproved: tuple[tuple[str, str], ...]
    complex: int
    refuted: int
    theorems: tuple[Theorem, ...]
    claims: dict[str, str]

    def record(self) -> dict[str, Any]:
        """Outcome as it is recorded for machines without Coq."""
        return {
            "prover": self.prover,
            "assumptions": sorted(self.assumptions),
            "lemmas": sorted(self.lemmas),
            "theorems": {theorem.name: theorem.digest for theorem in self.theorems},
            "claims": self.claims,
        }


@dataclass(frozen=True, kw_only=True)
class _Named:
    """Lemma with its name and the first claim that has it."""

    name: str
    claim: str
    lemma: Lemma


def missing() -> str:
    """Message that says how to install Coq and its libraries Coquelicot and Interval; empty if all are installed."""
    if not (shutil.which("coqc") and shutil.which("coqchk")):
        return f"Coq is not installed; on Debian: {INSTALL}"
    with TemporaryDirectory() as name:
        for library, module in (("Coquelicot", "Coquelicot"), ("Interval", "Tactic")):
            (Path(name) / "Needed.v").write_text(f"From {library} Require {module}.\n", encoding="utf-8")
            if refused := _compile(Path(name), "Needed"):
                return f"Coq has no {library} ({refused[1]}); on Debian: {INSTALL}"
    return ""


def prove(results: Sequence[Result], folder: Path, progress: Callable[[int], Steps]) -> Outcome:
    """Compile and replay the lemmas of the results and all theorems by hand.

    `folder` gets the sources and the compiled files. `progress` is called with the number of files; the listener that
    it returns is told of each file that is done.

    Raises:
        ProverError: Coq is missing or of another opinion.
        SourceError: a source assumes what it should prove, or a theorem lacks words or a false twin.
        NoPointError: a false statement is not refuted at any point that was tried.
        OSError: the folder cannot be written.
    """
    if needed := missing():
        raise ProverError(needed)
    lemmas, others = _statements((result.claim.id, identity) for result in results for identity in result.identities)
    false, _ = _statements(
        (result.claim.id, identity)
        for result in results
        for falsifier in result.falsifiers
        for identity in falsifier.identities
    )
    for path in sources.files():
        text = path.read_text(encoding="utf-8")
        refuse(text, path.name)
        write_bytes(folder / path.name, text.encode())
    order = [path.stem for path in sources.files()]
    _compile_or_refuse(folder, order[0])
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        groups, false_groups = _groups(lemmas), _groups(false)
        by_hand = {name: pool.submit(_compile_or_refuse, folder, name) for name in order[1:]}
        refuting = by_hand[sources.REFUTING]
        written = [
            pool.submit(_compile_lemmas, folder, number, group, refuting) for number, group in enumerate(groups, 1)
        ]
        waiting: dict[str, Future[None]] = dict(by_hand)
        for number, group in enumerate(false_groups, 1):
            waiting[f"Refuted{number}"] = pool.submit(_compile_false, folder, f"Refuted{number}", group, refuting)
        steps = progress(len(written) + len(waiting))
        unproved: list[_Named] = []
        for number, future in enumerate(written, 1):
            unproved += future.result()
            steps.step(f"Identities{number}")
        for name, done in waiting.items():
            done.result()
            steps.step(name)
        theorems = sources.theorems()
        modules = [name for name in order if name != sources.REFUTING]
        modules += [f"Identities{number}" for number, _ in enumerate(groups, 1)]
        negations = [f"Twins{number}" for number, _ in enumerate(groups, 1)]
        negations += [f"Refuted{number}" for number, _ in enumerate(false_groups, 1)]
        accepted = [named for named in lemmas if named not in unproved]
        replay = pool.submit(_replay, folder, [*modules, *negations])
        assumptions = _assumptions(folder, modules, accepted, theorems)
        replay.result()
    return Outcome(
        prover=f"Coq {_run(folder, 'coqc', '--print-version').stdout.split()[0]}",
        assumptions=assumptions,
        lemmas={named.lemma.digest: named.name for named in accepted},
        unproved=tuple((named.claim, named.lemma.statement) for named in unproved),
        complex=others,
        refuted=len(accepted) + len(false) + len(theorems),
        theorems=theorems,
        claims={
            result.claim.id: recorded.words(result.claim)
            for result in results
            if any(result.claim.id in theorem.claims for theorem in theorems)
        },
    )


def _statements(identities: Iterable[tuple[str, Mapping[str, Any]]]) -> tuple[list[_Named], int]:
    """Real identities, given with their claims, as named statements, each once; and the number of the others.

    An identity whose sides are the same term says nothing, and is left out.
    """
    named: dict[str, _Named] = {}
    others, numbers = 0, Counter[str]()
    for claim, identity in identities:
        numbers[claim] += 1
        lemma = Lemma(identity)
        try:
            if lemma.is_trivial:
                continue
            digest = lemma.digest
        except (NotReal, KeyError):
            others += 1
            continue
        name = f"{re.sub('[^a-z0-9]+', '_', claim)}_{numbers[claim]}"
        named.setdefault(digest, _Named(name=name, claim=claim, lemma=lemma))
    return list(named.values()), others


def _compile_lemmas(folder: Path, number: int, group: Sequence[_Named], refuting: Future[None]) -> list[_Named]:
    """Compile a file of lemmas, without those of which there is no proof, and its false twins; returns these lemmas."""
    module, left = f"Identities{number}", list(group)
    while error := _compile_text(folder, module, [_lemma_text(named) for named in left]):
        line, message = error
        above = "\n".join((folder / f"{module}.v").read_text(encoding="utf-8").split("\n")[:line])
        before = re.findall(r"^Lemma (\w+) ", above, re.MULTILINE)
        failed = next((named for named in left if before and named.name == before[-1]), None)
        if failed is None:
            raise ProverError(f"{folder / module}.v, line {line}: {message}")
        left.remove(failed)
    twins = [twin_refuted(named.name, named.lemma) for named in left]
    _compile_negations(folder, f"Twins{number}", twins, refuting, module)
    return [named for named in group if named not in left]


def _compile_false(folder: Path, module: str, group: Sequence[_Named], refuting: Future[None]) -> None:
    """Compile a file that refutes false statements. Raises `ProverError` if one is not refuted."""
    parts = [f"(* Falsifier of claim {named.claim} *)\n{refuted(named.name, named.lemma)}" for named in group]
    _compile_negations(folder, module, parts, refuting)


def _compile_negations(folder: Path, module: str, parts: list[str], refuting: Future[None], *imports: str) -> None:
    """Compile a file of negations, once the file with their tactics is compiled."""
    refuting.result()
    if error := _compile_text(folder, module, parts, sources.REFUTING, *imports):
        raise ProverError(f"{folder / module}.v, line {error[0]}: a false statement is not refuted: {error[1]}")


def _compile_text(folder: Path, module: str, parts: Sequence[str], *imports: str) -> tuple[int, str] | None:
    """Write a file with these parts and compile it; returns what `_compile` does."""
    text = "\n".join([f"From {LIBRARY} Require Import {' '.join([sources.SHARED, *imports])}.\n", *parts])
    refuse(text, f"{module}.v")
    write_bytes(folder / f"{module}.v", text.encode())
    return _compile(folder, module)


def _groups(statements: Sequence[_Named]) -> list[Sequence[_Named]]:
    """Statements of each file."""
    return [statements[at : at + _LEMMAS_OF_FILE] for at in range(0, len(statements), _LEMMAS_OF_FILE)]


def _lemma_text(named: _Named) -> str:
    """Text of a lemma, below a comment that names its claim and the symbols that Coq cannot write."""
    legend = "; ".join(f"{name} is {symbol}" for name, symbol in named.lemma.renamed.items())
    legend = legend.replace("(*", "( *").replace("*)", "* )").replace('"', "'")  # as it stands in a comment
    comment = f"(* Claim {named.claim}{f'; {legend}' if legend else ''} *)"
    return f"{comment}\nLemma {named.name} : {named.lemma.statement}.\nProof.\n  solve [{named.lemma.tactic}].\nQed."


def _compile_or_refuse(folder: Path, module: str) -> None:
    """Compile a file by hand. Raises `ProverError` if Coq refuses it."""
    error = _compile(folder, module)
    if error:
        raise ProverError(f"{folder / module}.v, line {error[0]}: {error[1]}")


def _compile(folder: Path, module: str) -> tuple[int, str] | None:
    """Line and first message of Coq's error; None if it accepts the file."""
    done = _run(folder, "coqc", *_FLAGS, f"{module}.v")
    if done.returncode == 0:
        return None
    located = re.search(r"line (\d+), characters [^\n]*\n(.*)", done.stderr, re.DOTALL)
    if located is None:
        return 0, " ".join(done.stderr.split())[-300:]
    return int(located[1]), " ".join(located[2].split())[:300]


def _assumptions(
    folder: Path, modules: Sequence[str], accepted: Sequence[_Named], theorems: Sequence[Theorem]
) -> tuple[str, ...]:
    """Axioms of all lemmas and theorems, from `Print Assumptions`. Raises `ProverError` if one is not allowed."""
    names = [
        *(named.name for named in accepted),
        *(f"{theorem.file}.{theorem.name}{end}" for theorem in theorems for end in ("", "_twin")),
    ]
    # One term with all of them: Coq walks through its library once, and not once for each name.
    everything = f"Definition everything := {' '.join(f'let _ := {name} in' for name in names)} I."
    lines = [f"From {LIBRARY} Require Import {' '.join(modules)}.", everything, "Print Assumptions everything."]
    write_bytes(folder / "Assumptions.v", ("\n".join(lines) + "\n").encode())
    done = _run(folder, "coqc", *_FLAGS, "Assumptions.v")
    if done.returncode:
        raise ProverError(f"Print Assumptions fails: {' '.join(done.stderr.split())[-300:]}")
    axioms = set(re.findall(r"^([\w.]+)\s*:", done.stdout, re.MULTILINE)) - {"Axioms"}
    foreign = sorted(axioms - ALLOWED)
    if foreign:
        raise ProverError(f"the proofs rest on axioms that are not allowed: {', '.join(foreign)}")
    return tuple(sorted(axioms))


def _replay(folder: Path, modules: Sequence[str]) -> None:
    """Check compiled files again by `coqchk`, the kernel alone. Raises `ProverError` if it refuses one.

    The installed libraries of Coq, which the files need, are not checked again.
    """
    chosen = [word for name in modules for word in ("-norec", f"{LIBRARY}.{name}")]
    checked = _run(folder, "coqchk", "-silent", *chosen, "-R", ".", LIBRARY)
    if checked.returncode:
        output = checked.stdout + checked.stderr
        raise ProverError(f"coqchk refuses the compiled files: {' '.join(output.split())[-300:]}")


def _run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def write_record(outcome: Outcome, path: Path) -> None:
    """Write the outcome as `recorded.json`."""
    write_json(path, outcome.record())
