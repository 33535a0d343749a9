"""Run of Coq: every lemma and theorem is compiled and replayed, and every false twin must be refused.

The folder of the run holds all sources as Coq reads them: the files by hand, the lemmas in Identities1.v, ..., and each
false twin of a theorem by hand in a file of its own.  A false twin of a lemma stands beside it under `Fail`, which
accepts only a proof that is refused; so do the false statements of falsifiers, in Refuted1.v, ...
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
from lengthgen.proofs_checks.formal import sources
from lengthgen.proofs_checks.formal.lemma import Lemma
from lengthgen.proofs_checks.formal.sources import LIBRARY, Theorem, refuse
from lengthgen.proofs_checks.formal.terms import NotReal
from lengthgen.proofs_checks.ledger import Steps
from lengthgen.proofs_checks.result import Result

INSTALL = "apt-get install --no-install-recommends coq libcoq-coquelicot"
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
        twins: number of false statements that were refused.
    """

    prover: str
    assumptions: tuple[str, ...]
    lemmas: dict[str, str]
    unproved: tuple[tuple[str, str], ...]
    complex: int
    twins: int
    theorems: tuple[Theorem, ...]

    def record(self) -> dict[str, Any]:
        """Outcome as it is recorded for machines without Coq."""
        return {
            "prover": self.prover,
            "assumptions": sorted(self.assumptions),
            "lemmas": sorted(self.lemmas),
            "theorems": {theorem.name: theorem.digest for theorem in self.theorems},
        }


@dataclass(frozen=True, kw_only=True)
class _Named:
    """Lemma with its name and the first claim that has it."""

    name: str
    claim: str
    lemma: Lemma


def missing() -> str:
    """Message that says how to install Coq and its library Coquelicot; empty if both are installed."""
    if not (shutil.which("coqc") and shutil.which("coqchk")):
        return f"Coq is not installed; on Debian: {INSTALL}"
    with TemporaryDirectory() as name:
        (Path(name) / "Needed.v").write_text("From Coquelicot Require Coquelicot.\n", encoding="utf-8")
        refused = _compile(Path(name), "Needed")
    return f"Coq has no Coquelicot ({refused[1]}); on Debian: {INSTALL}" if refused else ""


def prove(results: Sequence[Result], folder: Path, progress: Callable[[int], Steps]) -> Outcome:
    """Compile and replay the lemmas of the results and all theorems by hand.

    `folder` gets the sources and the compiled files. `progress` is called with the number of files; the listener that
    it returns is told of each file that is done.

    Raises:
        ProverError: Coq is missing or of another opinion.
        SourceError: a source assumes what it should prove.
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
        theorems = sources.theorems()
        # The slow files first: groups of lemmas, then the twins, each a start of Coq.
        by_hand = [pool.submit(_compile_or_refuse, folder, name) for name in order[1:]]
        written = [pool.submit(_compile_group, folder, f"Identities{n}", group) for n, group in enumerate(groups, 1)]
        refuted = [pool.submit(_compile_false, folder, f"Refuted{n}", group) for n, group in enumerate(false_groups, 1)]
        compiled = dict(zip(order[1:], by_hand, strict=True))
        twins = [pool.submit(_require_refused, folder, theorem, compiled[theorem.file]) for theorem in theorems]
        waiting: dict[str, Future[None]] = {
            **compiled,
            **{f"Refuted{number}": future for number, future in enumerate(refuted, 1)},
            **{f"false {theorem.name}": future for theorem, future in zip(theorems, twins, strict=True)},
        }
        steps = progress(len(written) + len(waiting))
        unproved: list[_Named] = []
        for number, future in enumerate(written, 1):
            unproved += future.result()
            steps.step(f"Identities{number}")
        for name, done in waiting.items():
            done.result()
            steps.step(name)
        modules = [*order, *(f"Identities{n}" for n, _ in enumerate(groups, 1))]
        accepted = [named for named in lemmas if named not in unproved]
        replay = pool.submit(_replay, folder, modules)
        assumptions = _assumptions(folder, modules, accepted, theorems)
        replay.result()
    return Outcome(
        prover=f"Coq {_run(folder, 'coqc', '--print-version').stdout.split()[0]}",
        assumptions=assumptions,
        lemmas={named.lemma.digest: named.name for named in accepted},
        unproved=tuple((named.claim, named.lemma.statement) for named in unproved),
        complex=others,
        twins=len(accepted) + len(false) + len(theorems),
        theorems=theorems,
    )


def _statements(identities: Iterable[tuple[str, Mapping[str, Any]]]) -> tuple[list[_Named], int]:
    """Real identities, given with their claims, as named statements, each once; and the number of the others."""
    named: dict[str, _Named] = {}
    others, numbers = 0, Counter[str]()
    for claim, identity in identities:
        numbers[claim] += 1
        lemma = Lemma(identity)
        try:
            digest = lemma.digest
        except (NotReal, KeyError):
            others += 1
            continue
        name = f"{re.sub('[^a-z0-9]+', '_', claim)}_{numbers[claim]}"
        named.setdefault(digest, _Named(name=name, claim=claim, lemma=lemma))
    return list(named.values()), others


def _compile_group(folder: Path, module: str, group: Sequence[_Named]) -> list[_Named]:
    """Compile a file of lemmas; returns those for which there is no proof, which are taken out."""
    left = list(group)
    unproved: list[_Named] = []
    while True:
        text = _text(left)
        refuse(text, f"{module}.v")
        write_bytes(folder / f"{module}.v", text.encode())
        error = _compile(folder, module)
        if error is None:
            return unproved
        line, message = error
        before = [match[1] for match in re.finditer(r"^Lemma (\w+) ", "\n".join(text.split("\n")[:line]), re.MULTILINE)]
        failed = next((named for named in left if before and named.name == before[-1]), None)
        if failed is None or "has not failed" in message:
            raise ProverError(f"{folder / module}.v, line {line}: {message}")
        left.remove(failed)
        unproved.append(failed)


def _compile_false(folder: Path, module: str, group: Sequence[_Named]) -> None:
    """Compile a file of false statements, of which no proof is found. Raises `ProverError` if there is one."""
    parts = [f"From {LIBRARY} Require Import {sources.SHARED}.\n"]
    for named in group:
        parts.append(f"(* Refuted for a falsifier of claim {named.claim} *)")
        parts.append(_refused(named.lemma.statement, named.lemma.tactic))
    write_bytes(folder / f"{module}.v", "\n".join(parts).encode())
    _compile_or_refuse(folder, module)


def _groups(statements: Sequence[_Named]) -> list[Sequence[_Named]]:
    """Statements of each file."""
    return [statements[at : at + _LEMMAS_OF_FILE] for at in range(0, len(statements), _LEMMAS_OF_FILE)]


def _refused(statement: str, tactic: str) -> str:
    """Text that Coq accepts only if the tactic does not prove the statement."""
    return f"Goal {statement}.\nProof.\n  Fail solve [{tactic}].\nAbort.\n"


def _text(group: Sequence[_Named]) -> str:
    """Text of a file of lemmas, each with a false twin."""
    parts = [f"From {LIBRARY} Require Import {sources.SHARED}.\n"]
    for named in group:
        lemma = named.lemma
        legend = "; ".join(f"{name} is {symbol}" for name, symbol in lemma.renamed.items())
        legend = legend.replace("(*", "( *").replace("*)", "* )").replace('"', "'")  # as it stands in a comment
        parts.append(f"(* Claim {named.claim}{f'; {legend}' if legend else ''} *)")
        parts.append(f"Lemma {named.name} : {lemma.statement}.\nProof.\n  solve [{lemma.tactic}].\nQed.")
        parts.append(_refused(lemma.twin, lemma.tactic))
    return "\n".join(parts)


def _compile_or_refuse(folder: Path, module: str) -> None:
    """Compile a file by hand. Raises `ProverError` if Coq refuses it."""
    error = _compile(folder, module)
    if error:
        raise ProverError(f"{folder / module}.v, line {error[0]}: {error[1]}")


def _require_refused(folder: Path, theorem: Theorem, compiled: Future[None]) -> None:
    """Raise `ProverError` unless Coq reads the false twin of a theorem, once its file is compiled, and refuses it."""
    compiled.result()
    module = f"False_{theorem.name}"
    write_bytes(folder / f"{module}.v", theorem.twin.encode())
    error = _compile(folder, module)
    start = theorem.twin[: theorem.twin.rindex("Proof.")].count("\n") + 1
    if error is None:
        raise ProverError(f"the false twin of {theorem.name} is accepted: {folder / module}.v")
    if error[0] < start:
        raise ProverError(f"the false twin of {theorem.name} is no statement: {folder / module}.v, line {error[0]}")


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
    names = [*(named.name for named in accepted), *(f"{theorem.file}.{theorem.name}" for theorem in theorems)]
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
