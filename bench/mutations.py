"""Would the claims and tests notice a wrong formula?  `python -m bench.mutations --where encodings --count 200`.

The program changes one thing at a random place of one group of modules (`bench.mutants.PLACES`: symbolic encodings,
the rest of the theory, torch encodings, circuits, the checker of certificates, training, ...).  Then it runs the claims
that read this module and the tests that belong to it until one fails.  Changes that nothing notices are printed: each
needs a claim, a test, or a reason in `bench/survivors.toml`.

With `--store FILE` results are saved, and a run that was stopped can continue; `--survivors` tries again the mutants
that survived in that file.
"""

import argparse
import hashlib
import json
import sys
import tomllib
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench import noticers
from bench.mutants import PLACES, ROOT, Mutant, mutants

KNOWN = Path(__file__).with_name("survivors.toml")
"""File with the mutants that need not be noticed, each with a reason."""


def reasons() -> dict[tuple[str, str, str], str]:
    """Reasons why mutants need not be noticed: (file, line as it is, line as mutated) -> reason."""
    entries = tomllib.loads(KNOWN.read_text(encoding="utf-8")).get("survivor", [])
    return {(entry["path"], entry["line"], entry["mutated"]): entry["reason"] for entry in entries}


def reason(mutant: Mutant) -> str | None:
    """Reason why this mutant need not be noticed; None if there is none."""
    return reasons().get((mutant.path, mutant.text, mutant.mutated_text))


def main() -> int:
    """Print the surviving mutants and the share that was noticed; return 1 if a survivor has no reason."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--where", choices=[*PLACES], default="encodings")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--store", type=Path, help="a file of results, one per line")
    parser.add_argument("--survivors", action="store_true", help="try the survivors in the store again")
    options = parser.parse_args()
    selected = mutants(options.where, options.count, options.seed)
    noticer_by_key = _read_store(options.store)
    if options.survivors:
        noticer_by_key = {key: noticer for key, noticer in noticer_by_key.items() if noticer is not None}
    index = noticers.index()
    noticers.preload(options.where)
    credit: Counter[str] = Counter(noticer for noticer in noticer_by_key.values() if noticer)
    outcomes: list[tuple[Mutant, str | None]] = []
    for count, mutant in enumerate(selected, 1):
        key = _key(mutant)
        if key not in noticer_by_key:
            noticer_by_key[key] = _outcome(mutant, index.noticers(mutant, options.where, credit))
            credit[noticer_by_key[key] or ""] += 1
            _append_to_store(options.store, key, mutant, noticer_by_key[key])
        outcomes.append((mutant, noticer_by_key[key]))
        print(f"{count}/{len(selected)}", end="\r", file=sys.stderr, flush=True)
    return _print_report(outcomes, f"of {options.where}, seed {options.seed}")


def _outcome(mutant: Mutant, candidates: list[str]) -> str | None:
    """First claim or test that fails under the mutation and passes without it; None if the mutant survives."""
    noticer = noticers.noticed_by(mutant, candidates)
    name = (noticer or "import").partition(" (")[0]
    if name != "import" and not noticers.passes_unmutated(name):
        raise SystemExit(f"{name} fails without any mutation: repair it first")
    return noticer


def _print_report(outcomes: list[tuple[Mutant, str | None]], selection: str) -> int:
    """Print the survivors and the counts; return 1 if a survivor has no reason, else 0."""
    survivors = [mutant for mutant, noticer in outcomes if noticer is None]
    unexplained = [mutant for mutant in survivors if reason(mutant) is None]
    for mutant in survivors:
        print(f"survived: {mutant.description()}", f"\n    ({reason(mutant) or 'no reason known'})")
    noticed = len(outcomes) - len(survivors)
    kinds = Counter(mutant.kind for mutant, _ in outcomes)
    by_claims = sum(noticer is not None and noticer.startswith("claim ") for _, noticer in outcomes)
    print(f"{noticed} of {len(outcomes)} mutants are noticed ({selection}), {by_claims} of them by a claim")
    print(f"kinds: {', '.join(f'{kind} {count}' for kind, count in kinds.items())}")
    print(f"{len(unexplained)} survivors without a reason")
    return 1 if unexplained else 0


def _key(mutant: Mutant) -> str:
    """Key of a stored result: a hash of the mutant and of the original text of the module."""
    text = (ROOT / mutant.path).read_text(encoding="utf-8")
    return hashlib.sha256(json.dumps([asdict(mutant), text]).encode()).hexdigest()[:32]


def _read_store(store: Path | None) -> dict[str, str | None]:
    """Stored results: key -> claim or test that noticed the mutant, None for a survivor."""
    if store is None or not store.exists():
        return {}
    lines: list[dict[str, Any]] = [json.loads(line) for line in store.read_text(encoding="utf-8").splitlines()]
    return {result["key"]: result["noticer"] for result in lines}


def _append_to_store(store: Path | None, key: str, mutant: Mutant, noticer: str | None) -> None:
    """Append one result to the store."""
    if store is not None:
        with store.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"key": key, "mutant": mutant.description(), "noticer": noticer}) + "\n")


if __name__ == "__main__":
    sys.exit(main())
