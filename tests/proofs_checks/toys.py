"""Toy claims for the ledger's tests: each does, in whatever process runs it, what its id says."""

import ctypes
import os
import signal
import time
from pathlib import Path

from lengthgen.proofs_checks.claim import Claim, Evidence, Refuted, Source, Strength
from lengthgen.proofs_checks.ledger import Selection

NOTES = "LENGTHGEN_TOY_NOTES"
"""Environment variable: file to which each deed adds a line with its name and its process."""


def act(*, deed: str) -> Evidence:
    notes = os.environ.get(NOTES)
    if notes:
        with Path(notes).open("a", encoding="utf-8") as file:
            file.write(f"{deed} {os.getpid()}\n")
    match deed:
        case "refute":
            raise Refuted("1 != 2")
        case "crash":
            raise ZeroDivisionError("by zero")
        case "leave":
            raise SystemExit(3)
        case "sleep":
            time.sleep(600)
        case "block":  # deaf to a polite signal: one call, for a lock that is taken, never comes back to Python
            mutex, lock = ctypes.create_string_buffer(64), ctypes.CDLL(None).pthread_mutex_lock
            lock(mutex)
            lock(mutex)
        case "deaf":
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
            time.sleep(600)
        case "end":
            os._exit(3)
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
    return Evidence(strength=Strength.NUMERIC, facts=("accepted",), assumptions=("none",))


def _toy(id: str, deed: str) -> Claim:
    return Claim(
        id=id,
        source=Source(paper="Toys", arxiv="0000.00000", place="nowhere"),
        statement="a toy",
        latex="x",
        label="F",
        check=act,
        holds={"deed": deed},
        falsifiers={"false": {"deed": "refute" if deed != "refute" else "again"}},
    )


DEEDS = ("accept", "refute", "crash", "leave", "sleep", "block", "deaf", "end", "kill")
STRANGE = "../toy/ü & |"
CLAIMS = {claim.id: claim for claim in (*(_toy(f"toy-{deed}", deed) for deed in DEEDS), _toy(STRANGE, "accept"))}
CLAIMS |= {f"toy-{number}": _toy(f"toy-{number}", "accept") for number in range(4)}
CLAIMS |= {f"toy-refute-{number}": _toy(f"toy-refute-{number}", "refute") for number in range(9)}


def find(claim_id: str) -> Claim:
    return CLAIMS[claim_id]


def selection(*ids: str, home: Path = Path(__file__)) -> Selection:
    return Selection(claims=tuple(CLAIMS[id] for id in ids), find=find, home=lambda claim: home)
