"""Would the claims and tests notice a wrong formula?  `python -m bench.mutations --where encodings --count 200`.

At random places of one group of modules (`bench.mutants.PLACES`: symbolic encodings, the rest of the theory, encodings
in torch, circuits, the checker of certificates, training, ...) one thing is changed; then the claims that read this
module and the tests that belong to it run until one does not hold.  What nothing notices is printed: it needs a claim
or a test, or a reason in `bench/survivors.toml`.

With `--store FILE` results are kept, and a run that was ended goes on; `--survivors` tries again what survived there.
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
"""Mutants that nothing needs to notice, each with the reason."""


def reasons() -> dict[tuple[str, str, str], str]:
    """(file, line as it is, line as mutated) -> why nothing needs to notice this."""
    entries = tomllib.loads(KNOWN.read_text(encoding="utf-8")).get("survivor", [])
    return {(one["path"], one["line"], one["mutated"]): one["reason"] for one in entries}


def reason(mutant: Mutant) -> str | None:
    """Why nothing needs to notice this mutant; None if no reason is known."""
    return reasons().get((mutant.path, mutant.text, mutant.mutated_text))


def main() -> int:
    """Prints what survived and the share that was noticed; 1 if a survivor has no reason."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--where", choices=[*PLACES], default="encodings")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--store", type=Path, help="a file of results, one a line")
    parser.add_argument("--survivors", action="store_true", help="try again what survived in the store")
    wanted = parser.parse_args()
    drawn = mutants(wanted.where, wanted.count, wanted.seed)
    kept = _kept(wanted.store)
    if wanted.survivors:
        kept = {key: noticer for key, noticer in kept.items() if noticer is not None}
    index = noticers.index()
    noticers.preload(wanted.where)
    credit: Counter[str] = Counter(noticer for noticer in kept.values() if noticer)
    outcomes: list[tuple[Mutant, str | None]] = []
    for done, mutant in enumerate(drawn, 1):
        key = _key(mutant)
        if key not in kept:
            kept[key] = _outcome(mutant, index.noticers(mutant, wanted.where, credit))
            credit[kept[key] or ""] += 1
            _keep(wanted.store, key, mutant, kept[key])
        outcomes.append((mutant, kept[key]))
        print(f"{done}/{len(drawn)}", end="\r", file=sys.stderr, flush=True)
    return _report(outcomes, f"of {wanted.where}, seed {wanted.seed}")


def _outcome(mutant: Mutant, candidates: list[str]) -> str | None:
    """The first noticer that fails under the mutation and holds without."""
    noticer = noticers.noticed_by(mutant, candidates)
    name = (noticer or "import").partition(" (")[0]
    if name != "import" and not noticers.sound(name):
        raise SystemExit(f"{name} fails without any mutation: mend that first")
    return noticer


def _report(outcomes: list[tuple[Mutant, str | None]], which: str) -> int:
    survivors = [mutant for mutant, noticer in outcomes if noticer is None]
    unexplained = [mutant for mutant in survivors if reason(mutant) is None]
    for mutant in survivors:
        print(f"survived: {mutant.in_words()}", f"\n    ({reason(mutant) or 'no reason known'})")
    noticed = len(outcomes) - len(survivors)
    kinds = Counter(mutant.kind for mutant, _ in outcomes)
    by_claims = sum(noticer is not None and noticer.startswith("claim ") for _, noticer in outcomes)
    print(f"{noticed} of {len(outcomes)} mutants are noticed ({which}), {by_claims} of them by a claim")
    print(f"kinds: {', '.join(f'{kind} {count}' for kind, count in kinds.items())}")
    print(f"{len(unexplained)} survivors without a reason")
    return 1 if unexplained else 0


def _key(mutant: Mutant) -> str:
    """What a stored result is of: the mutant, and the text of the module as it was."""
    text = (ROOT / mutant.path).read_text(encoding="utf-8")
    return hashlib.sha256(json.dumps([asdict(mutant), text]).encode()).hexdigest()[:32]


def _kept(store: Path | None) -> dict[str, str | None]:
    if store is None or not store.exists():
        return {}
    lines: list[dict[str, Any]] = [json.loads(line) for line in store.read_text(encoding="utf-8").splitlines()]
    return {one["key"]: one["noticer"] for one in lines}


def _keep(store: Path | None, key: str, mutant: Mutant, noticer: str | None) -> None:
    if store is not None:
        with store.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"key": key, "mutant": mutant.in_words(), "noticer": noticer}) + "\n")


if __name__ == "__main__":
    sys.exit(main())
